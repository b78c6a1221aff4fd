package update

import "math"

// adamConstants are the constants of a step: 1-β and the bias corrections are rounded once, from
// float64.
type adamConstants struct {
	beta1, rest1, beta2, rest2 float32
	correct1, correct2         float32 // 1/(1-β^Step)
	epsilon                    float32
}

// constants computes them from parameters that FitAdam has accepted.
func (p AdamParams) constants() adamConstants {
	beta1, beta2 := float64(p.Beta1), float64(p.Beta2)
	return adamConstants{
		beta1: p.Beta1, rest1: float32(1 - beta1), beta2: p.Beta2, rest2: float32(1 - beta2),
		correct1: float32(1 / (1 - math.Pow(beta1, float64(p.Step)))),
		correct2: float32(1 / (1 - math.Pow(beta2, float64(p.Step)))),
		epsilon:  p.Epsilon,
	}
}

// Adam implements Ops.
func (c *CPU) Adam(entries []Entry, p AdamParams) error {
	if err := FitAdam(p); err != nil {
		return err
	}
	if err := c.cut("adam", entries, UseG|UseW|UseM|UseV); err != nil {
		return err
	}
	c.job.adam = p.constants()
	c.workers.Run(len(c.job.runs), c.adamBlock)
	c.release()
	return nil
}

func (c *CPU) runAdamBlock(_, block int) {
	r, p := &c.job.runs[block], c.job.adam
	grad := r.g
	w, m, v := r.w[:len(grad)], r.m[:len(grad)], r.v[:len(grad)]
	for i := range grad {
		g := grad[i] + r.decay*w[i]
		m[i] = p.beta1*m[i] + p.rest1*g
		v[i] = p.beta2*v[i] + p.rest2*g*g
		w[i] -= r.lr * (m[i] * p.correct1) / (float32(math.Sqrt(float64(v[i]*p.correct2))) + p.epsilon)
	}
}
