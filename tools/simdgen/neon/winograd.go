package neon

import (
	"fmt"
	"math"
)

// line is the matrix of a Winograd transform, from one number of values to another. Each sum has the order and the
// rounding of the kernels for amd64, whose generator explains the points ±a and ±b.
type line struct {
	from, to int
	groups   [][]int // results whose rows fit into registers together
	compute  func(s *sequence, x []value, put put)
}

// put receives result i of a line once it is complete. To store results at once keeps the pipes of the memory and those
// of the sums busy at the same time.
type put func(i int, y value)

const (
	a, a2, a3 = math.Sqrt2 / 2, .5, math.Sqrt2 / 4
	b, b2, b3 = math.Sqrt2, 2., math.Sqrt2 * 2

	pointA = 2 * a2 * (a2 - b2)
	pointB = 2 * b2 * (b2 - a2)
)

// winograd writes the kernels of Winograd's convolution.
func winograd(f *file) {
	every := []int{0, 1, 2, 3, 4, 5}
	input := line{from: 6, to: 6, groups: [][]int{{1, 2, 3, 4}, {5, 0}}, compute: inputLine}
	filter := line{from: 3, to: 6, groups: [][]int{every}, compute: filterLine}
	gradient := line{from: 4, to: 6, groups: [][]int{every}, compute: gradientLine}
	filterGradient := line{from: 6, to: 3, groups: [][]int{every[:3]}, compute: filterGradientLine}
	output := line{from: 6, to: 4, groups: [][]int{every[:4]}, compute: outputLine}
	transform(f, "winogradInput", "", input, nil)
	transform(f, "winogradFilter", "", filter, nil)
	transform(f, "winogradGradient", "", gradient, nil)
	transform(f, "winogradFilterGradient", ", flags int", filterGradient, (*winogradKernel).addAndStore)
	transform(f, "winogradOutput", ", rows, columns int, bias *float32, flags int", output,
		(*winogradKernel).biasAndStore)
	transform(f, "winogradDataGradient", ", rows, columns int, mask *float32, flags int", output,
		(*winogradKernel).maskAndStore)
}

// putPoints puts even + p·odd at i, and even - p·odd after it.
func putPoints(s *sequence, put put, i int, p float64, even, odd value) {
	put(i+1, s.addProduct(even, -p, odd))
	put(i, s.addProduct(even, p, odd))
}

func inputLine(s *sequence, x []value, put put) {
	oddA, oddB := s.addProduct(x[3], -b2, x[1]), s.addProduct(x[3], -a2, x[1])
	put(5, s.sum(s.addProduct(x[1], -(a2+b2), x[3]), x[5]))
	evenA := s.addProduct(x[4], -b2, x[2])
	put(0, s.sum(s.addProduct(x[0], -(a2+b2), x[2]), x[4]))
	evenB := s.addProduct(x[4], -a2, x[2])
	putPoints(s, put, 1, a, evenA, oddA)
	putPoints(s, put, 3, b, evenB, oddB)
}

func filterLine(s *sequence, x []value, put put) {
	put(0, x[0])
	put(5, x[2])
	putPoints(s, put, 1, a/pointA, s.product(1/pointA, s.addProduct(x[0], a2, x[2])), x[1])
	putPoints(s, put, 3, b/pointB, s.product(1/pointB, s.addProduct(x[0], b2, x[2])), x[1])
}

func gradientLine(s *sequence, x []value, put put) {
	put(0, x[0])
	put(5, x[3])
	putPoints(s, put, 1, a, s.addProduct(x[0], a2, x[2]), s.addProduct(x[1], a2, x[3]))
	putPoints(s, put, 3, b, s.addProduct(x[0], b2, x[2]), s.addProduct(x[1], b2, x[3]))
}

// pairs returns x1 + x2, x3 + x4 and the differences.
func pairs(s *sequence, x []value) (sumA, sumB, differenceA, differenceB value) {
	return s.sum(x[1], x[2]), s.sum(x[3], x[4]), s.difference(x[1], x[2]), s.difference(x[3], x[4])
}

func outputLine(s *sequence, x []value, put put) {
	sumA, sumB, differenceA, differenceB := pairs(s, x)
	put(0, s.sum(s.sum(sumA, sumB), x[0]))
	put(1, s.addProduct(s.product(a, differenceA), b, differenceB))
	put(2, s.addProduct(s.product(a2, sumA), b2, sumB))
	put(3, s.sum(s.addProduct(s.product(a3, differenceA), b3, differenceB), x[5]))
}

