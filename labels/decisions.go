package labels

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"nmn/internal/input"
)

// ErrDecisions is wrapped by every error about the content of a file of decisions.
var ErrDecisions = errors.New("not a valid file of decisions")

// Verdict is a reviewer's decision about a suspect.
type Verdict string

// Decisions is the form of the files in which the page of an audit saves a reviewer's verdicts: CSV with a
// header and a row for each suspect, which K identifies.
type Decisions[K comparable] struct {
	Columns  []string   // one is "decision"; a file has them in any order, and may have others
	Needed   int        // number of columns, from the first on, that must be there; the others are empty if they are not
	Verdicts [2]Verdict // that the column decision may have
	// Find returns the suspect that a row decides about, and its name for messages. The fields are in the
	// order of Columns.
	Find func(fields []string) (key K, name string, err error)
}

// mostDecisions bounds a file in bytes.
const mostDecisions = 256 << 20

// ReadFile reads a file, see Read.
func (d *Decisions[K]) ReadFile(path string) (map[K]Verdict, error) {
	f, err := input.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return d.Read(f, path)
}

// Read reads decisions. A row that Find refuses, an unknown verdict, and a second decision on a suspect are
// errors. They contain name as the file and the line, and wrap ErrDecisions.
func (d *Decisions[K]) Read(r io.Reader, name string) (map[K]Verdict, error) {
	return d.read(&io.LimitedReader{R: r, N: mostDecisions}, name)
}

func (d *Decisions[K]) read(limited *io.LimitedReader, name string) (map[K]Verdict, error) {
	most := limited.N
	text := bufio.NewReader(limited)
	if mark, _ := text.Peek(3); string(mark) == "\ufeff" {
		text.Discard(len(mark)) // which was there
	}
	c := csv.NewReader(text)
	header, err := c.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: the file is empty; want a header with %s: %w", name, strings.Join(d.Columns, ", "),
			ErrDecisions)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", name, err, ErrDecisions)
	}
	places, err := d.places(header)
	if err != nil {
		return nil, fmt.Errorf("%s:1: %w: %w", name, err, ErrDecisions)
	}
	out := map[K]Verdict{}
	for {
		record, err := c.Read()
		if limited.N == 0 {
			return nil, fmt.Errorf("%s: the file is larger than %d bytes: %w", name, most, ErrDecisions)
		}
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %w", name, err, ErrDecisions)
		}
		if err := d.add(out, record, places); err != nil {
			line, _ := c.FieldPos(0)
			return nil, fmt.Errorf("%s:%d: %w: %w", name, line, err, ErrDecisions)
		}
	}
}

// places finds the columns in a header; -1 for one that is not there.
func (d *Decisions[K]) places(header []string) ([]int, error) {
	for i, title := range header {
		header[i] = strings.ToLower(strings.TrimSpace(title))
	}
	places := make([]int, len(d.Columns))
	for i, column := range d.Columns {
		if places[i] = slices.Index(header, column); places[i] < 0 && i < d.Needed {
			return nil, fmt.Errorf("there is no column %q; want %s", column, strings.Join(d.Columns, ", "))
		}
	}
	return places, nil
}

func (d *Decisions[K]) add(out map[K]Verdict, record []string, places []int) error {
	fields := make([]string, len(places))
	for i, at := range places {
		if at >= 0 {
			fields[i] = record[at]
		}
	}
	verdict := Verdict(strings.TrimSpace(fields[slices.Index(d.Columns, "decision")]))
	key, name, err := d.Find(fields)
	if err != nil {
		return err
	}
	if !slices.Contains(d.Verdicts[:], verdict) {
		return fmt.Errorf("decision is %.40q, want %s or %s", verdict, d.Verdicts[0], d.Verdicts[1])
	}
	if _, decided := out[key]; decided {
		return fmt.Errorf("%s has a decision already", name)
	}
	out[key] = verdict
	return nil
}
