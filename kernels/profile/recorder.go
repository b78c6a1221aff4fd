package profile

import (
	"errors"
	"fmt"
	"time"

	"nmn/kernels"
	"nmn/kernels/tensor"
)

// Recorder does the operations of a backend and times those between Begin and End. It only has the methods of
// Backend: a graphics card captures no step through it.
type Recorder struct {
	tensor.Device
	backend kernels.Backend
	clock   clock

	names     map[*tensor.Tensor]string // layers of weights, their gradients, outputs, and seeds of dropout
	recording bool
	pools     int  // max pools of the step so far
	step      []Op // operations of the step so far
	ops       []Op // operations of all steps
}

var _ kernels.Backend = (*Recorder)(nil)

// clock takes the time of a device, as kernels.Card does.
type clock interface {
	Mark(number int) error
	Between(first, last int) (time.Duration, error)
}

// New makes a recorder of a backend, which stays the caller's to close.
func New(backend kernels.Backend) *Recorder {
	r := &Recorder{Device: backend, backend: backend, clock: &hostClock{device: backend},
		names: map[*tensor.Tensor]string{}}
	if card, ok := backend.(kernels.Card); ok {
		r.clock = card
	}
	return r
}

// Label names the layer that weights or their gradient belong to.
func (r *Recorder) Label(t *tensor.Tensor, layer string) { r.names[t] = layer }

// Begin starts to record a step.
func (r *Recorder) Begin() error {
	r.recording, r.pools, r.step = true, 0, nil
	return r.clock.Mark(0)
}

// End waits for the step and adds its times. The step must do the same as those before.
func (r *Recorder) End() error {
	r.recording = false
	if err := r.backend.Sync(); err != nil {
		return err
	}
	first := r.ops == nil
	if !first && len(r.step) != len(r.ops) {
		return fmt.Errorf("profile: a step of %d operations after one of %d", len(r.step), len(r.ops))
	}
	for i := range r.step {
		took, err := r.clock.Between(i, i+1)
		if err != nil {
			return err
		}
		if !first {
			if !r.step[i].same(&r.ops[i]) {
				return fmt.Errorf("profile: operation %d is %v, in the first step it was %v", i+1, &r.step[i], &r.ops[i])
			}
			r.ops[i].Times = append(r.ops[i].Times, took)
			continue
		}
		r.step[i].Times = append(r.step[i].Times, took)
		if explain := r.step[i].explain; explain != nil {
			r.step[i].Algorithm = explain()
		}
	}
	if first {
		r.ops = r.step
	}
	return nil
}

// Ops returns the operations of a step in their order, with the times of all steps.
func (r *Recorder) Ops() []Op { return r.ops }

// do enqueues an operation and writes it down.
func (r *Recorder) do(o Op, enqueue func() error) error {
	if err := enqueue(); err != nil || !r.recording {
		return err
	}
	r.step = append(r.step, o)
	return r.clock.Mark(len(r.step))
}

// layer is the name of a tensor's layer.
func (r *Recorder) layer(t *tensor.Tensor) string {
	if name, known := r.names[t]; known {
		return name
	}
	return "unnamed"
}

// hostClock is the clock of a device that has none: it waits.
type hostClock struct {
	device tensor.Device
	marks  []time.Time
}

func (c *hostClock) Mark(number int) error {
	if err := c.device.Sync(); err != nil {
		return err
	}
	for len(c.marks) <= number {
		c.marks = append(c.marks, time.Time{})
	}
	c.marks[number] = time.Now()
	return nil
}

func (c *hostClock) Between(first, last int) (time.Duration, error) {
	if first < 0 || last < first || last >= len(c.marks) {
		return 0, errors.New("profile: no such marks")
	}
	return c.marks[last].Sub(c.marks[first]), nil
}
