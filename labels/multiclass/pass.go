package multiclass

import (
	"context"
	"fmt"
	"math"
	"sync"
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

func (s *sums) add(o *sums) {
	for i, v := range o.counts {
		s.counts[i] += v
	}
	for i, v := range o.expected {
		s.expected[i] += v
	}
	s.gradient += o.gradient
	s.curvature += o.curvature
	s.likelihood += o.likelihood
}

// sample holds every stride-th row.
type sample struct {
	stride int
	scores []float32
	logs   []float32 // that the model being fitted makes of them
	labels []int32
}

func sampleOf(in *Input) *sample {
	d := &sample{stride: max(1, in.Rows/max(fitCells/in.Classes, fitRows))}
	for i := 0; i < in.Rows; i += d.stride {
		d.labels = append(d.labels, in.Labels[i])
		d.scores = append(d.scores, in.Scores[i*in.Classes:(i+1)*in.Classes]...)
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
	n := len(d.labels)
	all := make([]*sums, parts)
	var wait sync.WaitGroup
	for part := range parts {
		wait.Go(func() {
			s, row := newSums(m.Classes), m.newRow()
			all[part] = s
			for i := part * n / parts; i < (part+1)*n/parts; i++ {
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
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("audit of classes: %w", err)
	}
	for _, s := range all[1:] {
		all[0].add(s)
	}
	return all[0], nil
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
}

func (m *Model) newRow() *row {
	return &row{m, make([]float64, m.Classes), make([]float64, m.Classes), make([]float64, m.Classes)}
}

// set takes the scores of a row.
func (r *row) set(scores []float32) {
	if r.m.Inverse == nil {
		for y, p := range scores {
			r.logs[y] = logOf(float64(p))
		}
		return
	}
	clear(r.p)
	for z, p := range scores {
		for y, v := range r.m.Inverse[z*r.m.Classes : (z+1)*r.m.Classes] {
			r.p[y] += v * float64(p)
		}
	}
	for y, p := range r.p {
		r.logs[y] = math.Log(max(p, leastUnmixed))
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
