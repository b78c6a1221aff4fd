package neon

import "nmn/tools/simdgen/shared"

var (
	geluNumbers        = append(append([]float32{0, .5, shared.GELUEnd}, shared.GELUAbove...), shared.GELUBelow...)
	geluSigmoidNumbers = append([]float32{shared.GELULowest, shared.GELULinear, shared.GELUCubic, shared.GELUSlope}, sigmoidNumbers...)
)

// transformerKernels writes the loops of package simd's transformer.go and squares.go, except softmax.
func transformerKernels(f *file) {
	elementwise(f, "sum", 16, []string{"dst", "a", "b"}, nil, nil, func(e *element) {
		e.put(0, e.of("fadd.4s", e.get(1), e.get(2)))
	})
	elementwise(f, "addProduct", 16, []string{"dst", "r", "x", "factor"}, nil, nil, func(e *element) {
		y := e.of("fmul.4s", e.get(2), e.get(3))
		e.each("fadd.4s", y, y, e.get(1))
		e.put(0, y)
	})
	elementwise(f, "scaleTo", 16, []string{"dst", "src"}, []string{"a"}, nil, func(e *element) {
		e.put(0, e.of("fmul.4s", e.get(1), e.scalars["a"]))
	})
	elementwise(f, "standardize", 16, []string{"dst", "x", "gain", "bias"}, []string{"high", "low", "inverse"}, nil,
		func(e *element) {
			x := e.get(1)
			e.each("fsub.4s", x, x, e.scalars["high"])
			e.each("fsub.4s", x, x, e.scalars["low"])
			e.each("fmul.4s", x, x, e.scalars["inverse"])
			e.each("fmul.4s", x, x, e.get(2))
			e.each("fadd.4s", x, x, e.get(3))
			e.put(0, x)
		})
	elementwise(f, "gelu", 8, []string{"dst", "x"}, nil, geluNumbers, gelu)
	elementwise(f, "geluTanh", 8, []string{"dst", "x"}, nil, geluSigmoidNumbers, func(e *element) {
		x := e.get(1)
		u := e.of("fmul.4s", x, x)
		e.each("fmul.4s", u, u, e.number(shared.GELUCubic))
		e.each("fadd.4s", u, u, e.number(shared.GELULinear))
		e.each("fmul.4s", u, u, x)
		e.geluBy(x, u)
	})
	elementwise(f, "geluQuick", 8, []string{"dst", "x"}, nil, geluSigmoidNumbers, func(e *element) {
		x := e.get(1)
		e.geluBy(x, e.of("fmul.4s", x, e.number(shared.GELUSlope)))
	})
	moments(f)
	sumSquares(f)
}

// geluBy writes max(x, shared.GELULowest)·sigmoid(u).
func (e *element) geluBy(x, u []vector) {
	e.each("fmax.4s", x, x, e.number(shared.GELULowest))
	e.each("fmul.4s", x, x, e.sigmoid(u))
	e.put(0, x)
}

// horner is a polynomial in z, the highest coefficient first.
func (e *element) horner(coefficients []float32, z []vector) []vector {
	sum := e.of("fmul.4s", z, e.number(coefficients[0]))
	for i, c := range coefficients[1:] {
		if i > 0 {
			e.each("fmul.4s", sum, sum, z)
		}
		e.each("fadd.4s", sum, sum, e.number(c))
	}
	return sum
}

// gelu is max(x, 0) - |x|·Φ(-|x|).
func gelu(e *element) {
	x := e.get(1)
	near := e.of("fabs.4s", x)
	e.each("fmin.4s", near, near, e.number(shared.GELUEnd))
	z := e.of("fmul.4s", near, near)
	above, below := e.horner(shared.GELUAbove, z), e.horner(shared.GELUBelow, z)
	e.each("fmul.4s", above, above, near)
	e.each("fdiv.4s", above, above, below)
	e.each("fsub.4s", above, e.number(.5), above)
	e.each("fmax.4s", above, above, e.number(0))
	e.each("fmul.4s", above, above, near)
	e.each("fmax.4s", x, x, e.number(0))
	e.each("fsub.4s", x, x, above)
	e.put(0, x)
}

// moments writes the loop of simd.Moments for groups of eight values. Squares are rounded before they are added.
func moments(f *file) {
	f.function("momentsNEON", "func(x *float32, first float64, groups int) [16]float64", func(k *kernel) {
		x, groups, first := k.load("x"), k.load("groups"), k.vector()
		k.op("FMOVD %s, F%d", k.memory("first"), first)
		k.v("dup.2d", first, first, 0)
		sums := k.grid(2, 4)
		k.clear(sums)
		k.repeat(groups, "group", func() {
			d := k.widened(k.take(x, 8), 8)
			k.each("fsub.2d", d, d, first)
			k.each("fadd.2d", sums[0], sums[0], d)
			k.each("fmul.2d", d, d, d)
			k.each("fadd.2d", sums[1], sums[1], d)
		})
		k.result(append(sums[0], sums[1]...))
	})
}

// sumSquares writes the loop of simd.SumSquares for groups of eight values. The square of a float32 is exact in
// float64, so that a fused product rounds no less often.
func sumSquares(f *file) {
	f.function("sumSquaresNEON", "func(x *float32, groups int) [8]float64", func(k *kernel) {
		x, groups, sums := k.load("x"), k.load("groups"), k.grid(1, 4)
		k.clear(sums)
		k.repeat(groups, "group", func() {
			d := k.widened(k.take(x, 8), 8)
			k.each("fmla.2d", sums[0], d, d)
		})
		k.result(sums[0])
	})
}

// result writes an array of float64 that the function returns.
func (k *kernel) result(x []vector) {
	k.scope(func() {
		at := k.register()
		k.op("MOVD $ret_0+%d(FP), R%d", k.parameters["ret"].offset, at)
		k.spill(x, at, lanes*len(x))
	})
}
