package simd

import "math"

// The operations of this file give equal bits at every level: products are rounded before they are added.
// Arrays are as long as the first one, or longer. They may share memory, but must not overlap otherwise.

// Sum computes dst = a + b.
func (l Level) Sum(dst, a, b []float32) { table[l].sum.run("sum", sumGeneric, dst, a, b) }

// AddProduct computes dst = r + x·factor, element by element.
func (l Level) AddProduct(dst, r, x, factor []float32) {
	atLeast("add product", len(dst), r, x, factor)
	if k := table[l].addProduct; k == nil {
		addProductGeneric(dst, r, x, factor)
	} else if len(dst) > 0 {
		k(at(dst), at(r), at(x), at(factor), len(dst))
	}
}

// ScaleTo computes dst = a·src.
func (l Level) ScaleTo(dst, src []float32, a float32) {
	table[l].scaleTo.run("scale to", scaleToGeneric, dst, src, a)
}

// Moments returns mean and variance of a row that is not empty, in float64. It sums differences from the first
// number, so that the variance of equal numbers is 0, and a mean that is large costs no digits.
func (l Level) Moments(x []float32) (mean, variance float64) {
	var sums [16]float64 // eight of the differences, and eight of their squares
	first := float64(x[0])
	groups := len(x) / 8
	if k := table[l].moments; k == nil {
		sums = momentsGeneric(x, first, groups)
	} else if groups > 0 {
		sums = k(at(x), first, groups)
	}
	for i, v := range x[8*groups:] {
		d := float64(v) - first
		sums[i] += d
		sums[8+i] += float64(d * d)
	}
	n := float64(len(x))
	shift := eighths(sums[:8]) / n
	return first + shift, max(0, eighths(sums[8:])/n-float64(shift*shift))
}

func eighths(s []float64) float64 {
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

// Standard holds the numbers that Standardize subtracts from a row and multiplies it with: High + Low is the
// mean, and Low is the rounding error of High.
type Standard struct{ High, Low, Inverse float32 }

// Standardize computes dst = ((x - High) - Low)·Inverse·gain + bias.
func (l Level) Standardize(dst, x, gain, bias []float32, s Standard) {
	atLeast("standardize", len(dst), x, gain, bias)
	if k := table[l].standardize; k == nil {
		standardizeGeneric(dst, x, gain, bias, s)
	} else if len(dst) > 0 {
		k(at(dst), at(x), at(gain), at(bias), s.High, s.Low, s.Inverse, len(dst))
	}
}

// GELU computes dst = x·Φ(x) of the normal distribution, off by at most 2.4e-7·|x|: four units of 2^-24.
func (l Level) GELU(dst, x []float32) { table[l].gelu.run("gelu", geluGeneric, dst, x) }

// GELUTanh computes dst = x·sigmoid(√(8/π)·(x + .044715·x³)), which is x·(1 + tanh(√(2/π)·(x + .044715·x³)))/2.
func (l Level) GELUTanh(dst, x []float32) {
	table[l].geluTanh.run("gelu by tanh", geluTanhGeneric, dst, x)
}

// GELUQuick computes dst = x·sigmoid(1.702·x).
func (l Level) GELUQuick(dst, x []float32) {
	table[l].geluQuick.run("quick gelu", geluQuickGeneric, dst, x)
}

// SoftmaxLanes divides the number of lanes of a Softmax.
const SoftmaxLanes = 16

// Softmax adds a block of logits, rows × lanes, to softmaxes over the rows of each lane. Top is the largest
// logit of each lane so far, -Inf before the first block, and Sum the sum of exp(logit - Top). On return they
// include the block, which then holds exp(logit - Top). Factor is the factor for sums of earlier blocks. A
// NaN among the logits of a lane makes its sum NaN.
type Softmax struct {
	Block            []float32
	Stride, Rows     int
	Top, Sum, Factor []float32 // equally long, one for each lane
}

// Softmax adds a block.
func (l Level) Softmax(s *Softmax) {
	lanes := len(s.Top)
	if lanes%SoftmaxLanes != 0 || s.Rows < 0 {
		panic("simd: softmax of lanes that are no multiple of 16, or of less than no rows")
	}
	atLeast("softmax", lanes, s.Sum, s.Factor)
	checkRows("softmax", len(s.Block), s.Stride, s.Rows, lanes)
	if s.Rows == 0 || lanes == 0 {
		return
	}
	if k := table[l].softmax; k == nil {
		softmaxGeneric(s)
	} else {
		k(at(s.Block), s.Stride, s.Rows, at(s.Top), at(s.Sum), at(s.Factor), lanes)
	}
}

func sumGeneric(dst, a, b []float32) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i, v := range a {
		dst[i] = v + b[i]
	}
}

