package train

import "nmn/kernels/tensor"

// Begin sets the learning rate of a step of one batch. On a device that records work it uploads the inputs
// that change from step to step. It reports whether the update has the usual shape. An update in which a
// parameter rests, at a rate of 0, must neither be recorded nor replayed.
func (o *Optimizer) Begin(rate float64) (usual bool, err error) {
	err = o.begin(rate, 1)
	return !o.resting(), err
}

// Measure enqueues computing the Euclidean norm of the gradient of all parameters. It is not finite if any
// number of the gradient is not. norm is one float32 on the device.
func (o *Optimizer) Measure(norm *tensor.Tensor) error { return o.measure(norm) }

// Update enqueues clipping the gradients that Measure has seen, and changing the parameters.
func (o *Optimizer) Update(norm *tensor.Tensor) error { return o.update(norm) }

// End counts the step once its update has been enqueued, and enqueues the averages.
func (o *Optimizer) End() error { return o.advance() }
