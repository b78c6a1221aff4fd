package dataset

import (
	"encoding/csv"
	"strconv"

	"nmn/internal/durable"
)

// ClipTable lists the rows of each clip in a file of features, as the records of a CSV table. The zero value has no
// clips.
type ClipTable [][]string

// Add appends a clip: its identifier, its first row from 0 and the number of its rows.
func (t *ClipTable) Add(clip string, first, rows int) {
	*t = append(*t, []string{clip, strconv.Itoa(first), strconv.Itoa(rows)})
}

// WriteFile writes the table.
func (t *ClipTable) WriteFile(path string) error {
	return durable.CSV(path, 0o644, func(w *csv.Writer) error {
		return w.WriteAll(append([][]string{{"clip", "first", "rows"}}, *t...))
	})
}
