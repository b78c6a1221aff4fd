package features

import (
	"errors"
	"slices"
)

// Description describes a table, as text and as JSON.
type Description struct {
	File     string   `json:"file"`
	Rows     int      `json:"rows"`
	Features int      `json:"features"`
	OnDisk   bool     `json:"on_disk"`
	Columns  []string `json:"columns,omitempty"`
	Labels   []string `json:"labels,omitempty"`
	PerRow   float64  `json:"labels_per_row"`
	// UnknownLabels is the number of unknown labels.
	UnknownLabels int    `json:"unknown_labels,omitempty"`
	IDs           bool   `json:"identifiers"`
	FirstID       string `json:"first_identifier,omitempty"`
	HasSplits     bool   `json:"splits"`
	// Weights are the least and the largest weight of a row; nil without weights.
	Weights []float32 `json:"weights,omitempty"`
	// Labels that hold on no row, and on all.
	Never  []string `json:"labels_on_no_row,omitempty"`
	Always []string `json:"labels_on_every_row,omitempty"`
	// Rows with a number that is no feature, and the error of the first.
	Unusable int    `json:"unusable_rows"`
	First    string `json:"first_unusable,omitempty"`
}

// Describe looks at a table. A matrix on disk is read once for it.
func (t *Table) Describe() (*Description, error) {
	d := &Description{File: t.Name, Rows: t.Rows.Len(), Features: t.Rows.Width(), OnDisk: t.OnDisk, Columns: t.Columns,
		IDs: t.IDs != nil, HasSplits: t.Splits != nil}
	if t.IDs != nil {
		d.FirstID = t.IDs[0]
	}
	if t.Weights != nil {
		d.Weights = []float32{slices.Min(t.Weights), slices.Max(t.Weights)}
	}
	if t.Labels != nil {
		d.Labels = t.Labels.Words
		positive := make([]int, len(d.Labels))
		for i, z := range t.Labels.Values {
			if z == Unknown {
				d.UnknownLabels++
				continue
			}
			positive[i%len(positive)] += int(z)
			d.PerRow += float64(z) / float64(d.Rows)
		}
		d.Never, d.Always = OneSided(d.Labels, positive, d.Rows)
	}
	return d, d.look(t)
}

// look reads the rows of a matrix on disk; rows of a table have been read already.
func (d *Description) look(t *Table) error {
	if !t.OnDisk || t.Spilled {
		return nil
	}
	row := make([]float32, d.Features)
	for i := range d.Rows {
		err := t.Rows.Read(i, row)
		switch {
		case err == nil:
		case !errors.Is(err, ErrValue):
			return err
		default:
			if d.Unusable++; d.Unusable == 1 {
				d.First = err.Error()
			}
		}
	}
	return nil
}

// OneSided returns the words from which nothing can be learned: words on no row, and words on all rows.
// positive counts the rows that have each word.
func OneSided(words []string, positive []int, rows int) (never, always []string) {
	for c, n := range positive {
		switch n {
		case 0:
			never = append(never, words[c])
		case rows:
			always = append(always, words[c])
		}
	}
	return never, always
}
