package captioning

import (
	"bytes"
	"encoding/csv"
	"strconv"

	"nmn/internal/durable"
)

// ClipTable is the table of the rows of each clip, as CSV, that OpenFrames reads.
type ClipTable struct {
	text  bytes.Buffer
	lines *csv.Writer
}

// NewClipTable makes a table without clips.
func NewClipTable() *ClipTable {
	t := &ClipTable{}
	t.lines = csv.NewWriter(&t.text)
	t.line("clip", "first", "rows")
	return t
}

func (t *ClipTable) line(fields ...string) { _ = t.lines.Write(fields) } // a buffer cannot fail

// Add puts a clip behind the others: its identifier, its first row from 0 and the number of its rows.
func (t *ClipTable) Add(clip string, first, rows int) {
	t.line(clip, strconv.Itoa(first), strconv.Itoa(rows))
}

// WriteFile writes the table to a file, which appears whole or not at all.
func (t *ClipTable) WriteFile(path string) error {
	t.lines.Flush()
	return durable.Save(path, t.text.Bytes())
}

// WriteClips writes the table of clips that have as many rows each.
func WriteClips(path string, ids []string, rows int) error {
	table := NewClipTable()
	for i, id := range ids {
		table.Add(id, i*rows, rows)
	}
	return table.WriteFile(path)
}
