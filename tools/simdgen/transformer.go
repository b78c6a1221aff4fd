package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"nmn/tools/simdgen/shared"
)

// transformerKernels writes the loops of package simd's transformer.go.
func transformerKernels(v vectors) {
	elementwise(v, "sum", []string{"dst", "a", "b"}, nil, func(e *element) {
		x := e.get(1)
		VADDPS(e.get(2), x, x)
		e.put(0, x)
	})
	elementwise(v, "addProduct", []string{"dst", "r", "x", "factor"}, nil, func(e *element) {
		y := e.product(e.get(2), e.get(3))
		VADDPS(y, e.get(1), y)
		e.put(0, y)
	})
	elementwise(v, "scaleTo", []string{"dst", "src"}, []string{"a"}, func(e *element) {
		e.put(0, e.product(e.get(1), e.scalars["a"]))
	})
	elementwise(v, "standardize", []string{"dst", "x", "gain", "bias"}, []string{"high", "low", "inverse"},
		func(e *element) {
			x := e.get(1)
			VSUBPS(e.scalars["high"], x, x)
			VSUBPS(e.scalars["low"], x, x)
			VMULPS(e.scalars["inverse"], x, x)
			VMULPS(e.get(2), x, x)
			VADDPS(e.get(3), x, x)
			e.put(0, x)
		})
	elementwise(v, "gelu", []string{"dst", "x"}, nil, gelu)
	elementwise(v, "geluTanh", []string{"dst", "x"}, nil, func(e *element) {
		x := e.get(1)
		u := e.product(x, x)
		VMULPS(constant("geluCubic", shared.GELUCubic), u, u)
		VADDPS(constant("geluLinear", shared.GELULinear), u, u)
		VMULPS(x, u, u)
		e.put(0, e.product(e.atLeast(x, "geluLowest", shared.GELULowest), e.sigmoid(u)))
	})
	elementwise(v, "geluQuick", []string{"dst", "x"}, nil, func(e *element) {
		x := e.get(1)
		u := e.product(x, constant("geluSlope", shared.GELUSlope))
		e.put(0, e.product(e.atLeast(x, "geluLowest", shared.GELULowest), e.sigmoid(u)))
	})
	moments(v)
	softmax(v)
}

// atLeast returns max(x, bound). NaN stays.
func (e *element) atLeast(x reg.VecVirtual, name string, bound float32) reg.VecVirtual {
	y := e.register()
	VMOVUPS(constant(name, bound), y)
	VMAXPS(x, y, y)
	return y
}

// horner is a polynomial in z, the highest coefficient first.
func (e *element) horner(name string, coefficients []float32, z reg.VecVirtual) reg.VecVirtual {
	sum := e.product(z, constant(label("%s%d", name, 0), coefficients[0]))
	for i, c := range coefficients[1:] {
		if i > 0 {
			VMULPS(z, sum, sum)
		}
		VADDPS(constant(label("%s%d", name, i+1), c), sum, sum)
	}
	return sum
}

// gelu is max(x, 0) - |x|·Φ(-|x|).
func gelu(e *element) {
	x := e.get(1)
	size, near, tail := e.register(), e.register(), e.register()
	VANDPS(constant("sizes", math.Float32frombits(0x7fffffff)), x, size)
	VMOVUPS(constant("geluEnd", shared.GELUEnd), near)
	VMINPS(size, near, near)
	z := e.product(near, near)
	above, below := e.horner("geluAbove", shared.GELUAbove, z), e.horner("geluBelow", shared.GELUBelow, z)
	VMULPS(near, above, above)
	VDIVPS(below, above, above)
	VMOVUPS(constant("halves", .5), tail)
	VSUBPS(above, tail, tail)
	zero := e.nothing()
	VMAXPS(tail, zero, tail)
	VMULPS(near, tail, tail)
	VMAXPS(x, zero, x)
	VSUBPS(tail, x, x)
	e.put(0, x)
}

