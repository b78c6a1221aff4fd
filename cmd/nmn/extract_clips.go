package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"strconv"

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
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	line := func(fields ...string) { _ = w.Write(fields) } // a buffer cannot fail
	line("clip", "first", "rows")
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
		line(row.ID, strconv.Itoa(first), strconv.Itoa(end-first))
		first = end
	}
	w.Flush()
	return writeFile(path, b.Bytes())
}
