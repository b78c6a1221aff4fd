package audit

import (
	"cmp"
	"math"
	"slices"

	"nmn/format/table"
	"nmn/internal/parallel"
	"nmn/labels/rates"
)

const (
	combineFolds = 5
	partners     = 8  // most other classes that have a say in a score
	ridge        = 11 // 1/.3², for weights of scores with a standard deviation of 1
	// mostCombined bounds bags × classes × (200 + classes), which the time is proportional to: it corresponds
	// to a few seconds.
	mostCombined = 1e9
)

// combine returns scores of each class that take the other classes into account. A net that has learned
// little confuses sand with water, and its score of sand shows which it is. A linear model of the label of a
// class uses the class's own score and the scores of the partners that explain most of what its own score
// leaves open. Each fifth of the bags is scored by weights fitted to the labels of the other four. Noise
// cannot be predicted, but errors of the net can, and would look like noise.
//
// It returns nil for a single class, for more bags and classes than it has time for, and for input with errors, which
// others report.
func combine(in *Input) []float32 {
	n := in.Bags * in.Classes
	if in.Classes < 2 || float64(n)*(200+float64(in.Classes)) > mostCombined || n != len(in.Logits) ||
		n != len(in.Labels) ||
		slices.ContainsFunc(in.Logits, func(o float32) bool { return o-o != 0 }) || // NaN or infinite
		slices.ContainsFunc(in.Labels, func(z uint8) bool { return z > 1 && z != table.Unknown }) {
		return nil
	}
	out, columns := slices.Clone(in.Logits), make([][]float64, in.Classes)
	parallel.Blocks(in.Classes, 1, func(c, _ int) { columns[c] = in.standardised(c) })
	parallel.Blocks(in.Classes, 1, func(c, _ int) {
		k := combination{columns: columns, class: c, z: make([]uint8, in.Bags)}
		var known [2]bool
		for i := range k.z {
			if k.z[i] = in.Labels[i*in.Classes+c]; k.z[i] != table.Unknown {
				known[k.z[i]] = true
			}
		}
		if !known[0] || !known[1] {
			return
		}
		for i, o := range k.scores() {
			out[i*in.Classes+c] = float32(o)
		}
	})
	return out
}

// standardised is a column with mean 0 and standard deviation 1, or 0 throughout if all scores are equal.
func (in *Input) standardised(c int) []float64 {
	out, mean, square := make([]float64, in.Bags), 0.0, 0.0
	for i := range out {
		out[i] = float64(in.Logits[i*in.Classes+c])
		mean += out[i] / float64(in.Bags)
	}
	for i := range out {
		out[i] -= mean
		square += out[i] * out[i] / float64(in.Bags)
	}
	for i := range out {
		if square > 0 {
			out[i] /= math.Sqrt(square)
		}
	}
	return out
}

// combination is the model of one class.
type combination struct {
	columns [][]float64
	class   int
	z       []uint8
	base    []float64 // logits of z=1 by the own score alone
}

func (k *combination) scores() []float64 {
	k.base = make([]float64, len(k.z))
	own := [][]float64{slices.Repeat([]float64{1}, len(k.z)), k.columns[k.class]}
	k.base = k.predict(own, k.fit(own, []float64{1e-3, .1}, -1))
	moments := k.moments()
	out := make([]float64, len(k.z))
	for fold := range combineFolds {
		x := own
		for _, j := range k.partners(moments, fold) {
			x = append(x, k.columns[j])
		}
		penalty := slices.Repeat([]float64{ridge}, len(x))
		for i, o := range k.predict(x, k.fit(x, penalty, fold)) {
			if i%combineFolds == fold {
				out[i] = o
			}
		}
	}
	return out
}

// moments are sums over the bags of a fold. With r = z - p and v = p(1-p), they are the sums of r, v, r x, v
// x and v x².
type moments struct{ r, v, rx, vx, vxx float64 }

// moments computes them for the score of each class.
func (k *combination) moments() [][combineFolds]moments {
	r, v := make([]float64, len(k.z)), make([]float64, len(k.z))
	for i, z := range k.z {
		if z != table.Unknown {
			p := rates.Sigmoid(k.base[i])
			r[i], v[i] = float64(z)-p, p*(1-p)
		}
	}
	out := make([][combineFolds]moments, len(k.columns))
	for j, x := range k.columns {
		for i, x := range x {
			m := &out[j][i%combineFolds]
			m.r, m.v, m.rx, m.vx, m.vxx = m.r+r[i], m.v+v[i], m.rx+r[i]*x, m.vx+v[i]*x, m.vxx+v[i]*x*x
		}
	}
	return out
}

// partners are the classes with the largest score statistic in all folds but one.
func (k *combination) partners(of [][combineFolds]moments, held int) []int {
	all, says := make([]int, 0, len(of)), make([]float64, len(of))
	for j := range of {
		var s moments
		for fold, m := range of[j] {
			if fold != held {
				s = moments{r: s.r + m.r, v: s.v + m.v, rx: s.rx + m.rx, vx: s.vx + m.vx, vxx: s.vxx + m.vxx}
			}
		}
		mean := s.vx / s.v
		if spread := s.vxx - mean*s.vx; j != k.class && spread > 0 {
			says[j] = math.Abs(s.rx-mean*s.r) / math.Sqrt(spread)
			all = append(all, j)
		}
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(says[b], says[a]) })
	return all[:min(partners, len(all))]
}

// predict is base + sum over j of w_j x_j.
func (k *combination) predict(x [][]float64, w []float64) []float64 {
	out := slices.Clone(k.base)
	for j, x := range x {
		for i := range out {
			out[i] += w[j] * x[i]
		}
	}
	return out
}

// fit maximises the likelihood of the labels outside of a fold, less penalty_j w_j²/2, by Newton's method.
func (k *combination) fit(x [][]float64, penalty []float64, held int) []float64 {
	n := len(x)
	w, row := make([]float64, n), make([]float64, n)
	for range 12 {
		g, h, o := make([]float64, n), make([]float64, n*n), k.predict(x, w)
		for i, z := range k.z {
			if z == table.Unknown || i%combineFolds == held {
				continue
			}
			p := rates.Sigmoid(o[i])
			r, v := float64(z)-p, p*(1-p)
			for a, x := range x {
				row[a] = x[i]
				g[a] += r * row[a]
				for b := range a + 1 {
					h[a*n+b] += v * row[a] * row[b]
				}
			}
		}
		for a := range n {
			g[a] -= penalty[a] * w[a]
			h[a*n+a] += penalty[a]
		}
		largest := 0.0
		for a, step := range rates.Solve(h, g) {
			w[a] += min(max(step, -2), 2)
			largest = max(largest, math.Abs(step))
		}
		if largest < 1e-3 {
			break
		}
	}
	return w
}
