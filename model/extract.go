package model

import (
	"fmt"

	"nmn/kernels"
	"nmn/kernels/pool"
	"nmn/kernels/tensor"
)

// Layer is a place in a net on pictures that features of bags are taken from.
type Layer string

const (
	Pool5         Layer = "pool5"         // the last feature map, which a noise model sees
	FC7           Layer = "fc7"           // the layer below the logits, after ReLU
	Probabilities Layer = "probabilities" // p(y=1|I)
)

// layers lists them from the input to the classes.
var layers = [...]Layer{Pool5, FC7, Probabilities}

// LayerWidth is how many values a layer has for each bag.
func (c Config) LayerWidth(l Layer) (int, error) {
	if c.Input > 0 {
		return 0, fmt.Errorf("model: no %s to extract: the net takes %d features, only one on pictures has such layers",
			l, c.Input)
	}
	switch l {
	case Pool5:
		return c.FeatureWidth(), nil
	case FC7:
		if c.Residual != Plain {
			return 0, fmt.Errorf("model: no %s to extract: a residual net has the layers %s and %s", l, Pool5, Probabilities)
		}
		return c.FC7, nil
	case Probabilities:
		return c.Classes, nil
	}
	return 0, fmt.Errorf("model: layer %q cannot be extracted, want one of %v", l, layers)
}

// Extract returns the output of a layer for the bags of a plan after Forward: N×LayerWidth of float32. Pool5
// and FC7 are means over the cells of all frames of a bag, whatever pooling the noise model uses. They
// overwrite room, which has that shape. Probabilities come from the plan and need no room.
func (n *Net) Extract(room *tensor.Tensor, p *Plan, l Layer) (*tensor.Tensor, error) {
	if _, err := n.config.LayerWidth(l); err != nil {
		return nil, err
	}
	if l == Probabilities {
		return p.Prob, nil
	}
	if len(p.chunks) > 1 {
		return nil, fmt.Errorf("model: no %s of samples whose %d frames went through the net in %d chunks: take it "+
			"frame by frame, or raise ChunkFrames: %w",
			l, p.Frames, len(p.chunks), kernels.ErrUnsupported)
	}
	from := p.Features
	if l == FC7 {
		hidden := p.chunks[0].hidden
		from = hidden[len(hidden)-1].y
	}
	if err := n.backend.BagPool(room, from, p.bags, pool.Mean); err != nil {
		return nil, fmt.Errorf("model: cannot pool %s: %w", l, err)
	}
	return room, nil
}
