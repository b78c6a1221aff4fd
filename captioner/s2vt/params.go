package s2vt

import (
	"fmt"

	"nmn/kernels/tensor"
	"nmn/model/param"
)

// weight is a parameter, named embed.w, embed.b, lstm1.Wx, lstm1.Wh, lstm1.b, word.w, lstm2.Wx.h1 and
// lstm2.Wx.word (the columns of lstm2.Wx over h1 and over the word), lstm2.Wh, lstm2.b, out.w or out.b.
type weight struct {
	*param.Param
	filter, filterG *tensor.Tensor // a matrix and its gradient as a filter K×1×1×C; nil for a bias
}

// lstm are the parameters of a layer that stand between its own states.
type lstm struct{ wh, b *weight }

// parameters are all of them by their place in the net.
type parameters struct {
	embedW, embedB *weight // E×F, E
	wx1            *weight // 4H×E
	lstm1          lstm    // 4H×H, 4H
	word           *weight // V×D
	wx2h1, wx2word *weight // 4H×H, 4H×D
	lstm2          lstm
	outW, outB     *weight // V×H, V
}

// build makes all parameters, with 0 in them.
func (n *Net) build() error {
	c, gates := n.config, 4*n.config.Hidden
	p := &n.p
	for _, x := range []struct {
		at    **weight
		name  string
		shape []int
	}{
		{&p.embedW, "embed.w", []int{c.Embedding, c.Features}}, {&p.embedB, "embed.b", []int{c.Embedding}},
		{&p.wx1, "lstm1.Wx", []int{gates, c.Embedding}}, {&p.lstm1.wh, "lstm1.Wh", []int{gates, c.Hidden}},
		{&p.lstm1.b, "lstm1.b", []int{gates}},
		{&p.word, "word.w", []int{c.Vocabulary, c.Words}},
		{&p.wx2h1, "lstm2.Wx.h1", []int{gates, c.Hidden}}, {&p.wx2word, "lstm2.Wx.word", []int{gates, c.Words}},
		{&p.lstm2.wh, "lstm2.Wh", []int{gates, c.Hidden}}, {&p.lstm2.b, "lstm2.b", []int{gates}},
		{&p.outW, "out.w", []int{c.Vocabulary, c.Hidden}}, {&p.outB, "out.b", []int{c.Vocabulary}},
	} {
		made := &weight{Param: &param.Param{Name: x.name, File: x.name, Shape: x.shape, Bias: len(x.shape) == 1}}
		var err error
		if made.W, err = n.weights.Alloc(tensor.Float32, x.shape...); err == nil {
			made.filter, err = asFilter(made.W)
		}
		if err != nil {
			return fmt.Errorf("s2vt: cannot hold %s: %w", x.name, err)
		}
		*x.at = made
		n.all, n.params = append(n.all, made), append(n.params, made.Param)
	}
	return nil
}

// Learn makes room for gradients, which Place and optimizers need and captioning does not. Again it does
// nothing.
func (n *Net) Learn() error {
	for _, p := range n.all {
		if p.G != nil {
			continue
		}
		g, err := n.grads.Alloc(tensor.Float32, p.W.Shape()...)
		if err == nil {
			p.filterG, err = asFilter(g)
		}
		if err != nil {
			return fmt.Errorf("s2vt: cannot hold the gradient of %s: %w", p.Name, err)
		}
		p.G = g
	}
	return nil
}

// asFilter views a matrix K×C as the filter of a 1×1 convolution; nil for a bias.
func asFilter(t *tensor.Tensor) (*tensor.Tensor, error) {
	if t.Rank() != 2 {
		return nil, nil
	}
	return t.Reshape(t.Dim(0), 1, 1, t.Dim(1))
}

// Params lists all parameters from the features to the words.
func (n *Net) Params() []*param.Param { return n.params }
