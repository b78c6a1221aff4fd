package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"strconv"

	"nmn/internal/durable"
	"nmn/loader"
)

// clipRows knows the clips that rows of frames belong to.
type clipRows struct {
	videos *loader.Set
	index  *loader.FrameIndex
}

// write writes a line for each clip that has a row: its identifier, its first row from 0 and the number of
// its rows. frames are those of the rows, ascending; a frame that could not be read has none.
func (c *clipRows) write(ctx context.Context, path string, frames []int) error {
	table := newClipTable()
	var row loader.Row
	for first := 0; first < len(frames); {
		clip, _ := c.index.Of(frames[first])
		end := first + 1
		for ; end < len(frames); end++ {
			if next, _ := c.index.Of(frames[end]); next != clip {
				break
			}
		}
		if err := c.videos.Row(ctx, clip, &row); err != nil {
			return err
		}
		table.add(row.ID, first, end-first)
		first = end
	}
	return table.write(path)
}

// clipTable tells which rows of a file of features are those of which clip, as CSV.
type clipTable struct {
	text  bytes.Buffer
	lines *csv.Writer
}

func newClipTable() *clipTable {
	t := &clipTable{}
	t.lines = csv.NewWriter(&t.text)
	t.line("clip", "first", "rows")
	return t
}

func (t *clipTable) line(fields ...string) { _ = t.lines.Write(fields) } // a buffer cannot fail

// add puts a clip behind the others: its identifier, its first row from 0 and the number of its rows.
func (t *clipTable) add(clip string, first, rows int) {
	t.line(clip, strconv.Itoa(first), strconv.Itoa(rows))
}

func (t *clipTable) write(path string) error {
	t.lines.Flush()
	return durable.Save(path, t.text.Bytes())
}
