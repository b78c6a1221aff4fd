package captioner

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"

	"nmn/captioner/metrics"
	"nmn/internal/durable"
)

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
