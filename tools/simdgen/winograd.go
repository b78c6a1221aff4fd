package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// winograd writes a transform of Winograd's convolution: dst = L src Lᵀ for a small matrix of vectors of
// channels. L is the matrix of a line. Package simd gives the matrices. The columns of src are multiplied
// with L first, two or three of its rows at a time, as the registers allow. Then the rows of the result
// follow. Nothing is kept in memory in between.
type winograd struct {
	vectors
	constants map[float64]Op
	index     reg.Register // bytes of the channels before the vector at work
}

// line is a matrix of a transform, from one number of values to another.
type line struct {
	from, to  int
	constants []float64 // magnitudes of the factors in it
	parts     []part
}

// part computes some of a line's values, with the indices to, from all of x.
type part struct {
	to      []int
	compute func(w *winograd, x []Op) []reg.VecVirtual
}

// The points at which the polynomials are evaluated are 0, ±a, ±b and infinity: a = √½ and b = √2.
const (
	a, a2, a3 = math.Sqrt2 / 2, .5, math.Sqrt2 / 4
	b, b2, b3 = math.Sqrt2, 2., math.Sqrt2 * 2
)

// Normalisation of the points: the products of their distances.
const (
	pointA = 2 * a2 * (a2 - b2)
	pointB = 2 * b2 * (b2 - a2)
)

// evenOdd are the values at points ±p, scale·(even ± p·odd): even is x[even[0]] + factor·x[even[1]]. odd has
// the form of even, or is x[odd[0]] alone if odd[1] is negative.
func evenOdd(to int, p float64, even, odd [2]int, factor, scale float64) part {
	return part{to: []int{to, to + 1}, compute: func(w *winograd, x []Op) []reg.VecVirtual {
		e := w.copy(x[even[0]])
		w.addProduct(e, factor, x[even[1]])
		if scale != 1 {
			w.multiply(e, scale)
		}
		o := x[odd[0]]
		if odd[1] >= 0 {
			sum := w.copy(o)
			w.addProduct(sum, factor, x[odd[1]])
			o = sum
		}
		less := w.copy(e)
		w.addProduct(less, -p*scale, o)
		w.addProduct(e, p*scale, o)
		return []reg.VecVirtual{e, less}
	}}
}

// input is the matrix Bᵀ: the polynomials that vanish at all points but one.
var input = line{6, 6, []float64{a, b, a2, b2, a2 + b2}, []part{
	{[]int{0, 5}, func(w *winograd, x []Op) (ends []reg.VecVirtual) {
		for first := range 2 {
			v := w.copy(x[first])
			w.addProduct(v, -(a2 + b2), x[first+2])
			VADDPS(x[first+4], v, v)
			ends = append(ends, v)
		}
		return ends
	}},
	evenOdd(1, a, [2]int{4, 2}, [2]int{3, 1}, -b2, 1),
	evenOdd(3, b, [2]int{4, 2}, [2]int{3, 1}, -a2, 1),
}}

// filter is the matrix G: a polynomial of three coefficients at the points, normalised.
var filter = line{3, 6, []float64{a2, b2, 1 / pointA, 1 / pointB, a / pointA, b / pointB}, []part{
	ends(0, 2),
	evenOdd(1, a, [2]int{0, 2}, [2]int{1, -1}, a2, 1/pointA),
	evenOdd(3, b, [2]int{0, 2}, [2]int{1, -1}, b2, 1/pointB),
}}

// gradient is the transposition of output: a polynomial of four coefficients at the points.
var gradient = line{4, 6, []float64{a, b, a2, b2}, []part{
	ends(0, 3),
	evenOdd(1, a, [2]int{0, 2}, [2]int{1, 3}, a2, 1),
	evenOdd(3, b, [2]int{0, 2}, [2]int{1, 3}, b2, 1),
}}

// ends are the values at 0 and at infinity: the first and the last coefficient.
func ends(first, last int) part {
	return part{[]int{0, 5}, func(w *winograd, x []Op) []reg.VecVirtual {
		return []reg.VecVirtual{w.copy(x[first]), w.copy(x[last])}
	}}
}

// output is the matrix Aᵀ: four coefficients from the values at the points.
var output = line{6, 4, []float64{a, b, a2, b2, a3, b3}, []part{
	{[]int{0, 2}, func(w *winograd, x []Op) []reg.VecVirtual {
		s, t := w.pair(x, 1, 1), w.pair(x, 3, 1)
		first := w.register()
		VADDPS(t, s, first)
		VADDPS(x[0], first, first)
		w.multiply(s, a2)
		w.addProduct(s, b2, t)
		return []reg.VecVirtual{first, s}
	}},
	{[]int{1, 3}, func(w *winograd, x []Op) []reg.VecVirtual {
		s, t := w.pair(x, 1, -1), w.pair(x, 3, -1)
		first := w.product(s, a)
		w.addProduct(first, b, t)
		w.multiply(s, a3)
		w.addProduct(s, b3, t)
		VADDPS(x[5], s, s)
		return []reg.VecVirtual{first, s}
	}},
}}

