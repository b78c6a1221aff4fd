package dataset

import (
	"bytes"
	"encoding/csv"
	"strconv"

	"nmn/internal/durable"
)

// ClipTable lists the rows of each clip in a file of features, as CSV.
type ClipTable struct {
	text  bytes.Buffer
	lines *csv.Writer
}

// NewClipTable is a table without clips.
func NewClipTable() *ClipTable {
	t := &ClipTable{}
	t.lines = csv.NewWriter(&t.text)
	t.line("clip", "first", "rows")
	return t
}

func (t *ClipTable) line(fields ...string) { _ = t.lines.Write(fields) } // a buffer cannot fail

// Add appends a clip: its identifier, its first row from 0 and the number of its rows.
func (t *ClipTable) Add(clip string, first, rows int) {
	t.line(clip, strconv.Itoa(first), strconv.Itoa(rows))
}

// WriteFile writes the table.
func (t *ClipTable) WriteFile(path string) error {
	t.lines.Flush()
	return durable.Save(path, t.text.Bytes())
}
