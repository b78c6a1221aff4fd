package model

import (
	"nmn/kernels/conv"
	"nmn/kernels/tensor"
)

// planAhead makes the backend plan its convolutions while the pictures of the first batch are still on their
// way: the forward pass first, then the gradients from the last layer down. It does nothing for backends
// without such plans.
func (n *Net) planAhead(p *Plan, training bool) {
	planner, ok := n.backend.(conv.Planner)
	if !ok || len(p.chunks) == 0 {
		return
	}
	c := &p.chunks[0]
	var down, up []conv.Call
	add := func(l *layer, x, y output, mask *tensor.Tensor, params conv.Params, above bool) {
		if training && l.w.G != nil {
			down = append(down, conv.Call{Pass: conv.FilterGradient, X: x.y, W: l.w.G, Y: y.dy, Params: l.params()})
		}
		if training && above {
			down = append(down, conv.Call{Pass: conv.DataGradient, X: x.dy, W: l.w.Filter(), Y: y.dy, Mask: mask,
				Params: l.params()})
		}
		up = append(up, conv.Call{Pass: conv.Forward, X: x.y, W: l.w.Filter(), Y: y.y, Bias: l.b.W, Params: params})
	}
	for i, u := range n.units {
		if u.Kind != Convolution {
			continue
		}
		x, params := c.at(u.X), u.params()
		var mask *tensor.Tensor
		if u.final {
			mask = u.below.mask(x)
		}
		params.ReLU = u.ReLU
		add(&u.layer, x, c.maps[i], mask, params, n.needed[u.X])
	}
	lowest := n.lowest()
	for i := range n.fc {
		l := &n.fc[i]
		x, mask := n.belowHead(c, i)
		y, params := output{c.logits, c.dLogits}, l.params()
		if i < len(c.hidden) {
			y, params.ReLU = c.hidden[i], true
		}
		add(l, x, y, mask, params, len(n.units)+i > lowest)
	}
	for i := len(down) - 1; i >= 0; i-- {
		up = append(up, down[i])
	}
	planner.Ahead(up)
}
