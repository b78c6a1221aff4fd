package neon

import (
	"math"

	"nmn/tools/simdgen/shared"
)

// The numbers that exponential, sigmoid and tanh read.
var (
	exponentialNumbers = []float32{shared.ExponentLowest, math.Log2E, shared.RoundingShift, shared.Ln2High, shared.Ln2Low, shared.Series(7), shared.Series(6),
		shared.Series(5), shared.Series(4), shared.Series(3), shared.Series(2), 1}
	sigmoidNumbers = append([]float32{shared.ExponentHighest}, exponentialNumbers...)
	tanhNumbers    = append([]float32{2, .5, float32(math.Copysign(0, -1))}, sigmoidNumbers...)
)

// parts computes exp(x) = scale·(1 + rest) for x, which is destroyed: the powers of two, and exp(r) - 1 of the
// remainder by its series.
func (e *element) parts(x []vector) (scale, rest []vector) {
	shift := e.number(shared.RoundingShift)
	scale = e.of("fmul.4s", x, e.number(math.Log2E))
	e.each("fadd.4s", scale, scale, shift)
	rest = e.of("fsub.4s", scale, shift)
	e.each("shl.4s", scale, scale, 23)
	e.each("add.4s", scale, scale, e.number(1))
	high := e.of("fmul.4s", rest, e.number(shared.Ln2High))
	e.each("fsub.4s", x, x, high)
	e.free(high)
	e.each("fmul.4s", rest, rest, e.number(shared.Ln2Low))
	e.each("fsub.4s", x, x, rest)
	e.each("fmul.4s", rest, x, e.number(shared.Series(7)))
	for k := 6; k >= 2; k-- {
		e.each("fadd.4s", rest, rest, e.number(shared.Series(k)))
		e.each("fmul.4s", rest, rest, x)
	}
	e.each("fmul.4s", rest, rest, x)
	e.each("fadd.4s", rest, rest, x)
	e.free(x)
	return scale, rest
}

// exponential returns exp(x), x not above 0, which is destroyed.
func (e *element) exponential(x []vector) []vector {
	e.each("fmax.4s", x, x, e.number(shared.ExponentLowest))
	scale, rest := e.parts(x)
	e.each("fmul.4s", rest, rest, scale)
	e.each("fadd.4s", rest, rest, scale)
	e.free(scale)
	return rest
}

// sigmoid returns 1/(1 + exp(-x)) for x, which is destroyed.
func (e *element) sigmoid(x []vector) []vector {
	e.each("fneg.4s", x, x)
	e.each("fmax.4s", x, x, e.number(shared.ExponentLowest))
	e.each("fmin.4s", x, x, e.number(shared.ExponentHighest))
	one := e.number(1)
	scale, part := e.parts(x)
	e.each("fmul.4s", part, part, scale)
	e.each("fadd.4s", scale, scale, one)
	sum := e.of("fadd.4s", scale, part)
	e.each("fsub.4s", scale, sum, scale)
	e.each("fsub.4s", part, part, scale) // rounding error of the sum
	e.each("fdiv.4s", sum, one, sum)
	e.each("fmul.4s", part, part, sum)
	e.each("fmul.4s", part, part, sum)
	e.each("fsub.4s", sum, sum, part)
	e.free(scale, part)
	return sum
}

// tanh returns -em/(2 + em) with the sign of x and em = exp(-2|x|) - 1. It destroys x.
func (e *element) tanh(x []vector) []vector {
	one, two, signs := e.number(1), e.number(2), e.number(float32(math.Copysign(0, -1)))
	y := e.of("orr.16b", x, signs) // -|x|
	e.each("and.16b", x, x, signs)
	e.each("fadd.4s", y, y, y)
	e.each("fmax.4s", y, y, e.number(shared.ExponentLowest))
	scale, part := e.parts(y)
	e.each("fmul.4s", part, part, scale)
	e.each("fsub.4s", scale, scale, one)
	em := e.of("fadd.4s", scale, part)
	e.each("fsub.4s", scale, em, scale)
	e.each("fsub.4s", part, part, scale) // rounding error of em
	sum := e.of("fadd.4s", em, two)
	e.each("fsub.4s", scale, sum, two)
	e.each("fsub.4s", scale, em, scale)
	e.each("fadd.4s", scale, scale, part) // plus the rounding error of 2 + em
	e.each("fdiv.4s", em, em, sum)        // not above 0
	e.each("fmul.4s", scale, scale, em)
	e.each("fsub.4s", part, part, scale)
	e.each("fsub.4s", sum, one, em)
	e.each("fmul.4s", sum, sum, e.number(.5)) // 1/(2 + em)
	e.each("fmul.4s", part, part, sum)
	e.each("fadd.4s", em, em, part)
	e.each("fneg.4s", em, em)
	e.each("orr.16b", em, em, x)
	e.free(x, scale, part, sum)
	return em
}

