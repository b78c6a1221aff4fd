package main

import (
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Comparisons, quiet and false for NaN.
const (
	equalTo     = 0x00
	greaterThan = 0x1e
)

// span is a loop over float32, at work on one vector, the last one under a mask.
type span struct {
	vectors
	index   reg.Register // bytes before the vector at work
	partial bool         // it is the last, incomplete one
	mask    reg.Register
}

// each emits body for the vectors of count float32, which is destroyed, and then a label.
func (s *span) each(end string, lanes int, count reg.Register, body func(), indices ...reg.Register) {
	vectorLoop("", end, lanes, count, func(full bool) {
		s.partial = !full
		body()
	}, append([]reg.Register{s.index}, indices...)...)
}

func (s *span) read(from Mem, to reg.VecVirtual) {
	switch {
	case !s.partial:
		VMOVUPS(from, to)
	case s.wide:
		VMOVUPS_Z(from, s.mask, to)
	default:
		VMASKMOVPS(from, s.mask, to)
	}
}

func (s *span) write(x reg.VecVirtual, to Mem) {
	switch {
	case !s.partial:
		VMOVUPS(x, to)
	case s.wide:
		VMOVUPS(x, s.mask, to)
	default:
		VMASKMOVPS(x, s.mask, to)
	}
}

// element is the body of an elementwise loop.
type element struct {
	span
	pointers []reg.Register
	scalars  map[string]reg.VecVirtual
}

// elementwise writes a function over arrays of count float32, with scalars in every lane. No product is
// fused with a sum: every level, and the Go twin, give the same bits.
func elementwise(v vectors, name string, arrays, scalars []string, body func(e *element)) {
	signature := "func(" + strings.Join(arrays, ", ") + " *float32, "
	if len(scalars) > 0 {
		signature += strings.Join(scalars, ", ") + " float32, "
	}
	kernel(name+v.name, signature+"count int)")
	e := element{span: span{vectors: v}, scalars: map[string]reg.VecVirtual{}}
	for _, array := range arrays {
		e.pointers = append(e.pointers, load(array))
	}
	for _, scalar := range scalars {
		e.scalars[scalar] = v.register()
		VBROADCASTSS(param(scalar), e.scalars[scalar])
	}
	count := load("count")
	e.mask = e.tailMask(count, v.lanes)
	e.index = GP64()
	XORQ(e.index, e.index)
	e.each("end", v.lanes, count, func() { body(&e) })
	finish()
}

// tailMask selects the lanes of the last, incomplete vector, a register or half of one: an opmask, or sign bits out of
// a table.
func (v vectors) tailMask(count reg.Register, lanes int) reg.Register {
	if v.wide {
		return v.opmask(count, lanes)
	}
	at, rest, mask := GP64(), GP64(), v.register()
	if lanes < v.lanes {
		mask = v.half()
	}
	MOVQ(count, rest)
	ANDQ(Imm(uint64(lanes-1)), rest)
	LEAQ(laneTable, at)
	NEGQ(rest)
	VMOVUPS(Mem{Base: at, Index: rest, Scale: 4, Disp: 32}, mask)
	return mask
}

// laneTable holds eight times all bits and eight times none.
var laneTable Mem

func writeLaneTable() {
	laneTable = global("lanes", func() {
		for i := range 16 {
			word := U32(0)
			if i < 8 {
				word = U32(0xffffffff)
			}
			DATA(4*i, word)
		}
	})
}

func (e *element) memory(array int) Mem {
	return Mem{Base: e.pointers[array], Index: e.index, Scale: 1}
}

func (e *element) get(array int) reg.VecVirtual {
	x := e.register()
	e.read(e.memory(array), x)
	return x
}

func (e *element) put(array int, x reg.VecVirtual) { e.write(x, e.memory(array)) }

func (e *element) addProduct(a reg.VecVirtual, scalar string, x reg.VecVirtual) reg.VecVirtual {
	r := e.register()
	VMULPS(e.scalars[scalar], x, r)
	VADDPS(r, a, r)
	return r
}

// where returns x if a compares to b, and 0 elsewhere. It also returns x if it does not, and 0 elsewhere.
func (e *element) where(comparison uint64, a, b, x reg.VecVirtual) (yes, no reg.VecVirtual) {
	yes, no = e.register(), e.register()
	if e.wide {
		k, not := K(), K()
		VCMPPS(Imm(comparison), b, a, k)
		KNOTW(k, not)
		VMOVAPS_Z(x, k, yes)
		VMOVAPS_Z(x, not, no)
		return yes, no
	}
	m := e.register()
	VCMPPS(Imm(comparison), b, a, m)
	VANDPS(m, x, yes)
	VANDNPS(x, m, no)
	return yes, no
}

// largest returns the maximum, NaN if a or b is NaN.
func (e *element) largest(a, b reg.VecVirtual) reg.VecVirtual {
	const unordered = 3
	m := e.register()
	VMAXPS(b, a, m) // b if one of them is NaN
	if e.wide {
		k := K()
		VCMPPS(Imm(unordered), a, a, k)
		VMOVAPS(a, k, m)
		return m
	}
	nan := e.register()
	VCMPPS(Imm(unordered), a, a, nan)
	VBLENDVPS(nan, a, m, m)
	return m
}

// elementwiseKernels writes all of them. Package simd documents each.
func elementwiseKernels(v vectors) {
	elementwise(v, "scale", []string{"x"}, []string{"a"}, func(e *element) {
		x := e.get(0)
		VMULPS(e.scalars["a"], x, x)
		e.put(0, x)
	})
	elementwise(v, "addScaled", []string{"dst", "src"}, []string{"a"}, func(e *element) {
		e.put(0, e.addProduct(e.get(0), "a", e.get(1)))
	})
	elementwise(v, "relu", []string{"dst", "src"}, nil, func(e *element) {
		x := e.get(1)
		yes, _ := e.where(notLessEqual, x, e.nothing(), x)
		e.put(0, yes)
	})
	elementwise(v, "reluGrad", []string{"dst", "grad", "y"}, nil, func(e *element) {
		yes, _ := e.where(greaterThan, e.get(2), e.nothing(), e.get(1))
		e.put(0, yes)
	})
	elementwise(v, "maxOfFour", []string{"dst", "x0", "x1", "x2", "x3"}, nil, func(e *element) {
		e.put(0, e.largest(e.largest(e.get(1), e.get(2)), e.largest(e.get(3), e.get(4))))
	})
	scatter := []string{"d0", "d1", "d2", "d3", "x0", "x1", "x2", "top", "grad"}
	elementwise(v, "scatterMax", scatter, nil, func(e *element) { scatterMax(e, e.get(7), e.get(8)) })
	elementwise(v, "scatterMaxReLU", scatter, nil, func(e *element) {
		top := e.get(7)
		left, _ := e.where(greaterThan, top, e.nothing(), e.get(8))
		scatterMax(e, top, left)
	})
	elementwise(v, "sgd", []string{"weight", "gradient", "first"}, []string{"lr", "momentum", "decay"}, sgd)
	for i, name := range []string{"adam", "adamW"} {
		elementwise(v, name, []string{"weight", "gradient", "first", "second"},
			[]string{"lr", "decay", "beta1", "rest1", "beta2", "rest2", "correct1", "correct2", "epsilon"},
			func(e *element) { adam(e, i == 1) })
	}
	elementwise(v, "approach", []string{"dst", "src"}, []string{"share"}, func(e *element) {
		x, distance := e.get(0), e.get(1)
		VSUBPS(x, distance, distance)
		e.put(0, e.addProduct(x, "share", distance))
	})
}

func scatterMax(e *element, top, left reg.VecVirtual) {
	var part [3]reg.VecVirtual
	for i := range part {
		part[i], left = e.where(equalTo, e.get(4+i), top, left)
	}
	e.put(3, left)
	for i := 2; i >= 0; i-- {
		e.put(i, part[i])
	}
}

func sgd(e *element) {
	w, m := e.get(0), e.get(2)
	g := e.addProduct(e.get(1), "decay", w)
	VMULPS(e.scalars["momentum"], m, m)
	VADDPS(g, m, m)
	e.put(2, m)
	VMULPS(e.scalars["lr"], m, m)
	VSUBPS(m, w, w)
	e.put(0, w)
}

// adam is Adam, whose decay joins the gradient, or with decoupled decay AdamW, whose decay joins the step.
func adam(e *element, decoupled bool) {
	w, g, m, v := e.get(0), e.get(1), e.get(2), e.get(3)
	if !decoupled {
		g = e.addProduct(g, "decay", w)
	}
	VMULPS(e.scalars["beta1"], m, m)
	m = e.addProduct(m, "rest1", g)
	e.put(2, m)
	square := e.register()
	VMULPS(e.scalars["rest2"], g, square)
	VMULPS(g, square, square)
	VMULPS(e.scalars["beta2"], v, v)
	VADDPS(square, v, v)
	e.put(3, v)
	VMULPS(e.scalars["correct2"], v, v)
	VSQRTPS(v, v)
	VADDPS(e.scalars["epsilon"], v, v)
	VMULPS(e.scalars["correct1"], m, m)
	if decoupled {
		VDIVPS(v, m, m)
		m = e.addProduct(m, "decay", w)
		VMULPS(e.scalars["lr"], m, m)
	} else {
		VMULPS(e.scalars["lr"], m, m)
		VDIVPS(v, m, m)
	}
	VSUBPS(m, w, w)
	e.put(0, w)
}