func addProductGeneric(dst, r, x, factor []float32) {
	r, x, factor = r[:len(dst)], x[:len(dst)], factor[:len(dst)]
	for i, v := range r {
		dst[i] = v + float32(x[i]*factor[i])
	}
}

func scaleToGeneric(dst, src []float32, a float32) {
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] = a * v
	}
}

func momentsGeneric(x []float32, first float64, groups int) (sums [16]float64) {
	for rest := x[:8*groups]; len(rest) >= 8; rest = rest[8:] {
		for i, v := range rest[:8] {
			d := float64(v) - first
			sums[i] += d
			sums[8+i] += float64(d * d)
		}
	}
	return sums
}

func standardizeGeneric(dst, x, gain, bias []float32, s Standard) {
	x, gain, bias = x[:len(dst)], gain[:len(dst)], bias[:len(dst)]
	for i, v := range x {
		dst[i] = float32(float32(((v-s.High)-s.Low)*s.Inverse)*gain[i]) + bias[i]
	}
}

// The numerator and the denominator of (Φ(x) - 1/2)/x as a quotient of polynomials in x², for |x| up to geluEnd, beyond
// which Φ(-|x|) is less than 2^-26: within 3e-8, found by Lawson's weights on Chebyshev's points.
var (
	geluAbove = [...]float32{2.170595436723488e-08, 6.551345450134249e-06, 0.00018813746282830834, 0.0047938209027051926,
		0.03567402809858322, 0.3989420533180237}
	geluBelow = [...]float32{1.1819892051789793e-06, 8.021428220672533e-05, 0.0019926067907363176, 0.029701732099056244,
		0.25608524680137634, 1}
)

const geluEnd = 5.6

// polynomial is Horner's scheme, the highest coefficient first.
func polynomial(coefficients *[6]float32, z float32) float32 {
	sum := coefficients[0]
	for _, c := range coefficients[1:] {
		sum = float32(sum*z) + c
	}
	return sum
}

// gelu is max(x, 0) - |x|·Φ(-|x|), which equals x·Φ(x). The subtracted term is practically 0 from geluEnd on.
func gelu(x float32) float32 {
	near := math.Float32frombits(math.Float32bits(x) &^ (1 << 31))
	if near > geluEnd {
		near = geluEnd
	}
	z := near * near
	tail := .5 - float32(near*polynomial(&geluAbove, z))/polynomial(&geluBelow, z)
	if tail < 0 {
		tail = 0
	}
	top := x
	if top < 0 {
		top = 0
	}
	return top - float32(near*tail)
}

// The argument of the logistic function: x·(geluLinear + geluCubic·x²), and 1.702·x.
const (
	geluLinear = 1.5957691216057308 // √(8/π)
	geluCubic  = geluLinear * .044715
	geluSlope  = 1.702
)

// geluLowest limits the factor of a sigmoid, which is not quite 0 for numbers below.
const geluLowest = -128

func geluBy(x, argument float32) float32 {
	if x < geluLowest {
		x = geluLowest
	}
	return x * sigmoid(argument)
}

func geluGeneric(dst, x []float32) {
	x = x[:len(dst)]
	for i, v := range x {
		dst[i] = gelu(v)
	}
}

func geluTanhGeneric(dst, x []float32) {
	x = x[:len(dst)]
	for i, v := range x {
		dst[i] = geluBy(v, v*(float32(float32(v*v)*geluCubic)+geluLinear))
	}
}

func geluQuickGeneric(dst, x []float32) {
	x = x[:len(dst)]
	for i, v := range x {
		dst[i] = geluBy(v, v*geluSlope)
	}
}

func softmaxGeneric(s *Softmax) {
	for j, before := range s.Top {
		top := before
		for i := range s.Rows {
			if v := s.Block[i*s.Stride+j]; !(top > v) {
				top = v
			}
		}
		sum := float32(0)
		for i := range s.Rows {
			p := &s.Block[i*s.Stride+j]
			*p = exponential(*p - top)
			sum += *p
		}
		s.Top[j], s.Factor[j] = top, exponential(before-top)
		s.Sum[j] = float32(s.Sum[j]*s.Factor[j]) + sum
	}
}