// gateKernels writes the loops of package simd's gates.go and softmax.go.
func gateKernels(f *file) {
	elementwise(f, "lstmGates", 8, []string{"in", "forget", "gate", "out", "before", "c", "h"}, nil, tanhNumbers, gates)
	elementwise(f, "lstmGatesGrad", 8, []string{"in", "forget", "gate", "out", "before", "c", "dh", "dc", "carried"}, nil,
		tanhNumbers, gatesGrad)
	elementwise(f, "raise", 16, []string{"top", "x"}, []string{"bias"}, nil, func(e *element) {
		x := e.get(1)
		e.each("fadd.4s", x, x, e.scalars["bias"])
		e.put(0, e.largest(e.get(0), x))
	})
	elementwise(f, "addExp", 16, []string{"sum", "x", "top"}, []string{"bias"}, exponentialNumbers, func(e *element) {
		y := e.exponential(e.biased(1, 2))
		e.each("fadd.4s", y, y, e.get(0))
		e.put(0, y)
	})
	elementwise(f, "scaledExp", 16, []string{"x", "top", "factor"}, []string{"bias"}, exponentialNumbers,
		func(e *element) {
			y := e.exponential(e.biased(0, 1))
			e.each("fmul.4s", y, y, e.get(2))
			e.put(0, y)
		})
}

// biased returns array x + bias - array top.
func (e *element) biased(x, top int) []vector {
	sum, tops := e.get(x), e.get(top)
	e.each("fadd.4s", sum, sum, e.scalars["bias"])
	e.each("fsub.4s", sum, sum, tops)
	e.free(tops)
	return sum
}

func gates(e *element) {
	g := e.tanh(e.get(2))
	e.put(2, g)
	i := e.sigmoid(e.get(0))
	e.put(0, i)
	e.each("fmul.4s", g, g, i)
	e.free(i)
	f := e.sigmoid(e.get(1))
	e.put(1, f)
	e.each("fmul.4s", f, f, e.get(4))
	e.each("fadd.4s", f, f, g)
	e.free(g)
	e.put(5, f)
	t := e.tanh(f)
	o := e.sigmoid(e.get(3))
	e.put(3, o)
	e.each("fmul.4s", o, o, t)
	e.put(6, o)
}

func gatesGrad(e *element) {
	t, o, total := e.tanh(e.get(5)), e.get(3), e.get(6)
	e.each("fadd.4s", total, total, e.get(8))
	// The gradient of o before its sigmoid.
	d := e.of("fmul.4s", total, t)
	e.bySlope(d, o)
	// The cell's gradient.
	e.each("fmul.4s", total, total, o)
	e.put(3, d)
	e.free(o, d)
	e.byTanhSlope(total, t)
	e.free(t)
	dc := e.get(7)
	e.each("fadd.4s", dc, dc, total)
	e.free(total)
	i, g := e.get(0), e.get(2)
	d = e.of("fmul.4s", dc, g)
	e.bySlope(d, i)
	e.put(0, d)
	e.each("fmul.4s", d, dc, i)
	e.byTanhSlope(d, g)
	e.put(2, d)
	e.free(i, g)
	f := e.get(1)
	e.each("fmul.4s", d, dc, e.get(4))
	e.bySlope(d, f)
	e.put(1, d)
	e.each("fmul.4s", dc, dc, f)
	e.put(7, dc)
}

// bySlope multiplies d by the derivative y·(1 - y) of a sigmoid, and byTanhSlope by the derivative 1 - y·y of tanh.
func (e *element) bySlope(d, y []vector) {
	x := e.of("fsub.4s", e.number(1), y)
	e.each("fmul.4s", x, x, y)
	e.each("fmul.4s", d, d, x)
	e.free(x)
}

func (e *element) byTanhSlope(d, y []vector) {
	x := e.of("fmul.4s", y, y)
	e.each("fsub.4s", x, e.number(1), x)
	e.each("fmul.4s", d, d, x)
	e.free(x)
}

// softmax writes simd.Softmax: 8 lanes go down the block twice, for the largest logit and for the exponentials.
func softmax(f *file) {
	f.function("softmaxNEON", "func(block *float32, stride, rows int, top, sum, factor *float32, lanes int)",
		func(k *kernel) {
			e := &element{kernel: k, count: 8}
			block, stride, rows, lanes := k.load("block"), k.loadBytes("stride"), k.load("rows"), k.load("lanes")
			tops, sums, factors := k.load("top"), k.load("sum"), k.load("factor")
			at, count := k.register(), k.register()
			e.readNumbers("softmaxNumbers", exponentialNumbers)

			k.label("lanes")
			top := k.peek(tops, 8)
			k.move(block, at)
			k.move(rows, count)
			k.repeat(count, "largest", func() {
				x := k.peek(at, 8)
				m := e.of("fcmgt.4s", top, x)
				k.each("bif.16b", top, x, m) // the logit if one of them is NaN
				k.add(stride, at)
			})

			total := k.grid(1, 2)
			k.clear(total)
			k.move(block, at)
			k.move(rows, count)
			k.repeat(count, "exponential", func() {
				x := k.peek(at, 8)
				k.each("fsub.4s", x, x, top)
				y := e.exponential(x)
				k.each("fadd.4s", total[0], total[0], y)
				k.spill(y, at, 8)
				k.add(stride, at)
			})

			before := k.peek(tops, 8)
			k.put(top, tops, 8)
			k.each("fsub.4s", before, before, top)
			k.free(top)
			factor := e.exponential(before)
			k.put(factor, factors, 8)
			k.each("fmul.4s", factor, factor, k.peek(sums, 8))
			k.each("fadd.4s", factor, factor, total[0])
			k.put(factor, sums, 8)
			k.op("ADD $32, R%d, R%d", block, block)
			k.op("SUBS $8, R%d, R%d", lanes, lanes)
			k.op("BNE lanes")
		})
}
