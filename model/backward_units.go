package model

import (
	"slices"

	"nmn/kernels/pool"
	"nmn/kernels/tensor"
)

// lowest is the position of the first layer that learns, counted over the units of the backbone and then the
// layers of the head.
func (n *Net) lowest() int {
	position := slices.IndexFunc(n.units, func(u *unit) bool { return u.learns() })
	if position >= 0 {
		return position
	}
	head := slices.IndexFunc(n.fc, func(l layer) bool { return l.learns() })
	if head < 0 {
		head = len(n.fc)
	}
	return len(n.units) + head
}

// learns reports whether a parameter of a layer learns. A pool has no parameters.
func (l *layer) learns() bool { return l.w != nil && (l.w.G != nil || l.b.G != nil) }

// findNeeded finds the maps whose gradient is needed because something learns below them.
func (n *Net) findNeeded() {
	n.needed = make([]bool, len(n.units)+1)
	for i, u := range n.units {
		n.needed[i+1] = u.learns() || n.needed[u.X] || n.needed[u.Shortcut]
	}
}

// mask is the mask of a unit's output gradient: the output of its ReLU. The gradient of a pool masks by
// itself.
func (u *unit) mask(out output) *tensor.Tensor {
	if u != nil && u.Kind == Convolution && u.ReLU {
		return out.y
	}
	return nil
}

// biasAbove reports whether the unit above takes the gradient of a unit's bias along.
func (u *unit) biasAbove() bool {
	return u != nil && u.Kind == Convolution && u.alone && u.b.G != nil
}

// backwardUnits sends the gradient of the last feature map down to the lowest unit that learns.
func (n *Net) backwardUnits(c *chunk, o StepOptions, lowest int) error {
	layer := len(n.fc) // of Gradients
	for i := len(n.units) - 1; i >= lowest; i-- {
		u := n.units[i]
		if u.Kind != Convolution {
			n.sections.begin(backwardPass, u.below.name) // with its pool
			if err := n.backwardPool(c, u, c.maps[i], o); err != nil {
				return err
			}
			continue
		}
		layer++
		n.sections.begin(backwardPass, u.name)
		learn := n.paramGradients
		if u.biasAbove() {
			learn = n.filterGradient
		}
		if err := learn(&u.layer, c.at(u.X).y, c.maps[i].dy, o); err != nil {
			return err
		}
		if err := o.done(layer); err != nil {
			return err
		}
		if n.needed[u.X] {
			if err := n.backwardConv(c, u, c.maps[i].dy, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// backwardConv computes the gradient of a convolution's input, or adds to the gradient from the units above.
// The gradient of its shortcut is dy, which shares its memory.
func (n *Net) backwardConv(c *chunk, u *unit, dy *tensor.Tensor, o StepOptions) error {
	x, params := c.at(u.X), u.params()
	var mask *tensor.Tensor
	if u.final {
		mask = u.below.mask(x)
	}
	if u.below.biasAbove() {
		params.Accumulate = o.Accumulate // of the bias; nothing else adds to dx
		return n.backend.ConvGradDataBias(x.dy, u.below.b.G, dy, u.w.Filter(), mask, params)
	}
	params.Accumulate = !u.first
	return n.backend.ConvGradData(x.dy, dy, u.w.Filter(), mask, params)
}

// backwardPool goes through a pool and the ReLU below it, and takes the bias gradient of the convolution below that
// along, whose output gradient it writes.
func (n *Net) backwardPool(c *chunk, u *unit, out output, o StepOptions) error {
	x := c.at(u.X)
	if !u.below.biasAbove() {
		if u.Kind == MaxPool3 {
			return n.backend.MaxPool3Grad(x.dy, out.dy, x.y, out.y, true)
		}
		return n.backend.MaxPoolGrad(x.dy, out.dy, x.y, out.y, true)
	}
	params := pool.MaxGradParams{ReLU: true, Accumulate: o.Accumulate}
	if u.Kind == MaxPool3 {
		return n.backend.MaxPool3GradBias(x.dy, u.below.b.G, out.dy, x.y, out.y, params)
	}
	return n.backend.MaxPoolGradBias(x.dy, u.below.b.G, out.dy, x.y, out.y, params)
}
