package multiclass

import (
	"bufio"
	"encoding/binary"
	"encoding/csv"
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
	"nmn/internal/setting"
	"nmn/labels"
)

// Outcome is what was corrected.
type Outcome struct {
	Changed           int         `json:"changed"`
	ExpectedPrecision eval.Number `json:"expected_precision"`
	Labels            string      `json:"labels"`
	Changes           string      `json:"changes"`
}

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

// Correct gives the surest suspects the classes suggested, up to the wanted precision. It writes all labels,
// writes the record of changes next to them, and notes the outcome. If there are too few labels, it returns a
// *setting.Error and writes nothing.
func (r *Report) Correct(c labels.Correction) error {
	if n := r.Known(); n < labels.EnoughToApply && c.Apply == labels.ApplyCareful {
		return setting.Errorf("audit.apply", "%d labels are too few for `audit.apply` alone, which needs %d of them: look "+
			"at the suspects first (`audit.rows`), and correct the labels at your own risk with `audit.apply`=force", n,
			labels.EnoughToApply)
	}
	order := slices.DeleteFunc(slices.Clone(r.Suspects), func(s Suspect) bool { return s.Suggested == s.Given })
	// Those whose new label is surest to be right come first.
	slices.SortStableFunc(order, func(a, b Suspect) int {
		if a.P != b.P {
			if a.P > b.P {
				return -1
			}
			return 1
		}
		return int(a.Row) - int(b.Row)
	})
	changed := order[:atPrecision(order, c.Precision)]
	corrected, sum := slices.Clone(r.Labels), 0.0
	for _, s := range changed {
		corrected[s.Row] = s.Suggested
		sum += s.P
	}
	r.Outcome = &Outcome{Changed: len(changed), ExpectedPrecision: eval.Undefined(), Labels: c.Labels,
		Changes: c.Changes()}
	if len(changed) > 0 {
		r.Outcome.ExpectedPrecision = eval.Number(sum / float64(len(changed)))
	}
	return c.Save(changeColumns, r.changeRecords(changed, &c), func() error {
		if c.WriteClasses != nil {
			return c.WriteClasses(corrected)
		}
		if strings.EqualFold(filepath.Ext(c.Labels), ".npy") {
			return writeNPY(c.Labels, corrected)
		}
		return r.writeCSV(c.Labels, corrected)
	})
}

func (r *Report) changeRecords(changed []Suspect, c *labels.Correction) iter.Seq[[]string] {
	rule := "expected precision at least " + labels.Digits(c.Precision)
	return func(yield func([]string) bool) {
		for _, s := range changed {
			if !yield([]string{r.ID(int(s.Row)), r.label(s.Given), r.label(s.Suggested), labels.Digits(s.Wrong),
				labels.Digits(s.P), rule, c.Version}) {
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
