package s2vt

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"nmn/kernels/tensor"
	"nmn/safetensors"
)

// Param is a named parameter with its gradient, on the device, both float32.
type Param struct {
	// Name is that in files: embed.w, embed.b, lstm1.Wx, lstm1.Wh, lstm1.b, word.w, lstm2.Wx.h1 and
	// lstm2.Wx.word (the columns of lstm2.Wx over h1 and over the word), lstm2.Wh, lstm2.b, out.w, out.b.
	Name string
	W    *tensor.Tensor
	G    *tensor.Tensor // nil before Net.Learn
	Bias bool           // weight decay spares it by default

	filter, filterG *tensor.Tensor // a matrix as a filter K×1×1×C; nil for a bias
}

// lstm are the parameters of a layer that stand between its own states.
type lstm struct{ wh, b *Param }

// parameters are all of them by their place in the net.
type parameters struct {
	embedW, embedB *Param // E×F, E
	wx1            *Param // 4H×E
	lstm1          lstm   // 4H×H, 4H
	word           *Param // V×D
	wx2h1, wx2word *Param // 4H×H, 4H×D
	lstm2          lstm
	outW, outB     *Param // V×H, V
}

// build makes all parameters, with 0 in them.
func (n *Net) build() error {
	c, gates := n.config, 4*n.config.Hidden
	p := &n.p
	for _, x := range []struct {
		at    **Param
		name  string
		shape []int
	}{
		{&p.embedW, "embed.w", []int{c.Embedding, c.Features}}, {&p.embedB, "embed.b", []int{c.Embedding}},
		{&p.wx1, "lstm1.Wx", []int{gates, c.Embedding}}, {&p.lstm1.wh, "lstm1.Wh", []int{gates, c.Hidden}}, {&p.lstm1.b, "lstm1.b", []int{gates}},
		{&p.word, "word.w", []int{c.Vocabulary, c.Words}},
		{&p.wx2h1, "lstm2.Wx.h1", []int{gates, c.Hidden}}, {&p.wx2word, "lstm2.Wx.word", []int{gates, c.Words}},
		{&p.lstm2.wh, "lstm2.Wh", []int{gates, c.Hidden}}, {&p.lstm2.b, "lstm2.b", []int{gates}},
		{&p.outW, "out.w", []int{c.Vocabulary, c.Hidden}}, {&p.outB, "out.b", []int{c.Vocabulary}},
	} {
		made := &Param{Name: x.name, Bias: len(x.shape) == 1}
		var err error
		if made.W, err = n.weights.Alloc(tensor.Float32, x.shape...); err == nil {
			made.filter, err = asFilter(made.W)
		}
		if err != nil {
			return fmt.Errorf("s2vt: cannot hold %s: %w", x.name, err)
		}
		*x.at = made
		n.all = append(n.all, made)
	}
	return nil
}

// Learn makes room for gradients, which Step and optimizers need and captioning does not. Again it does
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
func (n *Net) Params() []*Param { return n.all }

// Values copies a tensor of the net from the device.
func (n *Net) Values(t *tensor.Tensor) ([]float32, error) {
	values := make([]float32, t.Len())
	return values, n.backend.Download(tensor.HostArray(tensor.Float32, values), t)
}

// SetValues copies values to a parameter, row-major.
func (n *Net) SetValues(p *Param, values []float32) error {
	if len(values) != p.W.Len() {
		return fmt.Errorf("s2vt: %d values for %s with %d elements", len(values), p.Name, p.W.Len())
	}
	return n.backend.Upload(p.W, tensor.HostArray(tensor.Float32, values))
}

// Weights lists all parameters for a file. They are read from the device when they are written.
func (n *Net) Weights() []safetensors.Tensor {
	all := make([]safetensors.Tensor, len(n.all))
	for i, p := range n.all {
		all[i] = n.File(p.Name, p.W)
	}
	return all
}

// File is a float32 tensor of the net's device for a file, under a name: a parameter, or state of an
// optimizer beside it. It is read from the device when it is written, a MiB at a time.
func (n *Net) File(name string, t *tensor.Tensor) safetensors.Tensor {
	return safetensors.Tensor{Name: name, DType: safetensors.F32, Shape: t.Shape(), Data: func(w io.Writer) error {
		return n.pieces(t, func(piece *tensor.Tensor, values []float32, bytes []byte) error {
			if err := n.backend.Download(tensor.HostArray(tensor.Float32, values), piece); err != nil {
				return fmt.Errorf("s2vt: cannot read %s: %w", name, err)
			}
			bytes = bytes[:0]
			for _, v := range values {
				bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(v))
			}
			_, err := w.Write(bytes)
			return err
		})
	}}
}

// Source are the named tensors of a file. A *safetensors.File is one.
type Source interface {
	Info(name string) (safetensors.DType, []int, error)
	Elements(name string) (func(dst []float32) error, error)
}

// Load sets all parameters from a file, whose names and shapes are checked before anything is set.
func (n *Net) Load(f Source) error {
	for _, p := range n.all {
		if err := n.Check(f, p.Name, p.W); err != nil {
			return err
		}
	}
	for _, p := range n.all {
		if err := n.Read(f, p.Name, p.W); err != nil {
			return err
		}
	}
	return nil
}

// Check tells whether a file has a tensor of a name in the shape of one on the device.
func (n *Net) Check(f Source, name string, t *tensor.Tensor) error {
	_, shape, err := f.Info(name)
	if err != nil {
		return fmt.Errorf("s2vt: %w", err)
	}
	if !slices.Equal(shape, t.Shape()) {
		return fmt.Errorf("s2vt: %s is %s in the file and %s in this net: %w", name, tensor.Format(shape), tensor.Format(t.Shape()), tensor.ErrShape)
	}
	return nil
}

// Read sets a tensor on the net's device from a file, as File has written it. Numbers that are not finite
// are an error that wraps safetensors.ErrCorrupt.
func (n *Net) Read(f Source, name string, t *tensor.Tensor) error {
	next, err := f.Elements(name)
	if err != nil {
		return fmt.Errorf("s2vt: cannot read %s: %w", name, err)
	}
	at := 0
	return n.pieces(t, func(piece *tensor.Tensor, values []float32, _ []byte) error {
		if err := next(values); err != nil {
			return fmt.Errorf("s2vt: cannot read %s: %w", name, err)
		}
		for i, v := range values {
			if v-v != 0 { // infinite or NaN
				return fmt.Errorf("s2vt: element %d of %s is %v: the file is damaged or its training diverged: %w", at+i, name, v, safetensors.ErrCorrupt)
			}
		}
		at += len(values)
		return n.backend.Upload(piece, tensor.HostArray(tensor.Float32, values))
	})
}

// pieces calls f for one part of a tensor after the other, with room for its numbers and for their bytes.
func (n *Net) pieces(t *tensor.Tensor, f func(piece *tensor.Tensor, values []float32, bytes []byte) error) error {
	const piece = 1 << 18
	flat, err := t.Reshape(t.Len())
	if err != nil {
		return err
	}
	values, bytes := make([]float32, min(piece, t.Len())), make([]byte, 0, 4*min(piece, t.Len()))
	for lo := 0; lo < t.Len(); lo += piece {
		hi := min(lo+piece, t.Len())
		part, err := flat.Rows(lo, hi)
		if err == nil {
			err = f(part, values[:hi-lo], bytes)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
