package backbone

import (
	"cmp"
	"errors"
	"fmt"

	"nmn/format/weights"
	"nmn/kernels"
	"nmn/model"
	"nmn/model/vit"

	dense "gorgonia.org/tensor"
)

// transformer recognises vision transformers.
func transformer(file *weights.File, o *Options, _ kernels.Backend) (*kind, error) {
	c, mapping, err := vit.Recognise(file)
	if errors.Is(err, vit.ErrOther) {
		return nil, fmt.Errorf("%w: %w", ErrOther, err)
	}
	if err != nil {
		return nil, err
	}
	c = o.Transformer(c)
	if err := c.Validate(); err != nil {
		return nil, err
	}
	info := Info{Name: fmt.Sprintf("%s (%s)", c.Name(), c.Layout), Pictures: c.Pictures, GELU: c.GELU,
		Heads: c.Heads}
	for _, l := range c.Layers() {
		width, err := c.LayerWidth(l)
		if err != nil {
			return nil, err
		}
		info.Layers = append(info.Layers, Layer{model.Layer(l), width})
	}
	return &kind{info, func(file *weights.File, backend kernels.Backend) (Net, error) {
		net, err := vit.New(c, backend)
		if err != nil {
			return nil, err
		}
		if err := net.Load(file, mapping); err != nil {
			return nil, cmp.Or(err, net.Close())
		}
		return &tokenNet{info, net}, nil
	}}, nil
}

// tokenNet is a vision transformer.
type tokenNet struct {
	info Info
	net  *vit.Net
}

func (n *tokenNet) Info() *Info { return &n.info }

func (n *tokenNet) Close() error { return n.net.Close() }

func (n *tokenNet) Features(pixels *dense.Dense, layers []model.Layer, rows [][]float32) error {
	names := make([]vit.Layer, len(layers))
	for i, layer := range layers {
		names[i] = vit.Layer(layer)
	}
	return n.net.Features(pixels, names, rows)
}
