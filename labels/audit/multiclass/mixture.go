package multiclass

import (
	"math"

	"nmn/labels/rates"
)

const (
	// leastMixed and mostMixed bound the classes of a mixture. The scores of two classes have one coordinate, which the
	// slope and a shift calibrate. With K classes each row takes K³/2 multiplications.
	leastMixed, mostMixed = 3, 32
	// mixtureLoss is how much worse than other models a mixture may explain a label, in the logarithm of the
	// likelihood. Scores that are p(z|x) explain labels without any T. If the mixture does not lose much, T does too.
	mixtureLoss = .01
	// mixtureSettled is the gain of the likelihood of a row that is worth no other iteration.
	mixtureSettled = 1e-5
	// pooledRows is the weight of the covariance of all classes in the covariance of each, in rows.
	pooledRows = 50.
	// ridge is the share of the mean variance that is added to each variance, and its square is added for rows that
	// are all equal.
	ridge = 1e-3
)

// mixture has a normal distribution of the scores of each class. Its K-1 coordinates are the logarithms of the scores,
// less their mean, without the last.
type mixture struct {
	means, factors [][]float64 // of each class: the mean, and the lower factor of the covariance
	heights        []float64   // of each class: the logarithm of its share and of the density at its mean
}

// mixed is directed noise with p(y|x) from a mixture, and the rows with it. It is nil if the surest rows show no
// plateau. A net that has learned a direction of the noise gives p(z|x) with errors, so the class with the highest
// score is often the wrong one. But the scores of rows of one true class lie together, and given the class, the label
// does not depend on the scores. Expectation and maximisation find both. T is counted anew in the surest rows, because
// classes that the net confuses share the other ones.
func (f *fitting) mixed(m Model, in *Input) (*Model, *fitting) {
	k := m.Classes
	if k < leastMixed || k > mostMixed {
		return nil, f
	}
	m.Noise, m.given, m.A = Directed, even(1-1/float64(k), k), maxSlope // at first the highest score counts, not labels
	m.floor = math.Log(math.SmallestNonzeroFloat32)
	f = &fitting{ctx: f.ctx, sample: sampleOf(in, &m), err: f.err}
	d, reached := k-1, math.Inf(-1)
	each := 1 + d + d*d // sums for a class: weights, coordinates, and products
	for range mostIterations {
		s := f.sum(&m, everyRow, 1+k*k+k*each, func(s []float64, r *row, z int) {
			if m.mixture == nil {
				r.centre()
				r.find(z)
			} else {
				s[0] += m.mixture.judge(r) + math.Log(r.find(z))
			}
			for y, p := range r.posterior {
				s[1+z*k+y] += p
				own := s[1+k*k+y*each:][:each]
				own[0] += p
				for i, v := range r.centred {
					own[1+i] += p * v
					for j, w := range r.centred[:i+1] {
						own[1+d+i*d+j] += p * v * w
					}
				}
			}
		})
		if f.err != nil {
			break
		}
		settled := m.mixture != nil && s[0]-reached < mixtureSettled*float64(len(f.labels))
		m.given, m.Pooled = drawn(s[1:1+k*k], k)
		if m.mixture != nil {
			reached = s[0]
		}
		m.mixture, m.A = mixtureOf(s[1+k*k:], k), 1
		if settled {
			break
		}
	}
	own := &fitting{ctx: f.ctx, sample: sampleOf(in, &m), err: f.err}
	seen := &Input{Rows: len(own.labels), Classes: k, Scores: make([]float32, len(own.logs)), Labels: own.labels}
	for i, l := range own.logs {
		seen.Scores[i] = float32(math.Exp(float64(l)))
	}
	return own.plateau(m, seen, surest(seen, 1)), own
}

func mixtureOf(s []float64, k int) *mixture {
	d := k - 1
	each := len(s) / k
	g, pooled, all := &mixture{heights: make([]float64, k)}, make([]float64, d*d), 0.
	for y := range k {
		own := s[y*each:][:each]
		n, mean, products := own[0], own[1:1+d], own[1+d:]
		all += n
		for i := range mean {
			mean[i] /= max(n, leastLikelihood)
			for j := range i + 1 {
				products[i*d+j] -= n * mean[i] * mean[j]
				pooled[i*d+j] += products[i*d+j]
			}
		}
		g.means, g.factors = append(g.means, mean), append(g.factors, products)
	}
	trace := 0.
	for i := range d {
		trace += pooled[i*d+i]
	}
	for i := range d {
		pooled[i*d+i] += ridge*trace/float64(d) + ridge*ridge*all
	}
	for y, products := range g.factors {
		n := s[y*each]
		for i, p := range pooled {
			products[i] = (products[i] + pooledRows*p/all) / (n + pooledRows)
		}
		rates.Cholesky(products, d)
		g.heights[y] = math.Log(n + 1)
		for i := range d {
			g.heights[y] -= math.Log(products[i*d+i])
		}
	}
	return g
}

func (r *row) centre() {
	mean := 0.
	for _, l := range r.logs {
		mean += l / float64(len(r.logs))
	}
	for i := range r.centred {
		r.centred[i] = r.logs[i] - mean
	}
}

// judge replaces the scores of a row by log p(y|x). It returns the logarithm of the density of the scores, up to a
// constant.
func (g *mixture) judge(r *row) float64 {
	r.centre()
	top := math.Inf(-1)
	for y, mean := range g.means {
		for i, v := range r.centred {
			r.off[i] = v - mean[i]
		}
		rates.Forward(g.factors[y], r.off)
		r.logs[y] = g.heights[y]
		for _, v := range r.off {
			r.logs[y] -= v * v / 2
		}
		top = max(top, r.logs[y])
	}
	sum := 0.
	for _, l := range r.logs {
		sum += math.Exp(l - top)
	}
	sum = top + math.Log(sum)
	for y, l := range r.logs {
		r.logs[y] = max(l-sum, math.Log(scoreFloor))
	}
	return sum
}
