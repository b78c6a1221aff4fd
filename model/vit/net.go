package vit

import (
	"errors"
	"fmt"

	"nmn/kernels"
	"nmn/kernels/tensor"
)

// Net is a vision transformer on a device. It serves one goroutine at a time. If the device computes in
// bfloat16, the weights of products are bfloat16, and on a graphics card the activations too. Features are float32.
type Net struct {
	config  Config
	backend kernels.Backend
	maps    tensor.DType // of tokens, pixels and the filters of patches
	kind    activationKind

	params *tensor.Arena
	slots  map[string]slot // memory of the parameters in files

	patch            linear
	prefix, position *tensor.Tensor // R×D and L×D: the inputs of Tokens
	pre, norm        norm
	blocks           []block
	projection       *tensor.Tensor // E×D; nil for none

	buffers  *tensor.Arena
	capacity int // pictures
	memory   memory
	plans    map[int]*Plan
}

// linear is the weight, K×C, and the bias of a product; the bias may be nil.
type linear struct{ w, b *tensor.Tensor }

// norm is the gain and the bias of a layer norm.
type norm struct{ gain, bias *tensor.Tensor }

// block is an attention and an MLP, each applied after a norm and added to its input.
type block struct {
	norm1, norm2       norm
	qkv, out, fc1, fc2 linear
	scale1, scale2     *tensor.Tensor // of LayerScale; nil for none
}

// slot is the memory of a parameter, and the order of its numbers compared with files.
type slot struct {
	t    *tensor.Tensor
	form form
}

// form is the memory layout of a parameter.
type form uint8

const (
	asFiled form = iota
	patches      // D×P×P×C; files have D×3×P×P
	product      // as PrepareLinear leaves it
)

// New makes a net with zero weights: call Load before use.
func New(c Config, backend kernels.Backend) (*Net, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	n := &Net{
		config: c, backend: backend, maps: backend.Formats().Maps, kind: c.GELU.kind(),
		params: tensor.NewArena(backend), buffers: tensor.NewArena(backend),
		slots: map[string]slot{}, plans: map[int]*Plan{},
	}
	if err := n.build(); err != nil {
		return nil, errors.Join(fmt.Errorf("vit: cannot hold the weights: %w", err), n.Close())
	}
	return n, nil
}

// build takes memory for all parameters.
func (n *Net) build() error {
	c := n.config
	b := builder{net: n}
	h, w := c.patches()
	n.patch.w = b.slot("patch.weight", n.maps, patches, c.Width, c.Patch, c.Patch, n.channels())
	if c.PatchBias {
		n.patch.b = b.slot("patch.bias", tensor.Float32, asFiled, c.Width)
	}
	n.prefix = b.alloc(tensor.Float32, c.prefix(), c.Width)
	n.position = b.alloc(tensor.Float32, h*w, c.Width)
	if c.PreNorm {
		n.pre = b.norm("pre", c.Width)
	}
	for i := range c.Depth {
		n.blocks = append(n.blocks, b.block(fmt.Sprintf("blocks.%d.", i)))
	}
	n.norm = b.norm("norm", c.Width)
	if c.Projection > 0 {
		n.projection = b.slot("projection", tensor.Float32, product, c.Projection, c.Width)
	}
	return b.err
}

// builder takes memory until there is none, and keeps the error.
type builder struct {
	net *Net
	err error
}

func (b *builder) alloc(dtype tensor.DType, shape ...int) (t *tensor.Tensor) {
	if b.err == nil {
		t, b.err = b.net.params.Alloc(dtype, shape...)
	}
	return t
}

func (b *builder) slot(name string, dtype tensor.DType, as form, shape ...int) *tensor.Tensor {
	t := b.alloc(dtype, shape...)
	b.net.slots[name] = slot{t, as}
	return t
}

func (b *builder) norm(name string, width int) norm {
	return norm{
		gain: b.slot(name+".weight", tensor.Float32, asFiled, width),
		bias: b.slot(name+".bias", tensor.Float32, asFiled, width),
	}
}

func (b *builder) linear(name string, out, in int) linear {
	return linear{
		w: b.slot(name+".weight", b.net.backend.Formats().Linear, product, out, in),
		b: b.slot(name+".bias", tensor.Float32, asFiled, out),
	}
}

func (b *builder) block(name string) block {
	c := b.net.config
	d := c.Width
	made := block{
		norm1: b.norm(name+"norm1", d), norm2: b.norm(name+"norm2", d),
		qkv: b.linear(name+"qkv", 3*d, d), out: b.linear(name+"proj", d, d),
		fc1: b.linear(name+"fc1", c.Hidden, d), fc2: b.linear(name+"fc2", d, c.Hidden),
	}
	if c.LayerScale {
		made.scale1 = b.slot(name+"scale1", tensor.Float32, asFiled, d)
		made.scale2 = b.slot(name+"scale2", tensor.Float32, asFiled, d)
	}
	return made
}

// channels is the number of channels of a pixel on the device. Those after the colours are 0.
func (n *Net) channels() int { return n.backend.Formats().Pixels }

// Config returns the configuration that the net was made from.
func (n *Net) Config() Config { return n.config }

// Bytes is the device memory of parameters and buffers.
func (n *Net) Bytes() int { return n.params.Bytes() + n.buffers.Bytes() }

// Close frees the device memory.
func (n *Net) Close() error {
	clear(n.plans)
	return errors.Join(n.buffers.Close(), n.params.Close())
}
