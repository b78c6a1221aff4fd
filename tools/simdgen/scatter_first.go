package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// scatterFirst writes the kernel of simd.FirstScatter. The candidates before lo only take their gradient out
// of the rest. Those from lo to end receive it. With last, the candidate at end gets the remaining gradient.
func scatterFirst(v vectors, relu bool) {
	name := "scatterFirst"
	if relu {
		name += "ReLU"
	}
	kernel(name+v.name,
		"func(d, x, top, grad *float32, offsets *int, lo, end, last, channels, step, count int)")
	f := firstScatter{element: element{span: span{vectors: v, index: GP64()}}, candidate: GP64(), at: GP64(), relu: relu}
	for _, array := range []string{"d", "x", "top", "grad"} {
		f.pointers = append(f.pointers, load(array))
	}
	f.offsets = load("offsets")
	rest := GP64()
	f.mask = f.tailMask(load("channels"), v.lanes)
	Label("window")
	XORQ(f.index, f.index)
	MOVQ(param("channels"), rest)
	f.each("next", v.lanes, rest, f.body)
	for i, bytes := range []string{"step", "step", "channels", "channels"} {
		ADDQ(loadBytes(bytes), f.pointers[i])
	}
	countDown(param("count"), "window")
	finish()
}

// firstScatter is the body of scatterFirst at work on one vector of the channels of a window.
type firstScatter struct {
	element
	offsets       reg.Register
	candidate, at reg.Register // its number, and the index of its vector
	relu          bool
}

func (f *firstScatter) body() {
	name := "vector"
	if f.partial {
		name = "rest"
	}
	top, left := f.get(2), f.get(3)
	if f.relu {
		left, _ = f.where(greaterThan, top, f.nothing(), left)
	}
	XORQ(f.candidate, f.candidate)
	for _, part := range []string{"lo", "end"} {
		loop, done := label("%s_%s", name, part), label("%s_%s_done", name, part)
		Label(loop)
		CMPQ(f.candidate, param(part))
		JGE(LabelRef(done))
		f.there(func() {
			given, rest := f.where(equalTo, f.get(1), top, left)
			if part == "end" {
				f.give(given)
			}
			VMOVAPS(rest, left)
		})
		INCQ(f.candidate)
		JMP(LabelRef(loop))
		Label(done)
	}
	CMPQ(param("last"), Imm(0))
	JE(LabelRef(name + "_given"))
	f.there(func() { f.give(left) })
	Label(name + "_given")
}

// there runs do at the vector of the candidate.
func (f *firstScatter) there(do func()) {
	MOVQ(Mem{Base: f.offsets, Index: f.candidate, Scale: 8}, f.at)
	LEAQ(Mem{Base: f.index, Index: f.at, Scale: 4}, f.at)
	index := f.index
	f.index = f.at
	do()
	f.index = index
}

func (f *firstScatter) give(x reg.VecVirtual) {
	sum := f.get(0)
	VADDPS(x, sum, sum)
	f.put(0, sum)
}
