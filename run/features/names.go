package runfeatures

import (
	"context"

	"nmn/format/table"
	"nmn/loader"
	"nmn/loader/dataset"
)

// writeNames writes what the rows are: identifiers, labels if there are any, and the clips of frames. index
// holds the bags that have a row, ascending.
func (x *Extraction) writeNames(ctx context.Context, index []int) error {
	o := x.Output
	if o.IDs != "" || o.Labels != "" || o.Truth != "" {
		if err := x.writeLabels(ctx, index); err != nil {
			return err
		}
	}
	if o.Clips == "" || x.clips == nil {
		return nil
	}
	return x.clips.write(ctx, o.Clips, index)
}

func (x *Extraction) writeLabels(ctx context.Context, index []int) error {
	var row loader.Row
	ids := make([]string, len(index))
	for i, bag := range index {
		if err := x.Set.Row(ctx, bag, &row); err != nil {
			return err
		}
		ids[i] = row.ID
	}
	if x.Output.IDs != "" {
		if err := loader.WriteIDs(x.Output.IDs, ids); err != nil {
			return err
		}
	}
	for _, output := range []struct {
		file string
		of   func() []int32
	}{{x.Output.Labels, func() []int32 { return row.Labels }}, {x.Output.Truth, func() []int32 { return row.Truth }}} {
		if output.file == "" {
			continue
		}
		labels := make([]uint8, x.Set.Vocabulary.Len())
		err := table.WriteFile(output.file, x.Set.Vocabulary.Texts(), ids, len(index), func(i int) ([]uint8, error) {
			err := x.Set.Row(ctx, index[i], &row)
			clear(labels)
			for _, class := range output.of() {
				labels[class] = 1
			}
			return labels, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// clipRows maps rows of frames to their clips.
type clipRows struct {
	videos *loader.Set
	index  *loader.FrameIndex
}

// write writes a CSV table with a line for each clip that has a row: its identifier, its first row from 0 and the
// number of its rows. frames holds the frames of the rows, ascending. A frame that could not be read has no row.
func (c *clipRows) write(ctx context.Context, path string, frames []int) error {
	var clips dataset.ClipTable
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
		clips.Add(row.ID, first, end-first)
		first = end
	}
	return clips.WriteFile(path)
}
