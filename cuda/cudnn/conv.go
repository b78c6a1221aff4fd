package cudnn

import "fmt"

// Precision is how a convolution multiplies. Sums are kept in float32.
type Precision uint8

// Float32 multiplies float32 exactly. TF32 rounds the factors to 10 bits of mantissa. BFloat16 has tensors
// and filters in bfloat16, and the bias in float32.
const (
	Float32 Precision = iota
	TF32
	BFloat16
)

// String is the name as it is written in settings and files.
func (p Precision) String() string {
	if p > BFloat16 {
		return fmt.Sprintf("precision %d", uint8(p))
	}
	return [...]string{"fp32", "tf32", "bf16"}[p]
}

// Pass is one of the operations of a convolution y = x * w.
type Pass uint8

// Forward computes y. ForwardBias also adds a bias for each output channel, and ForwardBiasReLU clamps that
// at 0. DataGradient computes dx from dy and w, FilterGradient dw from x and dy. MaskedDataGradient sets dx
// to 0 where a mask of its shape is at most 0.
const (
	Forward Pass = iota
	ForwardBias
	ForwardBiasReLU
	DataGradient
	FilterGradient
	MaskedDataGradient
)

// String is the name as it is written in files and in the reports of faults.
func (p Pass) String() string {
	if p > MaskedDataGradient {
		return fmt.Sprintf("pass %d", uint8(p))
	}
	return [...]string{"forward", "forward+bias", "forward+bias+relu", "data gradient", "filter gradient",
		"masked data gradient"}[p]
}

// writes is the index of the pass's destination among x, w and y.
func (p Pass) writes() int {
	switch p {
	case DataGradient, MaskedDataGradient:
		return 0
	case FilterGradient:
		return 1
	}
	return 2
}

// biased reports whether the pass adds a bias. The other method reports whether it reads a bias or a mask
// in addition to x, w and y.
func (p Pass) biased() bool  { return p == ForwardBias || p == ForwardBiasReLU }
func (p Pass) besides() bool { return p.biased() || p == MaskedDataGradient }

// Conv is the shape of a convolution: x is N×H×W×C, w is K×R×S×C and y is N×P×Q×K with P = (H+2Pad-R)/Stride
// + 1 and Q = (W+2Pad-S)/Stride + 1, rounded down. All three have the precision's element type. The bias is
// float32 unless NarrowBias is set.
type Conv struct {
	N, H, W, C   int
	K, R, S, Pad int
	Stride       int // 0 for 1: one shape has one value
	Precision    Precision
	// Wide writes the result in float32 although the operands are bfloat16: the sums are not rounded.
	Wide bool
	// NarrowBias also has the bias in the precision's element type. It is only for passes with a bias. cuDNN
	// has far more plans for a bias in bfloat16, and most of them need not be compiled.
	NarrowBias bool
}

// P and Q are the rows and columns of the output.
func (c Conv) P() int { return (c.H + 2*c.Pad - c.R + c.step()) / c.step() }
func (c Conv) Q() int { return (c.W + 2*c.Pad - c.S + c.step()) / c.step() }

// step is the stride as cuDNN takes it.
func (c Conv) step() int { return max(1, c.Stride) }

// check refuses invalid convolutions.
func (c Conv) check() error {
	for _, n := range [...]int{c.N, c.H, c.W, c.C, c.K, c.R, c.S, c.P(), c.Q()} {
		if n < 1 || n > 1<<30 {
			return fmt.Errorf("cudnn: convolution %v: every size must be from 1 to 2^30, also the output's %d×%d", c,
				c.P(), c.Q())
		}
	}
	if c.Pad < 0 || c.Stride < 0 || c.Precision > BFloat16 {
		return fmt.Errorf("cudnn: convolution %v: the padding and the stride must be at least 0, the precision fp32, tf32 "+
			"or bf16", c)
	}
	return nil
}

// String writes the shape for logs, files and reports of faults.
func (c Conv) String() string {
	types, stride := "", ""
	if c.Stride > 1 {
		stride = fmt.Sprintf(" stride %d", c.Stride)
	}
	if c.Wide {
		types = " to fp32"
	}
	if c.NarrowBias {
		types += " with a narrow bias"
	}
	return fmt.Sprintf("%d×%d×%d×%d by %d×%d×%d pad %d%s %v%s", c.N, c.H, c.W, c.C, c.K, c.R, c.S, c.Pad, stride,
		c.Precision, types)
}
