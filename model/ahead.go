package model

import (
	"nmn/kernels/conv"
	"nmn/kernels/tensor"
)

// planAhead has a backend that makes plans for convolutions begin with those of a batch, while its pictures are still
// on their way: the forward pass first, then the gradients from the last layer down.
func (n *Net) planAhead(p *Plan, training bool) {
	planner, ok := n.backend.(conv.Planner)
	if !ok || len(p.chunks) == 0 {
		return
	}
	c := &p.chunks[0]
	var down, up []conv.Call
	flat, lowest := 0, n.lowest(false)
	add := func(l layer, x, y output, mask *tensor.Tensor, relu bool) {
		params := conv.Params{Pad: l.pad}
		if training && l.w.G != nil {
			down = append(down, conv.Call{Pass: conv.FilterGradient, X: x.y, W: l.w.G, Y: y.dy, Params: params})
		}
		if training && flat > lowest {
			down = append(down, conv.Call{Pass: conv.DataGradient, X: x.dy, W: l.w.Filter(), Y: y.dy, Mask: mask, Params: params})
		}
		params.ReLU = relu
		up = append(up, conv.Call{Pass: conv.Forward, X: x.y, W: l.w.Filter(), Y: y.y, Bias: l.b.W, Params: params})
		flat++
	}
	for i, block := range n.blocks {
		for j, l := range block {
			x, mask := n.below(c, i, j)
			add(l, x, c.convs[i][j], mask, true)
		}
	}
	for i, l := range n.fc {
		x, mask := n.belowHead(c, i)
		y := output{c.logits, c.dLogits}
		if i < len(c.hidden) {
			y = c.hidden[i]
		}
		add(l, x, y, mask, i < len(c.hidden))
	}
	for i := len(down) - 1; i >= 0; i-- {
		up = append(up, down[i])
	}
	planner.Ahead(up)
}