func filterGradientLine(s *sequence, x []value, put put) {
	sumA, sumB, differenceA, differenceB := pairs(s, x)
	put(0, s.sum(s.addProduct(s.product(1/pointA, sumA), 1/pointB, sumB), x[0]))
	put(1, s.addProduct(s.product(a/pointA, differenceA), b/pointB, differenceB))
	put(2, s.sum(s.addProduct(s.product(a2/pointA, sumA), b2/pointB, sumB), x[5]))
}

// winogradKernel is the kernel of a transform.
type winogradKernel struct {
	*kernel
	*sequence
	dst, dstRow register
	columns     []register // bytes from the first element of a row of dst to the next ones
	to          register   // the row of dst at work
	options     map[string]register
	toMask      register // bytes from dst to the mask
	mask        register // the row of the mask at work
	bias        vector   // -0 if there is none: adding it changes nothing
}

// transform writes dst = L src Lᵀ for the matrix L of a line and vectors of channels. For each group of rows of the
// result it multiplies L by the columns of src, and then the rows of this product by Lᵀ. epilogue finishes and stores
// row i of dst. If it is nil, the results are stored as they are.
func transform(f *file, name, parameters string, l line, epilogue func(w *winogradKernel, i int, x []value)) {
	f.function(name+"NEON", "func(dst *float32, dstRow, dstColumn int, src *float32, srcRow, srcColumn, count int"+
		parameters+")", func(k *kernel) {
		w := &winogradKernel{kernel: k, sequence: &sequence{}, options: map[string]register{}}
		src, column, left := k.load("src"), k.loadBytes("srcColumn"), k.load("count")
		rows := k.multiples("srcRow", l.from)
		w.dst, w.dstRow, w.to = k.load("dst"), k.loadBytes("dstRow"), k.register()
		w.columns = k.multiples("dstColumn", l.to)
		for _, option := range []string{"rows", "columns", "flags", "bias", "mask"} {
			if _, has := k.parameters[option]; has {
				w.options[option] = k.load(option)
			}
		}
		bias, biased := w.options["bias"]
		if biased {
			w.bias = k.bits(1 << 31)
		}
		if mask, masked := w.options["mask"]; masked {
			w.toMask, w.mask = k.register(), k.register()
			k.op("SUB R%d, R%d, R%d", w.dst, mask, w.toMask)
		}
		w.record(l, src, column, rows, epilogue)
		factors := w.factors(k)
		k.label("vector")
		if biased {
			k.op("CBZ R%d, plain", bias)
			k.op("FMOVQ.P %d(R%d), F%d", vectorBytes, bias, w.bias)
			k.label("plain")
		}
		w.write(k, factors)
		k.label("done")
		for _, r := range []register{src, w.dst} {
			k.op("ADD $%d, R%d, R%d", vectorBytes, r, r)
		}
		k.op("SUBS $%d, R%d, R%d", lanes, left, left)
		k.op("BGT vector")
	})
}

// record writes the steps of a vector.
func (w *winogradKernel) record(l line, src, column register, rows []register,
	epilogue func(w *winogradKernel, i int, x []value)) {
	from, before := w.register(), -1
	for _, group := range l.groups {
		half := make([][]value, l.to)
		w.run(func() { w.move(src, from) })
		for range l.from {
			x := make([]value, l.from)
			for i := range x {
				x[i] = w.read(func(to vector) { w.element("ldr.q", to, from, rows, i) })
			}
			l.compute(w.sequence, x, func(i int, y value) { half[i] = append(half[i], y) })
			w.run(func() { w.add(column, from) })
		}
		for _, i := range group {
			last := before
			w.run(func() { w.pointAt(i, last) })
			before = i
			y := make([]value, l.to)
			l.compute(w.sequence, half[i], func(j int, x value) {
				y[j] = x
				if epilogue == nil {
					w.use(y[j:j+1], func(x []vector) { w.element("str.q", x[0], w.to, w.columns, j) })
				}
			})
			if epilogue != nil {
				epilogue(w, i, y)
			}
		}
	}
}

