package multiclass

import (
	"cmp"

	"nmn/group"
)

// The anchors of a class are the rows that the scores are surest of: so large a share of the rows with its label, and
// no fewer than anchorRows.
const (
	anchorShare = .1
	anchorRows  = 25
)

// anchored counts the labels of the anchors of each class, K×K. The rates of errors must come from there: a
// classifier that has learned the noise by heart explains all labels without any, whatever they are.
//
// Of several ranks, each looks at some of the classes.
func (in *Input) anchored(ranks group.Group) ([]float64, error) {
	k := in.Classes
	sizes, known := make([]int, k), in.known()
	for _, i := range known {
		sizes[in.Labels[i]]++
	}
	counts, order := make([]int, k*k), make([]int32, len(known))
	from, to := group.Share(ranks, k)
	for y := from; y < to; y++ {
		copy(order, known)
		n := min(max(int(anchorShare*float64(sizes[y])), anchorRows), len(known))
		first(order, n, func(i, j int32) int {
			return cmp.Or(cmp.Compare(in.Scores[int(j)*k+y], in.Scores[int(i)*k+y]), cmp.Compare(i, j))
		})
		for _, i := range order[:n] {
			if argmax(in.Scores[int(i)*k:][:k]) == y { // a class that is never the likeliest has no anchors
				counts[y*k+int(in.Labels[i])]++
			}
		}
	}
	if err := group.SumCounts(ranks, counts, nil); err != nil {
		return nil, err
	}
	out := make([]float64, k*k)
	for i, n := range counts {
		out[i] = float64(n)
	}
	return out, nil
}

// first brings the n least values to the front, in no order.
func first(values []int32, n int, compare func(a, b int32) int) {
	lo, hi := 0, len(values)
	for hi-lo > 1 && lo < n && n < hi {
		pivot := values[lo+(hi-lo)/2]
		i, j := lo, hi-1
		for i <= j {
			for compare(values[i], pivot) < 0 {
				i++
			}
			for compare(values[j], pivot) > 0 {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case n <= j+1:
			hi = j + 1
		case n >= i:
			lo = i
		default:
			return
		}
	}
}
