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
	TEXT(name+v.name, NOSPLIT,
		"func(d, x, top, grad *float32, offsets *int, lo, end, last, channels, step, count int)")
	Pragma("noescape")
	f := firstScatter{element: element{vectors: v, index: GP64()}, candidate: GP64(), at: GP64(), relu: relu}
	for _, array := range []string{"d", "x", "top", "grad"} {
		f.pointers = append(f.pointers, load(array))
	}
	f.offsets = load("offsets")
	rest := GP64()
	f.mask = f.tailMask(load("channels"))
	Label("window")
	XORQ(f.index, f.index)
	MOVQ(param("channels"), rest)
	SUBQ(Imm(uint64(v.lanes)), rest)
	JL(LabelRef("rest"))
	Label("vector")
	f.body("vector")
	ADDQ(Imm(uint64(v.bytes())), f.index)
	SUBQ(Imm(uint64(v.lanes)), rest)
	JGE(LabelRef("vector"))
	Label("rest")
	ADDQ(Imm(uint64(v.lanes)), rest)
	JE(LabelRef("next"))
	f.partial = true
	f.body("rest")
	Label("next")
	for i, bytes := range []string{"step", "step", "channels", "channels"} {
		ADDQ(loadBytes(bytes), f.pointers[i])
	}
	DECQ(param("count"))
	JNE(LabelRef("window"))
	VZEROUPPER()
	RET()
}

// firstScatter is the body of scatterFirst at work on one vector of the channels of a window.
type firstScatter struct {
	element
	offsets       reg.Register
	candidate, at reg.Register // its number, and the index of its vector
	relu          bool
}

func (f *firstScatter) body(name string) {
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

// give adds to d.
func (f *firstScatter) give(x reg.VecVirtual) {
	sum := f.get(0)
	VADDPS(x, sum, sum)
	f.put(0, sum)
}
