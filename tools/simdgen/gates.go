package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"nmn/tools/simdgen/shared"
)

// constant is a float32 in every lane of a register, in read-only memory.
func constant(name string, value float32) Mem {
	return global(name, func() {
		for lane := range avx512.lanes {
			DATA(4*lane, U32(math.Float32bits(value)))
		}
	})
}

func signs() Mem { return constant("signs", float32(math.Copysign(0, -1))) }

// product returns a·b, difference a - b; sources may be in memory.
func (e *element) product(a reg.VecVirtual, b Op) reg.VecVirtual {
	r := e.register()
	VMULPS(b, a, r)
	return r
}

func (e *element) difference(a Op, b Op) reg.VecVirtual {
	r := e.register()
	VMOVUPS(a, r)
	VSUBPS(b, r, r)
	return r
}

// series is 1/k!.
func series(k int) Mem {
	return constant(label("series%d", k), shared.Series(k))
}

// parts computes exp(x) = scale·(1 + rest) for x in a register, which is destroyed: the powers of two, and
// exp(r) - 1 of the remainder by its series.
func (e *element) parts(x reg.VecVirtual) (scale, rest reg.VecVirtual) {
	shift := constant("roundingShift", shared.RoundingShift)
	scale = e.product(x, constant("log2e", math.Log2E))
	VADDPS(shift, scale, scale)
	k := e.register()
	VSUBPS(shift, scale, k)
	VPSLLD(Imm(23), scale, scale)
	VPADDD(constant("ones", 1), scale, scale)
	VSUBPS(e.product(k, constant("ln2High", shared.Ln2High)), x, x)
	VSUBPS(e.product(k, constant("ln2Low", shared.Ln2Low)), x, x)
	rest = e.product(x, series(7))
	for k := 6; k >= 2; k-- {
		VADDPS(series(k), rest, rest)
		VMULPS(x, rest, rest)
	}
	VMULPS(x, rest, rest)
	VADDPS(x, rest, rest)
	return scale, rest
}

// lowest bounds the arguments of exponentials, so that powers of two stay normal numbers. NaN stays.
func (e *element) lowest(x reg.VecVirtual) {
	bound := e.register()
	VMOVUPS(constant("exponentLowest", shared.ExponentLowest), bound)
	VMAXPS(x, bound, x)
}

// exponential returns exp(x), x not above 0, which is destroyed.
func (e *element) exponential(x reg.VecVirtual) reg.VecVirtual {
	e.lowest(x)
	scale, rest := e.parts(x)
	VMULPS(scale, rest, rest)
	VADDPS(scale, rest, rest)
	return rest
}

// sigmoid returns 1/(1 + exp(-x)).
func (e *element) sigmoid(x reg.VecVirtual) reg.VecVirtual {
	x = e.difference(constant("zeros", 0), x)
	e.lowest(x)
	bound := e.register()
	VMOVUPS(constant("exponentHighest", shared.ExponentHighest), bound)
	VMINPS(x, bound, x)
	scale, part := e.parts(x)
	one := constant("ones", 1)
	VMULPS(scale, part, part)
	VADDPS(one, scale, scale)
	sum, lost, y := e.register(), e.register(), e.register()
	VADDPS(scale, part, sum)
	VSUBPS(scale, sum, lost)
	VSUBPS(lost, part, lost) // rounding error of the sum
	VMOVUPS(one, y)
	VDIVPS(sum, y, y)
	VMULPS(y, lost, lost)
	VMULPS(y, lost, lost)
	VSUBPS(lost, y, y)
	return y
}

// tanh returns -em/(2 + em) with the sign of x and em = exp(-2|x|) - 1.
func (e *element) tanh(x reg.VecVirtual) reg.VecVirtual {
	sign, y := e.register(), e.register()
	VANDPS(signs(), x, sign)
	VORPS(signs(), x, y) // -|x|
	VADDPS(y, y, y)
	e.lowest(y)
	scale, part := e.parts(y)
	one, two := constant("ones", 1), constant("twos", 2)
	VMULPS(scale, part, part)
	VSUBPS(one, scale, scale)
	em, low, sum, lost := e.register(), e.register(), e.register(), e.register()
	VADDPS(scale, part, em)
	VSUBPS(scale, em, low)
	VSUBPS(low, part, low) // rounding error of em
	VADDPS(two, em, sum)
	VSUBPS(two, sum, lost)
	VSUBPS(lost, em, lost)
	VADDPS(low, lost, lost) // plus the rounding error of 2 + em
	VDIVPS(sum, em, em)     // not above 0
	VMULPS(em, lost, lost)
	VSUBPS(lost, low, low)
	VMOVUPS(one, y)
	VSUBPS(em, y, y)
	VMULPS(constant("halves", .5), y, y) // 1/(2 + em)
	VMULPS(y, low, low)
	VADDPS(low, em, em)
	VXORPS(signs(), em, em)
	VORPS(sign, em, em)
	return em
}

// gateKernels writes the loops of package simd's gates.go and softmax.go.
func gateKernels(v vectors) {
	elementwise(v, "lstmGates", []string{"in", "forget", "gate", "out", "before", "c", "h"}, nil, func(e *element) {
		i, f, g := e.sigmoid(e.get(0)), e.sigmoid(e.get(1)), e.tanh(e.get(2))
		e.put(0, i)
		e.put(1, f)
		e.put(2, g)
		VMULPS(g, i, i)
		VMULPS(e.get(4), f, f)
		VADDPS(i, f, f)
		e.put(5, f)
		o := e.sigmoid(e.get(3))
		e.put(3, o)
		e.put(6, e.product(e.tanh(f), o))
	})
	elementwise(v, "lstmGatesGrad", []string{"in", "forget", "gate", "out", "before", "c", "dh", "dc", "carried"},
		nil, gatesGrad)
	elementwise(v, "raise", []string{"top", "x"}, []string{"bias"}, func(e *element) {
		x := e.get(1)
		VADDPS(e.scalars["bias"], x, x)
		e.put(0, e.largest(e.get(0), x))
	})
	elementwise(v, "addExp", []string{"sum", "x", "top"}, []string{"bias"}, func(e *element) {
		x := e.get(1)
		VADDPS(e.scalars["bias"], x, x)
		VSUBPS(e.get(2), x, x)
		y := e.exponential(x)
		VADDPS(e.get(0), y, y)
		e.put(0, y)
	})
	elementwise(v, "scaledExp", []string{"x", "top", "factor"}, []string{"bias"}, func(e *element) {
		x := e.get(0)
		VADDPS(e.scalars["bias"], x, x)
		VSUBPS(e.get(1), x, x)
		e.put(0, e.product(e.exponential(x), e.get(2)))
	})
}

func gatesGrad(e *element) {
	one := constant("ones", 1)
	o, total := e.get(3), e.get(6)
	VADDPS(e.get(8), total, total)
	t := e.tanh(e.get(5))
	// The gradient of o before its sigmoid.
	d := e.product(e.product(total, t), e.product(o, e.difference(one, o)))
	e.put(3, d)
	// The cell's gradient.
	dc := e.product(e.product(total, o), e.difference(one, e.product(t, t)))
	VADDPS(e.get(7), dc, dc)
	i, g := e.get(0), e.get(2)
	e.put(0, e.product(e.product(dc, g), e.product(i, e.difference(one, i))))
	e.put(2, e.product(e.product(dc, i), e.difference(one, e.product(g, g))))
	f := e.get(1)
	e.put(1, e.product(e.product(dc, e.get(4)), e.product(f, e.difference(one, f))))
	e.put(7, e.product(dc, f))
}