// multiples returns registers with 1 to n-1 times the bytes of a parameter that counts float32.
func (k *kernel) multiples(name string, n int) []register {
	m := []register{k.loadBytes(name)}
	for len(m) < n-1 {
		next := k.register()
		k.op("ADD R%d, R%d, R%d", m[0], m[len(m)-1], next)
		m = append(m, next)
	}
	return m
}

// element writes a load or a store of element i after base. distances begin with the second element's. Neoverse N1
// divides LD1 and ST1 into fewer operations than LDR and STR.
func (k *kernel) element(op string, v vector, base register, distances []register, i int) {
	switch {
	case i > 0:
		k.v(op, v, base, distances[i-1])
	case op == "str.q":
		k.op("VST1 [V%d.S4], (R%d)", v, base)
	default:
		k.op("VLD1 (R%d), [V%d.S4]", base, v)
	}
}

// pointAt points to row i of dst. The pointer is at row before, or nowhere if that is negative.
func (w *winogradKernel) pointAt(i, before int) {
	if i <= before || before < 0 {
		w.move(w.dst, w.to)
		before = 0
	}
	for ; before < i; before++ {
		w.add(w.dstRow, w.to)
	}
}

// storeRow writes the stores of a whole row.
func (w *winogradKernel) storeRow(x []vector) {
	for j, v := range x {
		w.element("str.q", v, w.to, w.columns, j)
	}
}

// addAndStore adds to the values of dst if the flag is set.
func (w *winogradKernel) addAndStore(i int, x []value) {
	w.use(x, func(x []vector) {
		w.op("TBZ $%d, R%d, begun%d", flagLoad, w.options["flags"], i)
		for j, v := range x {
			w.addElement(v, j)
		}
		w.label(fmt.Sprintf("begun%d", i))
		w.storeRow(x)
	})
}

// addElement adds element j of the row of dst to a vector.
func (w *winogradKernel) addElement(v vector, j int) {
	w.scope(func() {
		old := w.vector()
		w.element("ldr.q", old, w.to, w.columns, j)
		w.v("fadd.4s", v, v, old)
	})
}

// inside finishes and stores row i, if it is one of the rows to store. begin finishes the whole row. body finishes
// element j, if it is in one of the columns to store.
func (w *winogradKernel) inside(i int, x []value, begin func(x []vector), body func(j int, v vector)) {
	if i > 0 {
		w.run(func() {
			w.op("CMP $%d, R%d", i, w.options["rows"])
			w.op("BLE done")
		})
	}
	w.use(x, func(x []vector) {
		begin(x)
		for j, v := range x {
			if j > 0 {
				w.op("CMP $%d, R%d", j, w.options["columns"])
				w.op("BLE stored%d", i)
			}
			body(j, v)
			w.element("str.q", v, w.to, w.columns, j)
		}
		w.label(fmt.Sprintf("stored%d", i))
	})
}

// biasAndStore adds the bias, and clamps if the flag is set.
func (w *winogradKernel) biasAndStore(i int, x []value) {
	w.inside(i, x, func(x []vector) {
		for _, v := range x {
			w.v("fadd.4s", v, v, w.bias)
		}
		w.op("TBZ $%d, R%d, clamped%d", flagReLU, w.options["flags"], i)
		w.scope(func() {
			for _, v := range x {
				negative := w.vector() // NaN is not, and -0 is not
				w.v("fcmlt.4s", negative, v)
				w.v("bic.16b", v, v, negative)
			}
		})
		w.label(fmt.Sprintf("clamped%d", i))
	}, func(int, vector) {})
}

// maskAndStore adds to the values of dst if the flag is set, and masks. The mask has the places of dst.
func (w *winogradKernel) maskAndStore(i int, x []value) {
	w.inside(i, x, func([]vector) {
		w.op("ADD R%d, R%d, R%d", w.toMask, w.to, w.mask)
	}, func(j int, v vector) {
		w.op("TBZ $%d, R%d, begun%d%d", flagLoad, w.options["flags"], i, j)
		w.addElement(v, j)
		w.label(fmt.Sprintf("begun%d%d", i, j))
		w.op("CBZ R%d, masked%d%d", w.options["mask"], i, j)
		w.scope(func() {
			m := w.vector()
			w.element("ldr.q", m, w.mask, w.columns, j)
			w.v("fcmle.4s", m, m)
			w.v("bic.16b", v, v, m)
		})
		w.label(fmt.Sprintf("masked%d%d", i, j))
	})
}
