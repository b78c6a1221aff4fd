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
