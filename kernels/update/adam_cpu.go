package update

import (
	"math"

	"nmn/kernels/simd"
)

// constants computes the inputs of a step of Adam from parameters that fitAdam has accepted, on every device:
// 1-β and the bias corrections are rounded once, from float64.
func (p AdamParams) constants() simd.AdamStep {
	beta1, beta2 := float64(p.Beta1), float64(p.Beta2)
	return simd.AdamStep{
		Beta1: p.Beta1, Rest1: float32(1 - beta1), Beta2: p.Beta2, Rest2: float32(1 - beta2),
		Correct1: float32(1 / (1 - math.Pow(beta1, float64(p.Step)))),
		Correct2: float32(1 / (1 - math.Pow(beta2, float64(p.Step)))),
		Epsilon:  p.Epsilon,
	}
}

// Adam implements Ops.
func (c *CPU) Adam(entries []Entry, p AdamParams) error {
	return c.adam("adam", entries, p, c.adamBlock)
}

// AdamW implements Ops.
func (c *CPU) AdamW(entries []Entry, p AdamParams) error {
	return c.adam("adamw", entries, p, c.adamWBlock)
}

func (c *CPU) adam(operation string, entries []Entry, p AdamParams, block func(worker, block int)) error {
	if err := fitAdam(p); err != nil {
		return err
	}
	c.job.adam = p.constants()
	return c.apply(operation, entries, UseG|UseW|UseM|UseV, block)
}

func (c *CPU) runAdamBlock(_, block int) {
	r, p := &c.job.runs[block], c.job.adam
	p.LR, p.Decay = r.lr, r.decay
	c.level.Adam(r.w, r.g, r.m, r.v, &p)
}

func (c *CPU) runAdamWBlock(_, block int) {
	r, p := &c.job.runs[block], c.job.adam
	p.LR, p.Decay = r.lr, r.decay
	c.level.AdamW(r.w, r.g, r.m, r.v, &p)
}
