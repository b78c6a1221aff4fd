package multiclass

import (
	"cmp"
	"math"
	"sync"

	"nmn/group"
	"nmn/internal/parallel"
)

// The anchors of a class are the rows that the scores are surest of: so large a share of the rows with its label, and
// no fewer than anchorRows.
const (
	anchorShare = .1
	anchorRows  = 25
)

// someRows is how many rows a goroutine takes at a time.
const someRows = 1 << 10

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
	counts := make([]int, k*k)
	from, to := group.Share(ranks, k)
	var columns [16][]float32 // of as many classes at a time: what a row has of them lies side by side
	for ; from < to; from += len(columns) {
		some := min(len(columns), to-from)
		for c := range some {
			columns[c] = append(columns[c][:0], make([]float32, len(known))...)
		}
		parallel.Blocks(len(known), someRows, func(first, end int) {
			for at := first; at < end; at++ {
				for c, p := range in.Scores[int(known[at])*k+from:][:some] {
					columns[c][at] = p
				}
			}
		})
		var wait sync.WaitGroup
		for c := range some {
			wait.Go(func() {
				y := from + c
				n := min(max(int(anchorShare*float64(sizes[y])), anchorRows), len(known))
				for _, at := range largest(columns[c], n) {
					i := int(known[at])
					if argmax(in.Scores[i*k:][:k]) == y { // a class that is never the likeliest has no anchors
						counts[y*k+int(in.Labels[i])]++
					}
				}
			})
		}
		wait.Wait()
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

// largest are the indices of the n largest values, of equal ones the first, in no order.
func largest(values []float32, n int) []int32 {
	order := func(i, j int32) int { return cmp.Or(cmp.Compare(values[j], values[i]), cmp.Compare(i, j)) }
	best, least := make([]int32, 0, 2*n), math.Inf(-1) // those so far, and what n of them are not below
	for i, v := range values {
		if float64(v) <= least {
			continue
		}
		if best = append(best, int32(i)); len(best) == 2*n {
			first(best, n, order)
			best, least = best[:n], math.Inf(1)
			for _, j := range best {
				least = min(least, float64(values[j]))
			}
		}
	}
	first(best, n, order)
	return best[:n]
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
