package multiclass

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nmn/eval"
	"nmn/format/npy"
	"nmn/format/table"
	"nmn/internal/durable"
	"nmn/labels"
	"nmn/labels/audit"
)

// atPrecision is how many of the first suspects can be given the class suggested so that the mean probability that it
// is right is at least the one asked for.
func atPrecision(suspects []Suspect, precision float64) int {
	sum := 0.0
	for n, s := range suspects {
		if sum += s.P; sum < precision*float64(n+1) {
			return n
		}
	}
	return len(suspects)
}

var changeColumns = []string{"id", "original", "corrected", "p_wrong", "p_corrected", "rule", "version"}

// accepted is the rule of a change that a person has decided.
const accepted = "accepted"

// change is a corrected label, and why.
type change struct {
	Suspect
	rule string
}

// Correct carries the decisions out, and gives the surest suspects without one the classes suggested, up to the
// wanted precision, if Apply asks for that. It writes all labels, writes the record of changes next to them, and
// notes the outcome. If there are too few labels or decisions (see audit.EnoughToApply), it returns a *setting.Error
// and writes nothing.
func (r *Report) Correct(c labels.Correction) error {
	if c.Apply == labels.ApplyCareful {
		if err := audit.EnoughToApply(r.Known(), len(r.Decisions), r.Memorised); err != nil {
			return err
		}
	}
	changes := r.decided()
	var open []Suspect
	if c.Apply != "" {
		open = r.surest()
	}
	automatic := open[:atPrecision(open, c.Precision)]
	rule, sum := "expected precision at least "+labels.Digits(c.Precision), 0.0
	r.Outcome = &audit.Outcome{Changed: len(changes) + len(automatic), Accepted: len(changes),
		Rejected: len(r.Decisions) - len(changes), Automatic: len(automatic),
		Labels: c.Labels, Changes: c.Changes()}
	for _, s := range automatic {
		changes = append(changes, change{s, rule})
		sum += s.P
	}
	if c.Apply != "" && len(automatic) == 0 {
		r.Outcome.Reason = whyNone(open, c.Precision)
	}
	r.Outcome.ExpectedPrecision = eval.Number(sum / float64(len(automatic))) // NaN for 0/0
	corrected := slices.Clone(r.Labels)
	for _, s := range changes {
		corrected[s.Row] = s.Suggested
	}
	return c.Save(changeColumns, r.changeRecords(changes, c.Version), func() error {
		if c.WriteClasses != nil {
			return c.WriteClasses(corrected)
		}
		if strings.EqualFold(filepath.Ext(c.Labels), ".npy") {
			return writeNPY(c.Labels, corrected)
		}
		return r.writeCSV(c.Labels, corrected)
	})
}

// surest returns the suspects without a decision, those whose new label is surest to be right first.
func (r *Report) surest() []Suspect {
	open := r.Open()
	slices.SortStableFunc(open, func(a, b Suspect) int {
		return cmp.Or(cmp.Compare(b.P, a.P), cmp.Compare(a.Row, b.Row))
	})
	return open
}

func whyNone(open []Suspect, precision float64) string {
	if len(open) == 0 {
		return "no suspect without a decision has another class that is more probable"
	}
	return fmt.Sprintf("the surest class that is suggested is right with a probability of %.1f %%, and the expected "+
		"precision must be at least %g %%", 100*open[0].P, 100*precision)
}

func (r *Report) changeRecords(changes []change, version string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for _, s := range changes {
			if !yield([]string{r.ID(int(s.Row)), r.label(s.Given), r.label(s.Suggested), labels.Digits(s.Wrong),
				labels.Digits(s.P), s.rule, version}) {
				return
			}
		}
	}
}

// label is a class as the file of labels writes it; an unknown one is -1.
func (r *Report) label(class int32) string {
	if class == table.UnknownClass {
		return "-1"
	}
	if r.Named {
		return r.Word(int(class))
	}
	return strconv.Itoa(int(class))
}

func (r *Report) writeCSV(path string, classes []int32) error {
	column := r.Column
	if column == "" {
		column = "label"
	}
	return durable.CSV(path, 0o644, func(w *csv.Writer) error {
		record := []string{column}
		if r.IDs != nil {
			record = []string{"id", column}
		}
		if err := w.Write(record); err != nil {
			return err
		}
		for i, z := range classes {
			if record[len(record)-1] = r.label(z); r.IDs != nil {
				record[0] = r.IDs[i]
			}
			if err := w.Write(record); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeNPY writes an array of 64-bit integers.
func writeNPY(path string, labels []int32) error {
	return durable.Stream(path, 0o644, func(out io.Writer) error {
		b := bufio.NewWriter(out)
		if _, err := b.Write(npy.Int64Header(len(labels))); err != nil {
			return err
		}
		var element [8]byte
		for _, z := range labels {
			binary.LittleEndian.PutUint64(element[:], uint64(z))
			if _, err := b.Write(element[:]); err != nil {
				return err
			}
		}
		return b.Flush()
	})
}
