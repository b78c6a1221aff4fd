package multiclass

import (
	"math"

	"nmn/internal/parallel"
	"nmn/kernels/simd"
)

// parts are what rows are cut into for sums, whatever the number of processors.
const parts = 8

// Sums over rows that a pass computes: the likelihood, and the gradients and squares of gradients of the
// log-odds of the rate, of the logarithm of the slope, and of each shift; then, if T is free, its cells by
// label.
const (
	likelihood = iota
	wrong
	wrongSquare
	slope
	slopeSquare
	cross // product of the gradients of rate and slope
	shift
)

// sumsOf is how many sums there are but for cells.
func sumsOf(k int) int { return shift + 2*k }

// everyRow is the side of all rows. A row that is held out for the fit to side 0 is on side 1, and vice
// versa.
const everyRow = 2

// sample holds every stride-th row whose label is known.
type sample struct {
	stride int
	logs   []float32
	labels []int32
	sides  []uint8
}

func sampleOf(in *Input, m *Model) *sample {
	known, k := in.known(), in.Classes
	d := &sample{stride: max(1, len(known)/max(fitCells/k, fitRows))}
	own := m.newRow()
	for at := 0; at < len(known); at += d.stride {
		row := int(known[at])
		own.set(in.Scores[row*k : (row+1)*k])
		for _, l := range own.logs {
			d.logs = append(d.logs, float32(l))
		}
		d.labels = append(d.labels, in.Labels[row])
		d.sides = append(d.sides, sideOf(uint64(len(d.sides))))
	}
	return d
}

// sideOf deals rows to sides, whatever order they have: a bit of the finaliser of SplitMix64.
func sideOf(i uint64) uint8 {
	i = (i + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9
	i = (i ^ i>>27) * 0x94d049bb133111eb
	return uint8(i >> 63)
}

// sum adds up what add makes of the rows of a side, in the same order on any number of processors.
func (f *fitting) sum(m *Model, side, size int, add func(sums []float64, r *row, z int)) []float64 {
	if f.err != nil {
		return make([]float64, size)
	}
	var own [parts][]float64
	n := len(f.labels)
	f.err = parallel.Run(f.ctx, parts, 0, func() func(int) {
		r := m.newRow()
		return func(part int) {
			sums := make([]float64, size)
			own[part] = sums
			for i := part * n / parts; i < (part+1)*n/parts; i++ {
				if i%1024 == 0 && f.ctx.Err() != nil {
					return
				}
				if side != everyRow && int(f.sides[i]) != side {
					continue
				}
				for y, l := range f.logs[i*m.Classes:][:m.Classes] {
					r.logs[y] = float64(l)
				}
				add(sums, r, int(f.labels[i]))
			}
		}
	})
	all := make([]float64, size)
	if f.err != nil {
		return all
	}
	for _, sums := range own {
		for i, v := range sums {
			all[i] += v
		}
	}
	return all
}

// pass sums up gradients.
func (f *fitting) pass(m *Model, side int) []float64 {
	k := m.Classes
	size := sumsOf(k)
	if m.freeT() {
		size += k * k
	}
	return f.sum(m, side, size, func(s []float64, r *row, z int) {
		s[likelihood] += math.Log(r.find(z))
		gradients, squares, of := s[shift:][:k], s[shift+k:][:k], 0.
		for y, p := range r.p {
			g := r.posterior[y] - p
			gradients[y] += g
			squares[y] += g * g
			of += g * r.logs[y]
		}
		of *= m.A
		s[slope] += of
		s[slopeSquare] += of * of
		rate := 1 - r.posterior[z] - m.rate
		s[wrong] += rate
		s[wrongSquare] += rate * rate
		s[cross] += rate * of
		if m.freeT() {
			for y, p := range r.posterior {
				s[sumsOf(k)+z*k+y] += p
			}
		}
	})
}

// expected is how many rows of each class there are.
func (f *fitting) expected(m *Model) []float64 {
	out := f.sum(m, everyRow, m.Classes, func(s []float64, r *row, z int) {
		r.judge(z)
		for y, p := range r.posterior {
			s[y] += p
		}
	})
	for y := range out {
		out[y] *= float64(f.stride)
	}
	return out
}

// leastLikelihood is the least likelihood of a label.
const leastLikelihood = 1e-300

// row is the working memory for one row.
type row struct {
	m                  *Model
	logs, p, posterior []float64
	centred, off       []float64 // coordinates of a mixture, and their differences from a mean
	unmixed            []float32
}

func (m *Model) newRow() *row {
	of := func() []float64 { return make([]float64, m.Classes) }
	return &row{m: m, logs: of(), p: of(), posterior: of(), centred: of()[1:], off: of()[1:],
		unmixed: make([]float32, m.Classes)}
}

func (r *row) set(scores []float32) {
	if r.m.Inverse == nil {
		for y, p := range scores {
			r.logs[y] = r.m.floor
			if p > 0 {
				r.logs[y] = max(math.Log(float64(p)), r.m.floor)
			}
		}
		if r.m.mixture != nil {
			r.m.mixture.judge(r)
		}
		return
	}
	clear(r.unmixed)
	for z, p := range scores {
		r.m.level.AddScaled(r.unmixed, r.m.Inverse[z*r.m.Classes:(z+1)*r.m.Classes], p)
	}
	for y, p := range r.unmixed {
		r.logs[y] = math.Log(max(float64(p), leastUnmixed))
	}
}

// find computes p(y|x) and, given the label z, ρ_y; it returns p(z|x).
func (r *row) find(z int) float64 {
	m, top := r.m, math.Inf(-1)
	k := m.Classes
	p, posterior, shifts := r.p[:k], r.posterior[:k], m.B[:k]
	for y, l := range r.logs[:k] {
		p[y] = m.A*l + shifts[y]
		top = max(top, p[y])
	}
	sum := 0.
	for y, o := range p {
		p[y] = simd.ExpNegative(o - top)
		sum += p[y]
	}
	of, scale := 0., 1/sum
	if m.given != nil {
		for y, t := range m.given[z*k : (z+1)*k] {
			p[y] *= scale
			posterior[y] = p[y] * t
			of += posterior[y]
		}
		of = max(of, leastLikelihood)
		for y := range posterior {
			posterior[y] /= of
		}
		return of
	}
	label, other := p[z]*scale, m.rate/float64(k-1)
	own := label * (1 - m.rate)
	of = max(own+(1-label)*other, leastLikelihood)
	other /= of
	for y := range p {
		p[y] *= scale
		posterior[y] = p[y] * other
	}
	posterior[z] = own / of
	return of
}

// judge computes p(y|x) and ρ_y given the label z, of any kind of noise.
func (r *row) judge(z int) {
	r.find(z)
	if r.m.Noise != Unknown {
		return
	}
	rival := 0.
	for y, p := range r.p {
		if y != z {
			rival = max(rival, p)
		}
	}
	// The mean of self-confidence and normalised margin orders labels no worse than either; half of one minus
	// this mean is the probability of a wrong label.
	margin := (r.p[z] - rival + 1) / 2
	doubt := (1 - (r.p[z]+margin)/2) / 2
	others := max(1-r.p[z], 1e-300)
	for y, p := range r.p {
		r.posterior[y] = doubt * p / others
	}
	r.posterior[z] = 1 - doubt
}
