package rates

import (
	"context"

	"nmn/internal/parallel"
)

// column holds the logits of one class: first the bags that carry its label, then the bags that do not.
// Labels need no memory of their own, and loops over a column have no branch on them.
type column struct {
	present, absent []float32
}

// tile is how many columns are copied at a time: 16 logits are a line of the cache.
const tile = 16

// eachColumn runs a task on the column of every class. The columns are copied a tile at a time by each worker, so that
// no more than a tile for each is in memory; a task must not keep its column.
func eachColumn(ctx context.Context, in *Input, workers int, task func(class int, c column)) error {
	return parallel.Run(ctx, (in.Classes+tile-1)/tile, workers, func() func(int) {
		logits := make([]float32, min(tile, in.Classes)*in.Bags)
		return func(t int) {
			var columns [tile]column
			first := t * tile
			n := min(tile, in.Classes-first)
			copyColumns(in, first, columns[:n], logits)
			for c := range n {
				if ctx.Err() != nil {
					return
				}
				task(first+c, columns[c])
			}
		}
	})
}

// class holds the sums over a column that are used repeatedly.
type class struct {
	present, absent         nodes
	presentRows, absentRows int
}

func (c *class) bags() int { return c.presentRows + c.absentRows }

// rarer is the number of labels of the rarer kind.
func (c *class) rarer() float64 { return float64(min(c.presentRows, c.absentRows)) }

// nodes is the number of all.
func (c *class) nodes() int { return len(c.present.x) + len(c.absent.x) }

func classOf(c column) class {
	return class{present: nodesOf(c.present), absent: nodesOf(c.absent), presentRows: len(c.present),
		absentRows: len(c.absent)}
}

// copyColumns copies some neighbouring columns into logits.
func copyColumns(in *Input, first int, columns []column, logits []float32) {
	var present [tile]int
	for i := range in.Bags {
		row := in.Labels[i*in.Classes+first:][:len(columns)]
		for c, z := range row {
			present[c] += int(z & 1 &^ (z >> 1)) // 1 alone: all bits of an unknown label are set
		}
	}
	for c := range columns {
		all := logits[c*in.Bags : c*in.Bags : (c+1)*in.Bags]
		columns[c] = column{all[0:0:present[c]], all[present[c]:present[c]]}
	}
	for i := range in.Bags {
		at := i*in.Classes + first
		labels, scores := in.Labels[at:][:len(columns)], in.Scores[at:][:len(columns)]
		for c, z := range labels {
			switch z {
			case 1:
				columns[c].present = append(columns[c].present, scores[c])
			case 0:
				columns[c].absent = append(columns[c].absent, scores[c])
			}
		}
	}
}
