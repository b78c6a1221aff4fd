package vit

import (
	"cmp"
	"fmt"

	"nmn/kernels/pixels"
	"nmn/kernels/pool"
	"nmn/kernels/tensor"
	"nmn/kernels/transformer"

	dense "gorgonia.org/tensor"
)

type activationKind = transformer.GELUKind

// kind is the form of package transformer.
func (g GELU) kind() activationKind {
	switch g {
	case Tanh:
		return transformer.Tanh
	case Quick:
		return transformer.Quick
	}
	return transformer.Exact
}

// normalization returns the parameters of Normalize for pixels from 0 to 255.
func (c Config) normalization() (p pixels.Params) {
	for i := range 3 {
		p.Mean[i], p.Scale[i] = 255*c.Pictures.Mean[i], float32(1/(255*float64(c.Pictures.Deviation[i])))
	}
	return p
}

// Forward takes the pixels of a plan through the net (Dosovitskiy et al., 2021, equations 1 to 4).
func (n *Net) Forward(p *Plan) error {
	if err := n.embed(p); err != nil {
		return err
	}
	for i := range n.blocks {
		if err := n.forwardBlock(p, &n.blocks[i]); err != nil {
			return err
		}
	}
	if err := cmp.Or(n.normalize(p.normed, p.tokens, n.norm),
		n.backend.BagPool(p.parts, p.cells, p.bags, pool.Mean)); err != nil {
		return err
	}
	if n.projection == nil {
		return nil
	}
	return n.backend.Linear(p.embedded, p.parts, n.projection, nil, transformer.LinearParams{Prepared: true})
}

// Features runs pixels, uint8 N×H×W×3, through the net, and writes the outputs of layers for the N pictures:
// rows[i] holds N×LayerWidth numbers of layers[i].
func (n *Net) Features(pixels *dense.Dense, layers []Layer, rows [][]float32) error {
	if len(layers) != len(rows) {
		return fmt.Errorf("vit: %d layers, and room for %d", len(layers), len(rows))
	}
	p, err := n.Plan(pixels.Shape()[0])
	if err != nil {
		return err
	}
	if err := n.backend.Upload(p.Pixels, pixels); err != nil {
		return err
	}
	if err := n.Forward(p); err != nil {
		return err
	}
	for i, l := range layers {
		if err := n.Extract(rows[i], p, l); err != nil {
			return err
		}
	}
	return nil
}

// embed makes tokens of pixels.
func (n *Net) embed(p *Plan) error {
	if err := cmp.Or(n.backend.Normalize(p.x, p.Pixels, nil, nil, n.config.normalization()),
		n.backend.PatchEmbed(p.patches, p.x, n.patch.w, n.patch.b),
		n.backend.Tokens(p.tokens, p.patches, n.prefix, n.position)); err != nil || !n.config.PreNorm {
		return err
	}
	return n.normalize(p.tokens, p.tokens, n.pre)
}

func (n *Net) forwardBlock(p *Plan, b *block) error {
	plain := transformer.LinearParams{Prepared: true}
	activated := transformer.LinearParams{GELU: n.kind, Prepared: true}
	first := transformer.LinearParams{Scale: b.scale1, Residual: p.tokens, Prepared: true}
	second := transformer.LinearParams{Scale: b.scale2, Residual: p.tokens, Prepared: true}
	return cmp.Or(n.normalize(p.normed, p.tokens, b.norm1),
		n.backend.Linear(p.qkv, p.normed, b.qkv.w, b.qkv.b, plain),
		n.backend.Attention(p.normed, p.qkv, n.config.Heads),
		n.backend.Linear(p.tokens, p.normed, b.out.w, b.out.b, first),
		n.normalize(p.normed, p.tokens, b.norm2),
		n.backend.Linear(p.hidden, p.normed, b.fc1.w, b.fc1.b, activated),
		n.backend.Linear(p.tokens, p.hidden, b.fc2.w, b.fc2.b, second))
}

func (n *Net) normalize(y, x *tensor.Tensor, by norm) error {
	return n.backend.LayerNorm(y, x, by.gain, by.bias, n.config.Epsilon)
}

// Extract copies the output of a layer for the pictures of a plan to the host after Forward: rows has
// N×LayerWidth numbers.
func (n *Net) Extract(rows []float32, p *Plan, l Layer) error {
	width, err := n.config.LayerWidth(l)
	if err != nil {
		return err
	}
	if len(rows) != p.N*width {
		return fmt.Errorf("vit: room for %d numbers, %s of %d pictures are %d×%d", len(rows), l, p.N, p.N, width)
	}
	from, on, held := p.hostParts, p.parts, n.config.Width
	if l == Embedding {
		from, on, held = p.hostEmbedded, p.embedded, n.config.Projection
	}
	if err := n.backend.Download(from, on); err != nil {
		return err
	}
	values, parts := from.Float32s(), len(n.config.parts())
	for i := range p.N {
		row, out := values[i*parts*held:][:parts*held], rows[i*width:][:width]
		switch l {
		case Mean:
			copy(out, row[(parts-1)*held:])
		case ClassMean:
			copy(out, row[:held])
			copy(out[held:], row[(parts-1)*held:])
		default:
			copy(out, row)
		}
	}
	return nil
}
