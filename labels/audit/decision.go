package audit

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"nmn/format/table"
	"nmn/internal/input"
)

// ErrDecisions is wrapped by every error about the content of a file of decisions.
var ErrDecisions = errors.New("not a valid file of decisions")

// Verdict is what a person says about a suspect.
type Verdict string

// The verdicts.
const (
	Accept Verdict = "accept" // the label is wrong: change it
	Reject Verdict = "reject" // the label is right: keep it
)

// Cell is a label of a bag and a class.
type Cell struct{ Bag, Class int32 }

// Decisions are the verdicts of people.
type Decisions map[Cell]Verdict

// DecisionColumns are the columns of a file of decisions, in any order: the label as it was when
// somebody looked at it, so that a decision is not applied to another one.
var DecisionColumns = []string{"id", "word", "given", "decision"}

// maxDecisions bounds the file in bytes.
const maxDecisions = 256 << 20

// ReadDecisionsFile reads a file of decisions for in, see ReadDecisions.
func ReadDecisionsFile(path string, in *Input) (Decisions, error) {
	f, err := input.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadDecisions(f, path, in)
}

// ReadDecisions reads the CSV that the page of an audit saves: id, word, given (0 or 1) and decision
// (accept or reject) of each label. A bag or a word that the audit does not have, a label that is no
// longer what it was, and a second decision on a label are errors; they name the file, which is name,
// and the line, and wrap ErrDecisions.
func ReadDecisions(r io.Reader, name string, in *Input) (Decisions, error) {
	limited := &io.LimitedReader{R: r, N: maxDecisions}
	c := csv.NewReader(limited)
	header, err := c.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: the file is empty; want a header with %s: %w",
			name, strings.Join(DecisionColumns, ", "), ErrDecisions)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", name, err, ErrDecisions)
	}
	at, err := columnsOf(header)
	if err != nil {
		return nil, fmt.Errorf("%s:1: %w: %w", name, err, ErrDecisions)
	}
	d := decisionReader{
		in:      in,
		at:      at,
		bags:    positions(in.Bags, in.ID),
		classes: positions(in.Classes, in.Word),
		out:     Decisions{},
	}
	for {
		record, err := c.Read()
		if limited.N == 0 {
			return nil, fmt.Errorf("%s: the file is larger than %d bytes: %w", name, maxDecisions, ErrDecisions)
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

// columnsOf finds the columns in a header.
func columnsOf(header []string) (at [4]int, err error) {
	for i, title := range header {
		header[i] = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(title, "\ufeff")))
	}
	for i, column := range DecisionColumns {
		if at[i] = slices.Index(header, column); at[i] < 0 {
			return at, fmt.Errorf("there is no column %q; want %s", column, strings.Join(DecisionColumns, ", "))
		}
	}
	return at, nil
}

func positions(n int, name func(int) string) map[string]int32 {
	out := make(map[string]int32, n)
	for i := range n {
		out[name(i)] = int32(i)
	}
	return out
}

type decisionReader struct {
	in            *Input
	at            [4]int
	bags, classes map[string]int32
	out           Decisions
}

func (d *decisionReader) add(record []string) error {
	id, word, given, verdict := record[d.at[0]], record[d.at[1]], strings.TrimSpace(record[d.at[2]]),
		Verdict(strings.TrimSpace(record[d.at[3]]))
	bag, ok := d.bags[id]
	if !ok {
		return fmt.Errorf("there is no bag %.60q", id)
	}
	class, ok := d.classes[word]
	if !ok {
		return fmt.Errorf("there is no word %.60q", word)
	}
	if given != "0" && given != "1" {
		return fmt.Errorf("given is %.40q, want the label 0 or 1", given)
	}
	if verdict != Accept && verdict != Reject {
		return fmt.Errorf("decision is %.40q, want %s or %s", verdict, Accept, Reject)
	}
	switch z := d.in.Labels[int(bag)*d.in.Classes+int(class)]; {
	case z == table.Unknown:
		return fmt.Errorf("bag %.60q, word %.60q was decided when its label was %s; it is unknown now: the decision is "+
			"for other labels", id, word, given)
	case given[0] != '0'+z:
		return fmt.Errorf("bag %.60q, word %.60q was decided when its label was %s; it is %d now: the decision is "+
			"for other labels", id, word, given, z)
	}
	cell := Cell{bag, class}
	if _, decided := d.out[cell]; decided {
		return fmt.Errorf("bag %.60q, word %.60q has a decision already", id, word)
	}
	d.out[cell] = verdict
	return nil
}

// Undecided are the suspects that nobody has decided about.
func (d Decisions) Undecided(suspects []Suspect) []Suspect {
	if len(d) == 0 {
		return suspects
	}
	var out []Suspect
	for _, s := range suspects {
		if _, decided := d[Cell{s.Bag, s.Class}]; !decided {
			out = append(out, s)
		}
	}
	return out
}
