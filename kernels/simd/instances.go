package simd

import (
	"fmt"
	"math"
)

// sumLanes is the multiple to which the width of sums in float64 is rounded up. Their slices need that number
// of elements. Elements after the width are overwritten with arbitrary values.
const sumLanes = 8

// Softplus is the sum of softplus(o) = max(o, 0) + log(1+e), e = exp(-|o|), over rows of logits, for each of
// Width columns. Row i is at Logits[i·Stride:]. The logarithms are joined to the logarithm of a product,
// which is kept as its excess over 1:
//
//	Positive[k] += sum over i of max(o[i,k], 0)
//	1 + Excess[k] is multiplied with the product over i of 1 + e[i,k]
//
// As a sum of positive terms, the excess loses nothing of small e. It at most doubles with each row.
//
// If Sigmoid is not nil, it has the layout of Logits and receives 1/(1+exp(-o)). It must not overlap Logits.
// e has a relative error below 5e-9 and is not less than exp(-708). NaN makes the whole column NaN.
type Softplus struct {
	Logits, Sigmoid     []float32
	Stride, Rows, Width int
	Positive, Excess    []float64 // of Width, rounded up to a multiple of sumLanes
}

// SumSoftplus computes a Softplus.
func (l Level) SumSoftplus(s *Softplus) {
	checkRows("softplus", len(s.Logits), s.Stride, s.Rows, s.Width)
	if s.Sigmoid != nil {
		checkRows("sigmoid", len(s.Sigmoid), s.Stride, s.Rows, s.Width)
	}
	checkSums("softplus", s.Width, s.Positive, s.Excess)
	switch k := &table[l]; {
	case k.softplus == nil:
		sumSoftplusGeneric(s)
	case s.Rows == 0 || s.Width == 0:
	case s.Sigmoid == nil:
		k.softplus(at(s.Positive), at(s.Excess), at(s.Logits), s.Stride, s.Rows, s.Width)
	default:
		k.softplusSigmoid(at(s.Positive), at(s.Excess), at(s.Logits), at(s.Sigmoid), s.Stride, s.Rows, s.Width)
	}
}

// SumRows64 adds rows of width elements of src, which begin stride apart, to dst, in their order. dst is
// rounded up to a multiple of sumLanes.
func (l Level) SumRows64(dst []float64, src []float32, stride, rows, width int) {
	checkRows("sum of rows", len(src), stride, rows, width)
	checkSums("sum of rows", width, dst)
	if k := table[l].sumRows64; k == nil {
		sumRows64Generic(dst, src, stride, rows, width)
	} else if rows > 0 && width > 0 {
		k(at(dst), at(src), stride, rows, width)
	}
}

// ScaleRows multiplies rows of dst, which begin stride apart, with factors, element by element.
func (l Level) ScaleRows(dst []float32, stride, rows int, factors []float32) {
	checkRows("scale rows", len(dst), stride, rows, len(factors))
	if k := table[l].scaleRows; k == nil {
		scaleRowsGeneric(dst, stride, rows, factors)
	} else if rows > 0 && len(factors) > 0 {
		k(at(dst), stride, at(factors), rows, len(factors))
	}
}

// checkSums panics if slices are shorter than a width rounded up.
func checkSums(operation string, width int, sums ...[]float64) {
	for _, s := range sums {
		if need := (width + sumLanes - 1) / sumLanes * sumLanes; len(s) < need {
			panic(fmt.Sprintf("simd: %s: %d sums, for %d columns %d are needed", operation, len(s), width, need))
		}
	}
}

func sumSoftplusGeneric(s *Softplus) {
	for i := range s.Rows {
		logits := s.Logits[i*s.Stride:][:s.Width]
		if s.Sigmoid == nil {
			addSoftplus(s.Positive, s.Excess, logits)
		} else {
			addSoftplusSigmoid(s.Positive, s.Excess, s.Sigmoid[i*s.Stride:], logits)
		}
	}
}

func addSoftplus(positive, excess []float64, logits []float32) {
	positive, excess = positive[:len(logits)], excess[:len(logits)]
	for k, o := range logits {
		v := float64(o)
		positive[k] += max(v, 0)
		e := ExpNegative(-math.Abs(v))
		excess[k] += e + e*excess[k]
	}
}

func addSoftplusSigmoid(positive, excess []float64, p, logits []float32) {
	positive, excess, p = positive[:len(logits)], excess[:len(logits)], p[:len(logits)]
	for k, o := range logits {
		v := float64(o)
		positive[k] += max(v, 0)
		e := ExpNegative(-math.Abs(v))
		excess[k] += e + e*excess[k]
		small := float32(e)
		p[k] = numerator(o, small) / (1 + small)
	}
}

// numerator is the numerator of sigmoid(o) over 1+e, e = exp(-|o|): 1 for positive o, e for negative. It is
// chosen among integers, because the compiler makes no branch of that and the signs of logits are not
// predictable.
func numerator(o, e float32) float32 {
	bits := math.Float32bits(e)
	if int32(math.Float32bits(o)) >= 0 {
		bits = 0x3f800000
	}
	return math.Float32frombits(bits)
}

func sumRows64Generic(dst []float64, src []float32, stride, rows, width int) {
	for i := range rows {
		row := src[i*stride:][:width]
		sums := dst[:len(row)]
		for k, v := range row {
			sums[k] += float64(v)
		}
	}
}

func scaleRowsGeneric(dst []float32, stride, rows int, factors []float32) {
	for i := range rows {
		row := dst[i*stride:][:len(factors)]
		for k, f := range factors {
			row[k] *= f
		}
	}
}
