package model

import (
	"fmt"

	"nmn/kernels/tensor"
)

// Param is a named parameter with its gradient, on the device.
type Param struct {
	// Name is the stable name that patterns match: backbone.conv3_2.weight, head.fc6.bias,
	// nmn.weight (U, 2×2×K×1×1×D flattened to 4K×1×1×D), nmn.bias (b, 2×2×K).
	Name string
	// File is the name in weight files: torchvision's where it has one (features.14.weight,
	// classifier.0.bias), else Name.
	File string
	W, G *tensor.Tensor // G is nil while the parameter is frozen
	// Bias marks parameters that weight decay spares by default.
	Bias bool
	// Frozen parameters get no gradient, and the backward pass ends above the lowest layer that
	// learns.
	Frozen bool

	fileShape []int // shape in files
	chw       bool  // files order filters K,C,R,S; memory holds K,R,S,C
}

// FileShape is the shape in weight files.
func (p *Param) FileShape() []int { return p.fileShape }

// Encode orders values (of the parameter, or of optimizer state beside it) from memory as files
// have them. dst and values have W.Len() elements and do not overlap.
func (p *Param) Encode(dst, values []float32) { p.permute(dst, values, true) }

// Decode undoes Encode.
func (p *Param) Decode(dst, values []float32) { p.permute(dst, values, false) }

func (p *Param) permute(dst, src []float32, encode bool) {
	if !p.chw {
		copy(dst, src)
		return
	}
	channels := p.W.Dim(3)
	cells := p.W.Dim(1) * p.W.Dim(2)
	for k := range p.W.Dim(0) {
		base := k * cells * channels
		for rs := range cells {
			for c := range channels {
				memory, file := base+rs*channels+c, base+c*cells+rs
				if encode {
					dst[file] = src[memory]
				} else {
					dst[memory] = src[file]
				}
			}
		}
	}
}

// filter makes the weight and bias of a convolution. flat stores the weight as a matrix, as
// torchvision does for fully connected layers.
func (n *Net) filter(name, file string, k, r, s, c int, flat bool) (w, b *Param, err error) {
	w = &Param{Name: name + ".weight", File: file + ".weight", fileShape: []int{k, c, r, s}, chw: true}
	if flat {
		w.fileShape = []int{k, c * r * s}
	}
	b = &Param{Name: name + ".bias", File: file + ".bias", Bias: true, fileShape: []int{k}}
	if w.W, err = n.params.Alloc(tensor.Float32, k, r, s, c); err != nil {
		return nil, nil, fmt.Errorf("model: cannot hold %s: %w", w.Name, err)
	}
	if b.W, err = n.params.Alloc(tensor.Float32, k); err != nil {
		return nil, nil, fmt.Errorf("model: cannot hold %s: %w", b.Name, err)
	}
	n.all = append(n.all, w, b)
	return w, b, nil
}
