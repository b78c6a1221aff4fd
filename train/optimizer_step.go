package train

import "nmn/kernels/tensor"

// Begin sets the learning rate of a step of one batch. On a device that records work it uploads what changes from
// step to step. It reports whether the update is of the usual shape: one in which a parameter rests, at a rate of 0,
// must not be recorded, nor replayed.
func (o *Optimizer) Begin(rate float64) (usual bool, err error) {
	err = o.begin(rate, 1)
	return !o.resting(), err
}

// Measure enqueues computing the Euclidean norm of the gradient of all parameters, which is not finite when any
// number of it is not. norm is one float32 on the device.
func (o *Optimizer) Measure(norm *tensor.Tensor) error { return o.measure(norm) }

// Update enqueues clipping the gradients that Measure has seen, and changing the parameters.
func (o *Optimizer) Update(norm *tensor.Tensor) error { return o.update(norm) }

// End counts the step once its update has been enqueued, and enqueues the averages.
func (o *Optimizer) End() error { return o.advance() }
