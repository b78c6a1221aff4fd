package noise

import (
	"math"

	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// excluding is a worker's memory for one bag whose classes exclude each other.
type excluding struct {
	o, p, q []float64 // of each class: logit of the bag, p(y=k|I) and 1 - p(y=k|I)
	d, rho  []float64 // gradient and posterior
	top     int       // class with the largest logit
	second  float64   // largest logit of the other classes
	others  float64   // sum of exp(o - second) over the other classes
	small   float64   // the same relative to the top: sum of exp(o - o[top])
}

// exclusiveStep is NoiseStep for checked tensors of classes that exclude each other. A block is a bag.
func (c *CPU) exclusiveStep(out StepOutput, g geometry) {
	if c.excluding == nil {
		c.excluding = make([]excluding, c.workers.Threads())
		c.exclusiveBlock = c.runExclusiveBlock
	}
	for i := range c.excluding {
		w := &c.excluding[i]
		w.o, w.p, w.q = tensor.Grow(w.o, g.K), tensor.Grow(w.p, g.K), tensor.Grow(w.q, g.K)
		w.d, w.rho = tensor.Grow(w.d, g.K), tensor.Grow(w.rho, g.K)
	}
	c.bagLosses = out.Loss.Float32s()
	c.workers.Run(g.N, c.exclusiveBlock)
	c.bagLosses = nil
}

func (c *CPU) runExclusiveBlock(worker, bag int) {
	j, w := &c.step, &c.excluding[worker]
	lo, hi := frames(j.offsets, bag)
	lo, hi = lo*j.Cells(), hi*j.Cells()
	w.join(j.logits[lo*j.K:hi*j.K], hi-lo)
	w.softmax()
	row := func(of []float32) []float32 {
		if of == nil {
			return nil
		}
		return of[bag*j.K:][:j.K]
	}
	loss := w.decide(row(j.labels), j.confidence)
	if c.bagLosses != nil {
		c.bagLosses[bag] = float32(j.weight(bag) * loss)
	}
	store(row(j.prob), w.p)
	store(row(j.posterior), w.rho)
	if to := row(j.observed); to != nil {
		store(to, w.observed(j.confidence))
	}
	if to := row(j.bagLogits); to != nil {
		for k := range to {
			to[k] = float32(w.logit(k))
		}
	}
	if j.dLogits == nil {
		return
	}
	scale := j.scale(bag) / float64(hi-lo)
	for i := lo; i < hi; i++ {
		for k, d := range w.d {
			j.dLogits[i*j.K+k] = float32(scale * d)
		}
	}
}

func store(to []float32, from []float64) {
	for k := range to {
		to[k] = float32(from[k])
	}
}

// join computes the mean logits of instances.
func (w *excluding) join(logits []float32, instances int) {
	clear(w.o)
	for ; len(logits) > 0; logits = logits[len(w.o):] {
		for k := range w.o {
			w.o[k] += float64(logits[k])
		}
	}
	if instances > 1 {
		for k := range w.o {
			w.o[k] /= float64(instances)
		}
	}
}

// softmax computes p and 1-p. The largest logit is kept apart, so that the digits of a small 1-p are kept.
func (w *excluding) softmax() {
	w.top, w.second, w.others = 0, math.Inf(-1), 0
	for k, o := range w.o {
		if o > w.o[w.top] {
			w.top = k
		}
	}
	for k, o := range w.o {
		if k != w.top {
			w.second = max(w.second, o)
		}
	}
	for k, o := range w.o {
		if k != w.top {
			w.others += simd.ExpNegative(o - w.second)
		}
	}
	top := w.o[w.top]
	w.small = w.others * simd.ExpNegative(w.second-top)
	total := 1 + w.small
	for k, o := range w.o {
		e := simd.ExpNegative(o - top)
		w.p[k], w.q[k] = e/total, (1+(w.small-e))/total
	}
	w.p[w.top], w.q[w.top] = 1/total, w.small/total
}

// logit is log p - log(1-p) of a class.
func (w *excluding) logit(k int) float64 {
	if k == w.top {
		return w.o[k] - w.second - math.Log(w.others)
	}
	top := w.o[w.top]
	return w.o[k] - top - math.Log1p(w.small-simd.ExpNegative(w.o[k]-top))
}

// decide computes the gradient by the logits of the bag and the posterior, and returns the loss. z is the
// distribution of the observed class, nil for none. t is the transition matrix, nil for none.
func (w *excluding) decide(z, t []float32) (loss float64) {
	clear(w.d)
	if z == nil {
		return 0
	}
	for _, label := range z {
		if label == Unknown {
			copy(w.rho, w.p)
			return 0 * w.p[0]
		}
	}
	clear(w.rho)
	for k, label := range z {
		switch {
		case label == 0:
		case t == nil:
			loss += w.clean(k, float64(label))
		default:
			loss += w.noisy(k, float64(label), t)
		}
	}
	return loss
}

// clean adds the cross-entropy of a class that is observed with weight z.
func (w *excluding) clean(k int, z float64) float64 {
	w.rho[k] += z
	for y, p := range w.p {
		if y != k {
			w.d[y] += z * p
		}
	}
	w.d[k] -= z * w.q[k]
	return z * (w.o[w.top] - w.o[k] + math.Log1p(w.small))
}

// noisy adds the loss of a class that is observed with weight z through the transition matrix t. With s =
// p(z=k|I), dL/do_y = p_y (s - t_yk) / s. The difference is taken to the row of the top class, so that it does
// not cancel if one class has nearly all probability.
func (w *excluding) noisy(k int, z float64, t []float32) float64 {
	classes := len(w.p)
	reference := float64(t[w.top*classes+k])
	s, miss, difference := 0.0, 0.0, 0.0
	for y, p := range w.p {
		hit := float64(t[y*classes+k])
		s += p * hit
		miss += p * (1 - hit)
		difference += p * (hit - reference)
	}
	for y, p := range w.p {
		hit := float64(t[y*classes+k])
		w.d[y] += z * p * ((reference - hit) + difference) / s
		w.rho[y] += z * p * hit / s
	}
	return z * natsOf(s, miss)
}

// observed is p(z=k|I) of each class, in memory that decide no longer needs.
func (w *excluding) observed(t []float32) []float64 {
	if t == nil {
		return w.p
	}
	clear(w.rho)
	for y, p := range w.p {
		for k, hit := range t[y*len(w.p):][:len(w.p)] {
			w.rho[k] += p * float64(hit)
		}
	}
	return w.rho
}
