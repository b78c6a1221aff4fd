package vit

import (
	"fmt"

	host "nmn/internal/memory"
	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/model/param"

	dense "gorgonia.org/tensor"
)

// Plan is a batch of N pictures. Plans of one net share memory, so finish with a batch before you upload the
// next one.
type Plan struct {
	N int
	// Pixels are uint8 N×H×W×3, red, green and blue: upload a batch into them.
	Pixels *tensor.Tensor

	x        *tensor.Tensor // N×H×W×C: pixels in the net's layout
	patches  *tensor.Tensor // N×L×D
	tokens   *tensor.Tensor // N×T×D: the residual stream
	normed   *tensor.Tensor // N×T×D: output of a norm, then of the attention
	qkv      *tensor.Tensor // N×T×3D
	hidden   *tensor.Tensor // N×T×Hidden
	cells    *tensor.Tensor // normed as (N·T)×1×1×D
	bags     *tensor.Tensor // int32: first token of each part of a picture's tokens
	parts    *tensor.Tensor // (N·parts)×D: their means, the class token's first
	embedded *tensor.Tensor // (N·parts)×E; nil for none

	hostParts, hostEmbedded *dense.Dense
}

// memory holds the whole buffers, at capacity. Tensors that are not needed at the same time share one.
type memory struct{ pixels, tokens, normed, wide, bags, parts, embedded *tensor.Tensor }

// parts are the groups of tokens that are averaged to one vector each: the class token, registers if there
// are any, patches.
func (c Config) parts() []int {
	h, w := c.patches()
	if c.Registers > 0 {
		return []int{1, c.Registers, h * w}
	}
	return []int{1, h * w}
}

// Plan returns the buffers for a batch of this number of pictures. More than ever before move the buffers:
// earlier plans are then invalid. Asking again for a known number allocates nothing. If the host lacks
// memory, Plan returns an error before it allocates any.
func (n *Net) Plan(pictures int) (*Plan, error) {
	if pictures < 1 {
		return nil, fmt.Errorf("vit: a batch of %d pictures, want 1 at least", pictures)
	}
	if pictures > n.capacity {
		if err := n.grow(pictures); err != nil {
			return nil, fmt.Errorf("vit: cannot hold a batch of %d pictures: %w", pictures, err)
		}
	}
	if p, ok := n.plans[pictures]; ok {
		return p, nil
	}
	p, err := n.view(pictures)
	if err != nil {
		return nil, err
	}
	n.plans[pictures] = p
	return p, nil
}

// PlanBytes is the memory of the buffers for a batch, counted without taking it.
func (n *Net) PlanBytes(pictures int) int {
	m := n.sizes(pictures)
	e := n.maps.Size()
	return m.pixels + 4*m.bags + e*(m.tokens+m.normed+m.wide) + 4*(m.parts+m.embedded)
}

// sizes are the elements of the buffers for a batch.
type sizes struct{ pixels, tokens, normed, wide, bags, parts, embedded int }

func (n *Net) sizes(pictures int) sizes {
	c := n.config
	pixels, tokens, parts := c.Size[0]*c.Size[1], c.Tokens(), len(c.parts())
	return sizes{
		pixels: pictures * pixels * 3, tokens: pictures * tokens * c.Width, normed: pictures * tokens * c.Width,
		wide:  pictures * max(tokens*max(3*c.Width, c.Hidden), pixels*n.channels()),
		bags:  pictures*parts + 1,
		parts: pictures * parts * c.Width, embedded: pictures * parts * c.Projection,
	}
}

func (n *Net) grow(pictures int) error {
	if _, card := n.backend.(kernels.Card); !card {
		if err := host.Check("its buffers", int64(n.PlanBytes(pictures)-n.buffers.Bytes())); err != nil {
			return err
		}
	}
	if err := n.buffers.Close(); err != nil {
		return err
	}
	clear(n.plans)
	n.capacity, n.memory = 0, memory{}
	var err error
	alloc := func(dtype tensor.DType, size int) (t *tensor.Tensor) {
		if err == nil {
			t, err = n.buffers.Alloc(dtype, size)
		}
		return t
	}
	s := n.sizes(pictures)
	m := memory{
		pixels: alloc(tensor.Uint8, s.pixels), tokens: alloc(n.maps, s.tokens), normed: alloc(n.maps, s.normed),
		wide: alloc(n.maps, s.wide), bags: alloc(tensor.Int32, s.bags), parts: alloc(tensor.Float32, s.parts),
	}
	if s.embedded > 0 {
		m.embedded = alloc(tensor.Float32, s.embedded)
	}
	if err == nil {
		err = n.uploadBags(m.bags, pictures)
	}
	if err != nil {
		_ = n.buffers.Close() // the first error is the one to report
		return err
	}
	n.capacity, n.memory = pictures, m
	return nil
}

// uploadBags writes the first token of each part of each picture's tokens, and the end of the last part.
func (n *Net) uploadBags(to *tensor.Tensor, pictures int) error {
	parts := n.config.parts()
	starts := make([]int32, 1, pictures*len(parts)+1)
	for range pictures {
		for _, tokens := range parts {
			starts = append(starts, starts[len(starts)-1]+int32(tokens))
		}
	}
	return n.backend.Upload(to, dense.New(dense.WithShape(len(starts)), dense.WithBacking(starts)))
}

func (n *Net) view(pictures int) (*Plan, error) {
	c, m := n.config, &n.memory
	h, w := c.patches()
	tokens, parts := c.Tokens(), len(c.parts())
	var v param.Views
	p := &Plan{
		N:       pictures,
		Pixels:  v.Start(m.pixels, pictures, c.Size[0], c.Size[1], 3),
		x:       v.Start(m.wide, pictures, c.Size[0], c.Size[1], n.channels()),
		patches: v.Start(m.normed, pictures, h*w, c.Width),
		tokens:  v.Start(m.tokens, pictures, tokens, c.Width),
		normed:  v.Start(m.normed, pictures, tokens, c.Width),
		qkv:     v.Start(m.wide, pictures, tokens, 3*c.Width),
		hidden:  v.Start(m.wide, pictures, tokens, c.Hidden),
		cells:   v.Start(m.normed, pictures*tokens, 1, 1, c.Width),
		bags:    v.Rows(m.bags, 0, pictures*parts+1),
		parts:   v.Start(m.parts, pictures*parts, c.Width),

		hostParts: tensor.HostArray(tensor.Float32, make([]float32, pictures*parts*c.Width)),
	}
	if c.Projection > 0 {
		p.embedded = v.Start(m.embedded, pictures*parts, c.Projection)
		p.hostEmbedded = tensor.HostArray(tensor.Float32, make([]float32, pictures*parts*c.Projection))
	}
	return p, v.Err
}
