package rates

import "context"

// column holds the logits of one class: of the bags that carry its label first, then of the others.
// Labels need no room of their own, and loops over a column have no branch on them.
type column struct {
	present, absent []float32
}

// bags is the number of rows.
func (c column) bags() int { return len(c.present) + len(c.absent) }

// tile is how many columns are copied at a time: 16 logits are a line of the cache.
const tile = 16

// columnsOf copies the scores column by column, which takes the memory of the scores once more.
func columnsOf(ctx context.Context, in *Input, workers int) ([]column, error) {
	columns := make([]column, in.Classes)
	err := each(ctx, (in.Classes+tile-1)/tile, workers, func() func(int) {
		return func(t int) {
			first := t * tile
			copyColumns(in, first, columns[first:min(first+tile, in.Classes)])
		}
	})
	return columns, err
}

func copyColumns(in *Input, first int, columns []column) {
	var present [tile]int
	for i := range in.Bags {
		row := in.Labels[i*in.Classes+first:][:len(columns)]
		for c, z := range row {
			present[c] += int(z)
		}
	}
	for c := range columns {
		all := make([]float32, 0, in.Bags)
		columns[c] = column{all[0:0:present[c]], all[present[c]:present[c]]}
	}
	for i := range in.Bags {
		at := i*in.Classes + first
		labels, scores := in.Labels[at:][:len(columns)], in.Scores[at:][:len(columns)]
		for c, z := range labels {
			if z == 1 {
				columns[c].present = append(columns[c].present, scores[c])
			} else {
				columns[c].absent = append(columns[c].absent, scores[c])
			}
		}
	}
}
