package main

import (
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// windowRow is the body of a loop over a row of 2×2 windows of a map. It handles one vector of the channels
// of one window.
type windowRow struct {
	element
	pairs int          // number of arrays with two cells of each window; they come first
	next  reg.Register // index of the right cell of a window
}

// windowKernel writes a function over count windows with a number of channels. The first arrays are rows of
// the map, and the others hold one cell for each window.
func windowKernel(v vectors, name string, rows, cells []string, body func(w *windowRow)) {
	arrays := append(append([]string(nil), rows...), cells...)
	kernel(name+v.name, "func("+strings.Join(arrays, ", ")+" *float32, channels, count int)")
	w := windowRow{element: element{span: span{vectors: v, index: GP64()}}, pairs: len(rows), next: GP64()}
	for _, array := range arrays {
		w.pointers = append(w.pointers, load(array))
	}
	channels, count, rest, step := load("channels"), load("count"), GP64(), GP64()
	w.mask = w.tailMask(channels, v.lanes)
	MOVQ(channels, step)
	SHLQ(Imm(2), step)
	Label("window")
	XORQ(w.index, w.index)
	MOVQ(step, w.next)
	MOVQ(channels, rest)
	w.each("next", v.lanes, rest, func() { body(&w) }, w.next)
	for i, p := range w.pointers {
		if i < w.pairs {
			LEAQ(Mem{Base: p, Index: step, Scale: 2}, p)
		} else {
			ADDQ(step, p)
		}
	}
	countDown(count, "window")
	finish()
}

// cell and right load a vector of a window; of a pair of cells, cell is the left one.
func (w *windowRow) cell(array int) reg.VecVirtual { return w.get(array) }

func (w *windowRow) right(array int) (x reg.VecVirtual) {
	w.aside(func() { x = w.get(array) })
	return x
}

func (w *windowRow) putRight(array int, x reg.VecVirtual) { w.aside(func() { w.put(array, x) }) }

// aside runs f at the right cell of the window.
func (w *windowRow) aside(f func()) {
	index := w.index
	w.index = w.next
	f()
	w.index = index
}

// windowKernels writes all of them. Package simd documents each.
func windowKernels(v vectors) {
	windowKernel(v, "maxWindows", []string{"upper", "lower"}, []string{"dst"}, func(w *windowRow) {
		w.put(2, w.largest(w.largest(w.cell(0), w.right(0)), w.largest(w.cell(1), w.right(1))))
	})
	for _, relu := range []bool{false, true} {
		name := "scatterWindows"
		if relu {
			name += "ReLU"
		}
		windowKernel(v, name, []string{"dUpper", "dLower", "upper", "lower"}, []string{"top", "grad"}, func(w *windowRow) {
			top, left := w.get(4), w.get(5)
			if relu {
				left, _ = w.where(greaterThan, top, w.nothing(), left)
			}
			upperLeft, left := w.where(equalTo, w.cell(2), top, left)
			upperRight, left := w.where(equalTo, w.right(2), top, left)
			lowerLeft, lowerRight := w.where(equalTo, w.cell(3), top, left)
			w.put(1, lowerLeft)
			w.putRight(1, lowerRight)
			w.put(0, upperLeft)
			w.putRight(0, upperRight)
		})
	}
}

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