// moments writes the loop of simd.Moments for groups of eight values. Squares are rounded before they are added.
func moments(v vectors) {
	kernel("moments"+v.name, "func(x *float32, first float64, groups int) (sums [16]float64)")
	x, sums, groups := load("x"), firstOf(Return("sums")), load("groups")
	parts := 16 / v.lanes
	first := v.register()
	VBROADCASTSD(param("first"), first)
	sum, squares := v.grid(1, parts)[0], v.grid(1, parts)[0]
	for i := range parts {
		v.zero(sum[i])
		v.zero(squares[i])
	}
	Label("group")
	for i := range parts {
		d := v.register()
		VCVTPS2PD(Mem{Base: x, Disp: 2 * i * v.lanes}, d)
		VSUBPD(first, d, d)
		VADDPD(d, sum[i], sum[i])
		VMULPD(d, d, d)
		VADDPD(d, squares[i], squares[i])
	}
	ADDQ(Imm(32), x)
	countDown(groups, "group")
	for i := range parts {
		VMOVUPD(sum[i], Mem{Base: sums, Disp: i * v.bytes()})
		VMOVUPD(squares[i], Mem{Base: sums, Disp: 64 + i*v.bytes()})
	}
	finish()
}

// softmax writes simd.Softmax: a vector of lanes goes down the block twice, for the largest logit and for the
// exponentials.
func softmax(v vectors) {
	kernel("softmax"+v.name, "func(block *float32, stride, rows int, top, sum, factor *float32, lanes int)")
	e := &element{span: span{vectors: v}}
	block, stride, rows, lanes := load("block"), loadBytes("stride"), load("rows"), load("lanes")
	tops, sums, factors := load("top"), load("sum"), load("factor")
	at, count := GP64(), GP64()

	Label("vector")
	before, top := v.register(), v.register()
	VMOVUPS(Mem{Base: tops}, before)
	VMOVAPS(before, top)
	MOVQ(block, at)
	MOVQ(rows, count)
	Label("largest")
	VMAXPS(Mem{Base: at}, top, top) // the value in memory if one of them is NaN
	ADDQ(stride, at)
	countDown(count, "largest")

	total := v.nothing()
	MOVQ(block, at)
	MOVQ(rows, count)
	Label("exponential")
	p := v.register()
	VMOVUPS(Mem{Base: at}, p)
	VSUBPS(top, p, p)
	p = e.exponential(p)
	VMOVUPS(p, Mem{Base: at})
	VADDPS(p, total, total)
	ADDQ(stride, at)
	countDown(count, "exponential")

	VMOVUPS(top, Mem{Base: tops})
	VSUBPS(top, before, before)
	factor := e.exponential(before)
	VMOVUPS(factor, Mem{Base: factors})
	VMULPS(Mem{Base: sums}, factor, factor)
	VADDPS(total, factor, factor)
	VMOVUPS(factor, Mem{Base: sums})
	for _, pointer := range []reg.Register{block, tops, sums, factors} {
		ADDQ(Imm(uint64(v.bytes())), pointer)
	}
	SUBQ(Imm(uint64(v.lanes)), lanes)
	JNE(LabelRef("vector"))
	finish()
}

// sumSquares writes the loop of simd.SumSquares for groups of eight values. The square of a float32 is
// exact in float64, so that a fused product rounds no less often.
func sumSquares(v vectors) {
	kernel("sumSquares"+v.name, "func(x *float32, groups int) (sums [8]float64)")
	x, groups := load("x"), load("groups")
	var acc []reg.VecVirtual
	for range 16 / v.lanes {
		acc = append(acc, v.register())
	}
	for _, sum := range acc {
		v.zero(sum)
	}
	Label("group")
	for i, sum := range acc {
		value := v.register()
		VCVTPS2PD(Mem{Base: x, Disp: 2 * i * v.lanes}, value)
		VFMADD231PD(value, value, sum)
	}
	ADDQ(Imm(32), x)
	countDown(groups, "group")
	sums := firstOf(Return("sums"))
	for i, sum := range acc {
		VMOVUPD(sum, Mem{Base: sums, Disp: i * v.bytes()})
	}
	finish()
}
