package model

import (
	"fmt"
	"slices"
	"strings"

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
	// W and its gradient are float32; G is nil while the parameter is frozen. The filter of the first layer
	// may have more channels than a picture, for the sake of the device's convolutions: they stay 0.
	W, G *tensor.Tensor
	// Copy is W in bfloat16 where the device computes in it, else nil: what the convolutions read. Every
	// change of W must reach it; updates do so by update.Entry.
	Copy *tensor.Tensor
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

// FileLen is the number of elements in weight files: less than that of W where W has channels that files
// lack.
func (p *Param) FileLen() int {
	n := 1
	for _, d := range p.fileShape {
		n *= d
	}
	return n
}

// filter is what convolutions read.
func (p *Param) filter() *tensor.Tensor {
	if p.Copy != nil {
		return p.Copy
	}
	return p.W
}

// Encode orders values (of the parameter, or of optimizer state beside it) from memory as files
// have them. values are whole rows of W, all of them or some, dst as many of the file, and they do not
// overlap.
func (p *Param) Encode(dst, values []float32) { p.permute(dst, values, true) }

// Decode undoes Encode. Channels that files lack become 0.
func (p *Param) Decode(dst, values []float32) {
	clear(dst)
	p.permute(dst, values, false)
}

func (p *Param) permute(dst, src []float32, encode bool) {
	if !p.chw {
		copy(dst, src)
		return
	}
	cells, held, channels := p.W.Dim(1)*p.W.Dim(2), p.W.Dim(3), p.channels()
	rows := min(len(dst), len(src)) / (cells * channels)
	for k := range rows {
		for rs := range cells {
			for c := range channels {
				memory, file := (k*cells+rs)*held+c, (k*channels+c)*cells+rs
				if encode {
					dst[file] = src[memory]
				} else {
					dst[memory] = src[file]
				}
			}
		}
	}
}

// channels are the input channels of a filter that files know.
func (p *Param) channels() int { return p.W.Dim(3) * p.FileLen() / p.W.Len() }

// names are those that the parameter goes by in files, the likeliest first: torchvision's, nmn's own, the
// one of VGG's authors, which Caffe has, and timm's.
func (p *Param) names() []string {
	all := []string{p.File}
	add := func(name string) {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	add(p.Name)
	if layer, ok := strings.CutPrefix(p.Name, "backbone."); ok {
		add(layer)
	}
	layer, kind, _ := strings.Cut(strings.TrimPrefix(p.Name, "head."), ".")
	if timm, ok := map[string]string{"fc6": "pre_logits.fc1", "fc7": "pre_logits.fc2", "fc8": "head.fc"}[layer]; ok {
		add(layer + "." + kind)
		add(timm + "." + kind)
	}
	return all
}

// block is how many rows of W go between host and device at once: about a MiB of them, for parameters may
// take hundreds.
func (p *Param) block() int {
	const elements = 1 << 18
	return max(1, elements*p.W.Dim(0)/p.W.Len())
}

// padded puts the numbers of a file, ordered as in memory, into as many channels as W has; the rest is 0.
func (p *Param) padded(values []float32) []float32 {
	if len(values) == p.W.Len() {
		return values
	}
	held, channels, padded := p.W.Dim(3), p.channels(), make([]float32, p.W.Len())
	for cell := range len(padded) / held {
		copy(padded[cell*held:], values[cell*channels:(cell+1)*channels])
	}
	return padded
}

// stripped undoes padded, in place.
func (p *Param) stripped(values []float32) []float32 {
	if len(values) == p.FileLen() {
		return values
	}
	held, channels := p.W.Dim(3), p.channels()
	for cell := range len(values) / held {
		copy(values[cell*channels:(cell+1)*channels], values[cell*held:])
	}
	return values[:p.FileLen()]
}

// filter makes the weight and bias of a convolution over maps of held channels, of which files know c. flat
// stores the weight as a matrix, as torchvision does for fully connected layers.
func (n *Net) filter(name, file string, k, r, s, c, held int, flat bool) (w, b *Param, err error) {
	w = &Param{Name: name + ".weight", File: file + ".weight", fileShape: []int{k, c, r, s}, chw: true}
	if flat {
		w.fileShape = []int{k, c * r * s}
	}
	b = &Param{Name: name + ".bias", File: file + ".bias", Bias: true, fileShape: []int{k}}
	if w.W, err = n.params.Alloc(tensor.Float32, k, r, s, held); err != nil {
		return nil, nil, fmt.Errorf("model: cannot hold %s: %w", w.Name, err)
	}
	if b.W, err = n.params.Alloc(tensor.Float32, k); err != nil {
		return nil, nil, fmt.Errorf("model: cannot hold %s: %w", b.Name, err)
	}
	n.all = append(n.all, w, b)
	return w, b, nil
}

// copyFilter gives a weight of the layers over feature maps its copy, where the device wants one.
func (n *Net) copyFilter(w *Param) (err error) {
	if n.maps == tensor.Float32 {
		return nil
	}
	if w.Copy, err = n.params.Alloc(n.maps, w.W.Shape()...); err != nil {
		return fmt.Errorf("model: cannot hold the copy of %s in %s: %w", w.Name, n.maps, err)
	}
	return nil
}