// filterGradient is the transposition of filter.
var filterGradient = line{6, 3, []float64{1 / pointA, 1 / pointB, a2 / pointA, b2 / pointB, a / pointA, b / pointB},
	[]part{
		{[]int{0, 2}, func(w *winograd, x []Op) []reg.VecVirtual {
			s, t := w.pair(x, 1, 1), w.pair(x, 3, 1)
			first := w.product(s, 1/pointA)
			w.addProduct(first, 1/pointB, t)
			VADDPS(x[0], first, first)
			w.multiply(s, a2/pointA)
			w.addProduct(s, b2/pointB, t)
			VADDPS(x[5], s, s)
			return []reg.VecVirtual{first, s}
		}},
		{[]int{1}, func(w *winograd, x []Op) []reg.VecVirtual {
			s, t := w.pair(x, 1, -1), w.pair(x, 3, -1)
			w.multiply(s, a/pointA)
			w.addProduct(s, b/pointB, t)
			return []reg.VecVirtual{s}
		}},
	}}

// copy brings a value into a register of its own.
func (w *winograd) copy(x Op) reg.VecVirtual {
	r := w.register()
	VMOVUPS(x, r)
	return r
}

// pair is x[i] + x[i+1], or their difference.
func (w *winograd) pair(x []Op, i, sign int) reg.VecVirtual {
	r := w.copy(x[i])
	if sign > 0 {
		VADDPS(x[i+1], r, r)
	} else {
		VSUBPS(x[i+1], r, r)
	}
	return r
}

func (w *winograd) multiply(x reg.VecVirtual, c float64) { VMULPS(w.constants[c], x, x) }

func (w *winograd) product(x reg.VecVirtual, c float64) reg.VecVirtual {
	r := w.register()
	VMULPS(w.constants[c], x, r)
	return r
}

// addProduct adds c·x to sum, for a constant c or -c.
func (w *winograd) addProduct(sum reg.VecVirtual, c float64, x Op) {
	fma, constant := VFMADD231PS, w.constants[c]
	if constant == nil {
		fma, constant = VFNMADD231PS, w.constants[-c]
	}
	if r, ok := constant.(reg.VecVirtual); ok {
		fma(x, r, sum)
		return
	}
	r, ok := x.(reg.VecVirtual)
	if !ok {
		r = w.copy(x)
	}
	fma(constant, r, sum)
}

// prepare sets the constants of a line: in registers if there are enough of them, else in memory.
func (w *winograd) prepare(l line) {
	w.constants = map[float64]Op{}
	for _, c := range l.constants {
		w.constants[c] = global(label("lanes%08x", math.Float32bits(float32(c))), func() {
			for i := range 16 {
				DATA(4*i, F32(c))
			}
		})
		if w.wide {
			w.constants[c] = w.copy(w.constants[c])
		}
	}
}

// place is a matrix of vectors in memory: three rows, or columns, from each of two pointers.
type place struct {
	low, high reg.Register
	step      reg.Register // bytes from one to the next
}

func (p place) element(i int) Mem {
	if i >= 3 {
		p.low, i = p.high, i-3
	}
	if i == 0 {
		return Mem{Base: p.low}
	}
	return Mem{Base: p.low, Index: p.step, Scale: uint8(i)}
}

// point sets the pointers to base plus an offset.
func (p place) point(base, offset reg.Register) {
	LEAQ(Mem{Base: base, Index: offset, Scale: 1}, p.low)
	LEAQ(Mem{Base: p.low, Index: p.step, Scale: 2}, p.high)
	ADDQ(p.step, p.high)
}

// transform writes the function of a line. epilogue finishes a value and stores it to element j of row
// i of dst, which is at the place.
func transform(v vectors, name string, l line, parameters string, epilogue func(w *winograd, i, j int, x reg.VecVirtual,
	dst place)) {
	kernel(name+v.name, "func(dst *float32, dstRow, dstColumn int, src *float32, srcRow, srcColumn, count int"+
		parameters+")")
	w := &winograd{vectors: v, index: GP64()}
	w.prepare(l)
	src, column := load("src"), loadBytes("srcColumn")
	from := place{GP64(), GP64(), loadBytes("srcRow")}
	XORQ(w.index, w.index)
	Label("vector")
	for _, part := range l.parts {
		Commentf("Rows %v", part.to)
		rows := make([][]Op, len(part.to))
		from.point(src, w.index)
		for j := range l.from {
			x := make([]Op, l.from)
			for i := range x {
				x[i] = from.element(i)
			}
			for i, value := range part.compute(w, x) {
				rows[i] = append(rows[i], value)
			}
			if j+1 < l.from {
				ADDQ(column, from.low)
				ADDQ(column, from.high)
			}
		}
		for r, i := range part.to {
			w.storeRow(l, i, rows[r], epilogue)
		}
	}
	ADDQ(Imm(uint64(v.bytes())), w.index)
	end := loadBytes("count")
	CMPQ(w.index, end)
	JL(LabelRef("vector"))
	finish()
}

// storeRow takes row i of the half-transformed matrix through the line.
func (w *winograd) storeRow(l line, i int, row []Op, epilogue func(w *winograd, i, j int, x reg.VecVirtual,
	dst place)) {
	to := place{GP64(), GP64(), loadBytes("dstColumn")}
	base := loadBytes("dstRow")
	IMUL3Q(Imm(uint64(i)), base, base)
	ADDQ(load("dst"), base)
	to.point(base, w.index)
	for _, part := range l.parts {
		for n, value := range part.compute(w, row) {
			epilogue(w, i, part.to[n], value, to)
		}
	}
}
