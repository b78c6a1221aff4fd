package multiclass

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"nmn/group"
)

// parts are what rows are cut into for sums, whatever the number of processors.
const parts = 8

// sums are what an iteration takes from rows.
type sums struct {
	counts     []float64 // K×K, sum of ρ_y over rows with label z
	expected   []float64 // K, sum of p(y|x)
	gradient   float64   // of the slope
	curvature  float64
	likelihood float64 // log p(z|x)
}

func newSums(k int) *sums { return &sums{counts: make([]float64, k*k), expected: make([]float64, k)} }

// numbers are all sums, one after the other.
func (s *sums) numbers() []float64 {
	return append(slices.Concat(s.counts, s.expected), s.gradient, s.curvature, s.likelihood)
}

// sumsOf are the sums of numbers.
func sumsOf(all []float64, k int) *sums {
	rest := all[k*k+k:]
	return &sums{all[:k*k], all[k*k : k*k+k], rest[0], rest[1], rest[2]}
}

// sample holds every stride-th row whose label is known, of the parts that are this rank's.
type sample struct {
	stride int
	parts  [][2]int // of this rank: the first of labels and the one behind the last
	scores []float32
	logs   []float32 // that the model being fitted makes of them
	labels []int32
}

func sampleOf(in *Input, ranks group.Group) *sample {
	known := in.known()
	d := &sample{stride: max(1, len(known)/max(fitCells/in.Classes, fitRows))}
	n := (len(known) + d.stride - 1) / d.stride // of all ranks
	first, last := group.Share(ranks, parts)
	start := first * n / parts
	for part := first; part < last; part++ {
		d.parts = append(d.parts, [2]int{part*n/parts - start, (part+1)*n/parts - start})
	}
	for i := start; i < last*n/parts; i++ {
		row := int(known[i*d.stride])
		d.labels = append(d.labels, in.Labels[row])
		d.scores = append(d.scores, in.Scores[row*in.Classes:(row+1)*in.Classes]...)
	}
	return d
}

func logOf(p float64) float64 {
	if p == 0 {
		return leastLog
	}
	return max(math.Log(p), leastLog)
}

// pass makes an E-step.
func (m *Model) pass(ctx context.Context, d *sample) (*sums, error) {
	own := make([][]float64, len(d.parts))
	var wait sync.WaitGroup
	for part, of := range d.parts {
		wait.Go(func() {
			s, row := newSums(m.Classes), m.newRow()
			defer func() { own[part] = s.numbers() }()
			for i := of[0]; i < of[1]; i++ {
				if i%1024 == 0 && ctx.Err() != nil {
					return
				}
				z := int(d.labels[i])
				for y, l := range d.logs[i*m.Classes:][:m.Classes] {
					row.logs[y] = float64(l)
				}
				s.likelihood += math.Log(row.find(z))
				s.count(row, z)
			}
		})
	}
	wait.Wait()
	all, err := group.SumBlocks(m.ranks, own, ctx.Err())
	if err != nil {
		return nil, fmt.Errorf("audit of classes: %w", err)
	}
	return sumsOf(all, m.Classes), nil
}

// count takes a row in.
func (s *sums) count(r *row, z int) {
	k := len(r.p)
	mean, squares := 0.0, 0.0
	for y, p := range r.p {
		s.counts[y*k+z] += r.posterior[y]
		s.expected[y] += p
		s.gradient += (r.posterior[y] - p) * r.logs[y]
		mean += p * r.logs[y]
		squares += p * r.logs[y] * r.logs[y]
	}
	s.curvature += squares - mean*mean
}

// row is the working memory for one row.
type row struct {
	m                  *Model
	logs, p, posterior []float64
	unmixed            []float32
}

func (m *Model) newRow() *row {
	of := func() []float64 { return make([]float64, m.Classes) }
	return &row{m, of(), of(), of(), make([]float32, m.Classes)}
}

// set takes the scores of a row.
func (r *row) set(scores []float32) {
	if r.m.Inverse == nil {
		for y, p := range scores {
			r.logs[y] = logOf(float64(p))
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
	for y, l := range r.logs {
		r.p[y] = m.A*l + m.B[y]
		top = max(top, r.p[y])
	}
	sum := 0.0
	for y, o := range r.p {
		r.p[y] = math.Exp(o - top)
		sum += r.p[y]
	}
	of := 0.0
	for y := range r.p {
		r.p[y] /= sum
		r.posterior[y] = r.p[y] * m.T[y*m.Classes+z]
		of += r.posterior[y]
	}
	of = max(of, 1e-300)
	for y := range r.posterior {
		r.posterior[y] /= of
	}
	return of
}
