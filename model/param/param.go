package param

import "nmn/kernels/tensor"

// Param is a named parameter with its gradient, on the device.
type Param struct {
	// Name is the stable name that patterns match: backbone.conv3_2.weight, head.fc6.bias,
	// nmn.weight (U, 2×2×K×1×1×D flattened to 4K×1×1×D), nmn.bias (b, 2×2×K).
	Name string
	// File is the name in weight files: torchvision's if it has one (features.14.weight, classifier.0.bias),
	// else Name.
	File string
	// Shape is the shape in weight files.
	Shape []int
	// CHW is set if files order filters K,C,R,S. Memory holds K,R,S,C.
	CHW bool
	// W and its gradient are float32. G is nil unless W learns. The filter of the first layer of a net on
	// pictures may have more channels than files, as the device's convolutions require: these stay 0.
	W, G *tensor.Tensor
	// Copy is W in bfloat16 if the device computes in it, else nil. Convolutions read it. Every change of W
	// must be copied to it; update.Entry does so. The noise model has no copies.
	Copy *tensor.Tensor
	// Bias marks parameters that weight decay spares by default.
	Bias bool
	// Frozen parameters get no gradient, and the backward pass ends above the lowest layer that
	// learns.
	Frozen bool
}

// FileLen is the number of elements in weight files. It is less than W's if W has channels that files lack.
func (p *Param) FileLen() int {
	n := 1
	for _, d := range p.Shape {
		n *= d
	}
	return n
}

// Filter returns the tensor that convolutions read: W, or its copy.
func (p *Param) Filter() *tensor.Tensor {
	if p.Copy != nil {
		return p.Copy
	}
	return p.W
}

// Channels are the input channels of a filter in files.
func (p *Param) Channels() int { return p.W.Dim(3) * p.FileLen() / p.W.Len() }

// FilterShape is K×C×R×S of a layer's weight, in which it has the order of files too, and the file's shape of
// anything else.
func (p *Param) FilterShape() []int {
	if !p.CHW || len(p.Shape) == 4 {
		return p.Shape
	}
	w := p.W.Shape()
	return []int{w[0], p.Channels(), w[1], w[2]}
}

// Encode reorders values from memory order to file order. values are whole rows of W, or of optimizer state,
// all of them or some. dst holds equally many rows of the file. They do not overlap.
func (p *Param) Encode(dst, values []float32) { p.permute(dst, values, true) }

// Decode undoes Encode. Channels that files lack become 0.
func (p *Param) Decode(dst, values []float32) {
	clear(dst)
	p.permute(dst, values, false)
}

func (p *Param) permute(dst, src []float32, encode bool) {
	if !p.CHW {
		copy(dst, src)
		return
	}
	cells, held, channels := p.W.Dim(1)*p.W.Dim(2), p.W.Dim(3), p.Channels()
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

// Padded spreads the numbers of a file, ordered as in memory, over W's channels. The rest is 0.
func (p *Param) Padded(values []float32) []float32 {
	if len(values) == p.W.Len() {
		return values
	}
	held, channels, padded := p.W.Dim(3), p.Channels(), make([]float32, p.W.Len())
	for cell := range len(padded) / held {
		copy(padded[cell*held:], values[cell*channels:(cell+1)*channels])
	}
	return padded
}

// Stripped undoes Padded, in place.
func (p *Param) Stripped(values []float32) []float32 {
	if len(values) == p.FileLen() {
		return values
	}
	held, channels := p.W.Dim(3), p.Channels()
	for cell := range len(values) / held {
		copy(values[cell*channels:(cell+1)*channels], values[cell*held:])
	}
	return values[:p.FileLen()]
}
