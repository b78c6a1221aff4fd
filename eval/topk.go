package eval

import (
	"nmn/format/table"
	"nmn/internal/parallel"
)

// topK predicts the k best classes of each bag and adds the outcome to the tallies. The rows are
// ranked in parallel, the counting is one pass in order.
func (t *tallies) topK(k int) {
	if t.labels == nil && t.truth == nil {
		return
	}
	n, classes := t.in.Bags, t.in.Classes
	best := make([]int32, n*k)
	parallel.Blocks(n, max(1, chunk/classes), func(from, to int) {
		for i := from; i < to; i++ {
			topClasses(t.scores[i*classes:(i+1)*classes], best[i*k:(i+1)*k])
		}
	})
	for at, c := range best {
		cell := at/k*classes + int(c)
		sure := t.probability(cell) >= t.threshold
		if t.labels != nil && t.in.Labels[cell] != table.Unknown {
			t.labels[c].chosen(t.in.Labels[cell], sure)
		}
		if t.truth != nil {
			t.truth[c].chosen(t.in.Truth[cell], sure)
		}
	}
}

func (t *tallies) probability(cell int) float64 {
	p := float64(t.scores[cell])
	if t.in.Logits {
		p = sigmoid(p)
	}
	return p
}

func (y *tally) chosen(label uint8, sure bool) {
	y.topK.predicted++
	y.topK.hits += int(label)
	if sure {
		y.topKThreshold.predicted++
		y.topKThreshold.hits += int(label)
	}
}
