package captions

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"

	"nmn/internal/input"
	"nmn/loader"
	"nmn/loader/annotation"
)

// ErrDecisions is wrapped by every error about the content of a file of decisions.
var ErrDecisions = errors.New("not a valid file of decisions")

// Verdict is what a person says about a caption.
type Verdict string

// The verdicts.
const (
	Drop Verdict = "drop" // the caption is of another bag
	Keep Verdict = "keep" // the caption is of its bag
)

// Decisions are the verdicts of people, by the identifiers of captions.
type Decisions map[string]Verdict

// DecisionColumns are the columns of a file of decisions, in any order. The last one may be missing or empty: it is the
// Fingerprint of the text that somebody looked at, so that a decision is not applied to another one.
var DecisionColumns = []string{"annotation_id", "decision", "fingerprint"}

// Fingerprint tells the texts of captions apart: 16 hexadecimal digits of FNV-1a.
func Fingerprint(caption string) string {
	h := fnv.New64a()
	io.WriteString(h, caption) // a hash cannot fail
	return fmt.Sprintf("%016x", h.Sum64())
}

// ReadDecisionsFile reads a file of decisions for the captions, see ReadDecisions.
func ReadDecisionsFile(path string, bags *annotation.Bags) (Decisions, error) {
	f, err := input.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadDecisions(f, path, bags)
}

// ReadDecisions reads the CSV that the page of an audit saves: for each caption, annotation_id and decision (drop or
// keep). A caption that is not there, one whose text is not what it was, and a second decision on a caption are errors;
// they name the file, which is name, and the line, and wrap ErrDecisions.
func ReadDecisions(r io.Reader, name string, bags *annotation.Bags) (Decisions, error) {
	return readDecisions(&io.LimitedReader{R: r, N: maxList}, name, bags)
}

func readDecisions(limited *io.LimitedReader, name string, bags *annotation.Bags) (Decisions, error) {
	c := csv.NewReader(loader.WithoutMark(bufio.NewReader(limited), io.NopCloser(nil)))
	header, err := c.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: the file is empty; want a header with %s: %w", name,
			strings.Join(DecisionColumns, ", "), ErrDecisions)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", name, err, ErrDecisions)
	}
	at, err := decisionColumns(header)
	if err != nil {
		return nil, fmt.Errorf("%s:1: %w: %w", name, err, ErrDecisions)
	}
	d := decisionReader{bags: bags, at: at, places: placesOf(bags), out: Decisions{}}
	for {
		record, err := c.Read()
		if limited.N == 0 {
			return nil, fmt.Errorf("%s: the file is larger than %d bytes: %w", name, maxList, ErrDecisions)
		}
		if errors.Is(err, io.EOF) {
			return d.out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %w", name, err, ErrDecisions)
		}
		if err := d.add(record); err != nil {
			line, _ := c.FieldPos(0)
			return nil, fmt.Errorf("%s:%d: %w: %w", name, line, err, ErrDecisions)
		}
	}
}

func decisionColumns(header []string) (at [3]int, err error) {
	for i, title := range header {
		header[i] = strings.ToLower(strings.TrimSpace(title))
	}
	for i, column := range DecisionColumns {
		if at[i] = slices.Index(header, column); at[i] < 0 && i < 2 {
			return at, fmt.Errorf("there is no column %q; want %s", column, strings.Join(DecisionColumns, ", "))
		}
	}
	return at, nil
}

type decisionReader struct {
	bags   *annotation.Bags
	at     [3]int
	places map[string][2]int
	out    Decisions
}

func (d *decisionReader) add(record []string) error {
	id, verdict := strings.TrimSpace(record[d.at[0]]), Verdict(strings.TrimSpace(record[d.at[1]]))
	place, ok := d.places[id]
	if !ok {
		return fmt.Errorf("there is no caption %.60q", id)
	}
	if verdict != Drop && verdict != Keep {
		return fmt.Errorf("decision is %.40q, want %s or %s", verdict, Drop, Keep)
	}
	if d.at[2] >= 0 {
		seen := strings.TrimSpace(record[d.at[2]])
		if seen != "" && seen != Fingerprint(d.bags.Captions[place[0]][place[1]].Text) {
			return fmt.Errorf("caption %.60q was decided when its text was another one: the decision is for other "+
				"captions", id)
		}
	}
	if _, decided := d.out[id]; decided {
		return fmt.Errorf("caption %.60q has a decision already", id)
	}
	d.out[id] = verdict
	return nil
}
