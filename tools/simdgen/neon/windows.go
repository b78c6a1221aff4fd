package neon

import (
	"fmt"
	"strings"
)

// windowRow is the body of a loop over a row of 2×2 windows of a map, at work on some channels of one window.
type windowRow struct {
	element            // its first pointers are the left cells of rows, the others have one cell for a window
	right   []register // right cells of the rows
}

// windowKernel writes a function over count windows with a number of channels. The first arrays are rows of
// the map, and the others hold one cell for each window.
func windowKernel(f *file, name string, rows, cells []string, body func(w *windowRow)) {
	arrays := append(append([]string(nil), rows...), cells...)
	f.function(name+"NEON", "func("+strings.Join(arrays, ", ")+" *float32, channels, count int)", func(k *kernel) {
		w := &windowRow{element: element{kernel: k}}
		for _, array := range arrays {
			w.pointers = append(w.pointers, k.load(array))
		}
		channels, count, step, left := k.load("channels"), k.load("count"), k.loadBytes("channels"), k.register()
		for i := range rows {
			w.right = append(w.right, k.register())
			k.op("ADD R%d, R%d, R%d", step, w.pointers[i], w.right[i])
		}
		k.label("window")
		k.move(channels, left)
		k.walk("channel", left, func(n int) {
			w.count = n
			body(w)
			for _, p := range append(append([]register(nil), w.pointers...), w.right...) {
				k.op("ADD $%d, R%d, R%d", 4*n, p, p)
			}
		})
		for i, right := range w.right {
			k.move(right, w.pointers[i])
			k.add(step, right)
		}
		k.countDown(count, "window")
	})
}

// getRight and putRight are get and put for the right cell of a row.
func (w *windowRow) getRight(row int) []vector    { return w.peek(w.right[row], w.count) }
func (w *windowRow) putRight(row int, x []vector) { w.spill(x, w.right[row], w.count) }

// windowKernels writes the loops of package simd's windows.go.
func windowKernels(f *file) {
	windowKernel(f, "maxWindows", []string{"upper", "lower"}, []string{"dst"}, func(w *windowRow) {
		w.put(2, w.largest(w.largest(w.get(0), w.getRight(0)), w.largest(w.get(1), w.getRight(1))))
	})
	for _, relu := range []bool{false, true} {
		name := "scatterWindows"
		if relu {
			name += "ReLU"
		}
		windowKernel(f, name, []string{"dUpper", "dLower", "upper", "lower"}, []string{"top", "grad"},
			func(w *windowRow) { scatterWindows(w, relu) })
	}
}

func scatterWindows(w *windowRow, relu bool) {
	top, left := w.get(4), w.get(5)
	if relu {
		w.positive(top, left)
	}
	var parts [3][]vector
	for i, read := range []func() []vector{
		func() []vector { return w.get(2) }, func() []vector { return w.getRight(2) }, func() []vector { return w.get(3) },
	} {
		x := read()
		parts[i] = w.part(x, top, left)
		w.free(x)
	}
	w.put(1, parts[2])
	w.putRight(1, left)
	w.put(0, parts[0])
	w.putRight(0, parts[1])
}

// scatterFirst writes the kernel of simd.FirstScatter. The candidates before lo only take their gradient out
// of the rest. Those from lo to end receive it. With last, the candidate at end gets the remaining gradient.
func scatterFirst(f *file, relu bool) {
	name := "scatterFirst"
	if relu {
		name += "ReLU"
	}
	f.function(name+"NEON", "func(d, x, top, grad *float32, offsets *int, lo, end, last, channels, step, count int)",
		func(k *kernel) {
			s := &firstScatter{element: element{kernel: k}, d: k.register(), x: k.register(), relu: relu}
			d, x := k.load("d"), k.load("x")
			s.pointers = []register{k.load("top"), k.load("grad")}
			s.offsets, s.lo, s.end, s.last = k.load("offsets"), k.load("lo"), k.load("end"), k.load("last")
			k.op("SUB R%d, R%d, R%d", s.lo, s.end, s.end)
			channels, step, count, left := k.load("channels"), k.loadBytes("step"), k.load("count"), k.register()
			k.label("window")
			k.move(d, s.d)
			k.move(x, s.x)
			k.move(channels, left)
			k.walk("channel", left, func(n int) {
				s.count = n
				s.body()
				for _, p := range append([]register{s.d, s.x}, s.pointers...) {
					k.op("ADD $%d, R%d, R%d", 4*n, p, p)
				}
			})
			k.add(step, d)
			k.add(step, x)
			k.countDown(count, "window")
		})
}

// firstScatter is the body of scatterFirst at work on some channels of a window.
type firstScatter struct {
	element          // its pointers are top and grad
	d, x    register // less the offset of a candidate
	offsets register
	lo, end register // numbers of candidates: before lo, and from lo to end
	last    register
	relu    bool
}

func (s *firstScatter) body() {
	top, left := s.get(0), s.get(1)
	if s.relu {
		s.positive(top, left)
	}
	offset, offsets, candidates := s.register(), s.register(), s.register()
	s.move(s.offsets, offsets)
	for i, number := range []register{s.lo, s.end} {
		loop := fmt.Sprintf("candidate%d_%d", i, s.count)
		s.move(number, candidates)
		s.op("CBZ R%d, %s_done", candidates, loop)
		s.label(loop)
		s.op("MOVD.P 8(R%d), R%d", offsets, offset)
		s.scope(func() {
			at := s.register()
			s.op("ADD R%d<<2, R%d, R%d", offset, s.x, at)
			given := s.part(s.peek(at, s.count), top, left)
			if number == s.end {
				s.give(given, offset)
			}
		})
		s.countDown(candidates, loop)
		s.label(loop + "_done")
	}
	given := fmt.Sprintf("given_%d", s.count)
	s.op("CBZ R%d, %s", s.last, given)
	s.op("MOVD (R%d), R%d", offsets, offset)
	s.give(left, offset)
	s.label(given)
}

// give adds to d at an offset.
func (s *firstScatter) give(x []vector, offset register) {
	at := s.register()
	s.op("ADD R%d<<2, R%d, R%d", offset, s.d, at)
	sum := s.peek(at, s.count)
	s.each("fadd.4s", sum, sum, x)
	s.spill(sum, at, s.count)
}
