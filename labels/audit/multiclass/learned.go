package multiclass

import (
	"cmp"
	"math"
	"slices"

	"nmn/internal/parallel"
	"nmn/labels"
)

// leastUnmixed is the least probability of a class when scores are separated by the inverse; smaller values
// are error.
const leastUnmixed = 1e-3

// unmixLimit is the most multiplications for taking the scores of all rows apart.
const unmixLimit = 50e9

// Thresholds that detect a ceiling of the scores. Among the rows for which a class is the likeliest, the rows
// from the top 5 % to the top 30 % by its score have nearly the same score.
const (
	ceilingFrom, ceilingTo = .05, .3
	ceilingRows            = 20
	ceilingSpread          = .1 // share of the range between the ceiling and 1/K
	leastCeiling           = .5
	mostCeiling            = .9
)

// learned returns the model for a classifier that has memorised the noise, whose scores are p(z|x). Sure rows
// of a class have the scores T_yz (Patrini et al., 2017), so they pile up at a ceiling; the scores of a
// classifier that is not sure of any row spread. With p̂ the scores of a row, p(y|x) is u, the solution of
// sum over y of T_yz u_y = p̂_z. The result is nil if there is no ceiling, if T is close to singular, or if
// there are too many classes.
func (m Model) learned(in *Input, likeliest [][]int32) *Model {
	k := m.Classes
	if float64(in.Rows)*float64(k)*float64(k) > unmixLimit {
		return nil
	}
	t := ceilings(in, likeliest)
	if t == nil {
		return nil
	}
	inverse := inverted(t, k)
	if inverse == nil {
		return nil
	}
	m.Noise, m.A, m.B, m.Inverse = Learned, 1, make([]float64, k), make([]float32, k*k)
	for i, v := range inverse {
		m.Inverse[i] = float32(v)
	}
	m.given, m.Pooled = transposed(t, k), meanError(t, k)
	return &m
}

// surest are the rows of the sample by the class that is likeliest, the highest scores first.
func surest(in *Input, stride int) [][]int32 {
	k := in.Classes
	known, out := in.known(), make([][]int32, k)
	for at := 0; at < len(known); at += stride {
		i := known[at]
		y := labels.Largest(in.Scores[int(i)*k:][:k])
		out[y] = append(out[y], i)
	}
	parallel.Each(k, func(y int) {
		score := func(i int32) float32 { return in.Scores[int(i)*k+y] }
		slices.SortStableFunc(out[y], func(i, j int32) int { return cmp.Compare(score(j), score(i)) })
	})
	return out
}

// ceilings returns T from the mean scores of the rows at the ceiling of each class; nil if scores have no
// ceiling. A class that is too rarely the likeliest gets the mean errors of the others.
func ceilings(in *Input, likeliest [][]int32) []float64 {
	k := in.Classes
	t, spread, height, all := make([]float64, k*k), 0., 0., 0.
	for y, found := range likeliest {
		if len(found) < ceilingRows {
			continue
		}
		score := func(i int32) float32 { return in.Scores[int(i)*k+y] }
		n := float64(len(found))
		pile := found[int(ceilingFrom*n) : int(ceilingTo*n)+1]
		top, low := float64(score(pile[0])), float64(score(pile[len(pile)-1]))
		for _, i := range pile {
			for z, p := range in.Scores[int(i)*k:][:k] {
				t[y*k+z] += float64(p) / float64(len(pile))
			}
		}
		all += n
		spread += n * (top - low) / max(top-1/float64(k), leastUnmixed)
		height += n * t[y*k+y]
	}
	if height /= all; all == 0 || spread/all > ceilingSpread || height < leastCeiling || height > mostCeiling {
		return nil
	}
	other := even(1-height, k)
	for y, found := range likeliest {
		row := t[y*k : (y+1)*k]
		if len(found) < ceilingRows {
			copy(row, other[y*k:])
		}
		sum := 0.
		for _, p := range row {
			sum += p
		}
		for z := range row {
			row[z] = max(row[z]/sum, leastRate/float64(k))
		}
	}
	return t
}

// inverted returns the inverse of a matrix by elimination with the largest pivots; nil if it is singular.
func inverted(a []float64, n int) []float64 {
	a, out := slices.Clone(a), make([]float64, n*n)
	for i := range n {
		out[i*n+i] = 1
	}
	for c := range n {
		pivot := c
		for r := c + 1; r < n; r++ {
			if math.Abs(a[r*n+c]) > math.Abs(a[pivot*n+c]) {
				pivot = r
			}
		}
		if math.Abs(a[pivot*n+c]) < 1e-3 {
			return nil
		}
		for j := range n {
			a[c*n+j], a[pivot*n+j] = a[pivot*n+j], a[c*n+j]
			out[c*n+j], out[pivot*n+j] = out[pivot*n+j], out[c*n+j]
		}
		scale := 1 / a[c*n+c]
		for j := range n {
			a[c*n+j] *= scale
			out[c*n+j] *= scale
		}
		for r := range n {
			factor := a[r*n+c]
			if r == c || factor == 0 {
				continue
			}
			for j := range n {
				a[r*n+j] -= factor * a[c*n+j]
				out[r*n+j] -= factor * out[c*n+j]
			}
		}
	}
	return out
}
