package labels

import (
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"iter"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"nmn/internal/durable"
	"nmn/internal/input"
	"nmn/internal/setting"
)

// EnoughToApply is the least number of labels at which an audit may correct labels without decisions of a person.
const EnoughToApply = 5000

// Apply selects which suspects are corrected without a decision.
type Apply string

// The ways to correct. Without one only decisions are carried out.
const (
	// suspects of classes with rates of their own, once there are enough labels or decisions
	ApplyCareful Apply = "careful"
	ApplyForce   Apply = "force"  // the same suspects, however many labels there are
	ApplyPooled  Apply = "pooled" // suspects of classes with pooled rates too, however many labels there are
)

// Correction specifies which labels to correct, and where to write them.
type Correction struct {
	// Apply corrects the first suspects without a decision, as many as an expected precision of at least
	// Precision allows; empty for none. Only ApplyPooled corrects labels of classes that are audited with
	// pooled rates; no precision can be expected for them.
	Apply     Apply
	Precision float64
	// Labels is the file of the corrected labels, as a table of pictures, or of 0 and 1. The record of changes is
	// written next to it.
	Labels string
	// Write writes the corrected labels of several for each bag, N×K, in another form than CSV; nil writes CSV.
	Write func(corrected []uint8) error
	// WriteClasses writes the corrected classes of one label for each bag, N, in another form than CSV and NPY;
	// nil writes these.
	WriteClasses func(corrected []int32) error
	// Version is the version of the program, for the record.
	Version string
}

// Changes is the file of the record of changes.
func (c *Correction) Changes() string {
	return strings.TrimSuffix(c.Labels, filepath.Ext(c.Labels)) + ".changes.csv"
}

// Save writes the record of changes, a CSV with these columns, and then calls write to write the labels:
// labels without a record would hide their origin. It returns a *setting.Error instead of overwriting a file
// that is no record of changes.
func (c *Correction) Save(columns []string, changes iter.Seq[[]string], write func() error) error {
	if err := refuseForeign(c.Changes(), columns); err != nil {
		return err
	}
	err := durable.CSV(c.Changes(), 0o644, func(w *csv.Writer) error {
		if err := w.Write(columns); err != nil {
			return err
		}
		for record := range changes {
			if err := w.Write(record); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return write()
}

// refuseForeign refuses an existing file that is no record of changes with these columns: its name was
// derived from the name of the corrected labels, not given.
func refuseForeign(path string, columns []string) error {
	file, err := input.OpenFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	header := strings.Join(columns, ",") + "\n"
	start := make([]byte, len(header))
	if _, err := io.ReadFull(file, start); err != nil || string(start) != header {
		return setting.Errorf("audit.output", "%s would be overwritten, and is no record of changes: give another "+
			"`audit.output`, or move it away", path)
	}
	return nil
}

// Digits formats a probability with more digits than are significant, and distinguishes values close to 0;
// empty for NaN.
func Digits(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// Positions are the positions of n bags or classes, by their names.
func Positions(n int, name func(int) string) map[string]int32 {
	out := make(map[string]int32, n)
	for i := range n {
		out[name(i)] = int32(i)
	}
	return out
}

// Name is a name of bags or classes, or the number counted from 1 if they have none.
func Name(names []string, i int) string {
	if names == nil {
		return strconv.Itoa(i + 1)
	}
	return names[i]
}
