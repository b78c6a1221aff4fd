package main

import (
	"context"

	"nmn/captioning"
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
	table := captioning.NewClipTable()
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
		table.Add(row.ID, first, end-first)
		first = end
	}
	return table.WriteFile(path)
}
