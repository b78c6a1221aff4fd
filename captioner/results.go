package captioner

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"

	"nmn/captioner/metrics"
	"nmn/internal/durable"
)

// Generated is a caption that a captioner has made.
type Generated struct {
	ID      string
	Caption string
	// LogProbability is the natural logarithm of the probability of its words and its end.
	LogProbability float64
}

// imageID writes an identifier as COCO results have it: as a number if it is one.
func imageID(id string) any {
	if n, err := strconv.ParseInt(id, 10, 64); err == nil && strconv.FormatInt(n, 10) == id {
		return n
	}
	return id
}

// Results writes generated captions in the format of COCO caption results, a line for each:
// [{"image_id": ..., "caption": "..."}, ...].
func Results(captions []Generated) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("[")
	for i, c := range captions {
		line, err := json.Marshal(struct {
			ID      any    `json:"image_id"`
			Caption string `json:"caption"`
		}{imageID(c.ID), c.Caption})
		if err != nil {
			return nil, fmt.Errorf("caption of %.80q: %w", c.ID, err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		b.Write(line)
	}
	b.WriteString("\n]\n")
	return b.Bytes(), nil
}

// WriteResults writes them to a file, which appears whole or not at all.
func WriteResults(path string, captions []Generated) error {
	content, err := Results(captions)
	if err == nil {
		err = durable.WriteFile(path, content, 0o644)
	}
	if err != nil {
		return fmt.Errorf("cannot write the captions %q: %w", path, err)
	}
	return nil
}

// WriteScores writes a table with a row for each caption and its scores, as CSV. items are those that the result is
// of.
func WriteScores(path string, items []metrics.Item, r *metrics.Result) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	records := [][]string{{"id", "caption", "bleu_1", "bleu_2", "bleu_3", "bleu_4", "meteor", "rouge_l", "cider_d"}}
	for i, s := range r.Captions {
		record := []string{items[i].ID, items[i].Candidate}
		for _, v := range append(s.BLEU[:], s.METEOR, s.ROUGEL, s.CIDErD) {
			record = append(record, strconv.FormatFloat(v, 'g', 10, 64))
		}
		records = append(records, record)
	}
	if err := w.WriteAll(records); err != nil {
		return fmt.Errorf("scores of captions: %w", err)
	}
	return durable.Save(path, b.Bytes())
}
