package neon

import (
	"math"

	"nmn/tools/simdgen/shared"
)

// wide writes loops over rows of float32 that are summed in float64, two in a vector.
type wide struct {
	*kernel
	minusLog2E, lowest, rounder, one vector
	series                           []vector // coefficients of shared.Exponential64
}

func (w *wide) readNumbers() {
	numbers := append([]float64{-math.Log2E, shared.Lowest64, shared.Rounder64, 1}, shared.Exponential64...)
	var words []uint32
	for _, x := range numbers {
		low, high := uint32(math.Float64bits(x)), uint32(math.Float64bits(x)>>32)
		words = append(words, low, high, low, high)
	}
	v := w.grid(1, len(numbers))[0]
	w.scope(func() { w.fill(v, w.constant("softplusNumbers", words...), lanes*len(v)) })
	w.minusLog2E, w.lowest, w.rounder, w.one, w.series = v[0], v[1], v[2], v[3], v[4:]
}

// like returns new vectors, as many as x has.
func (k *kernel) like(x []vector) []vector { return k.grid(1, len(x))[0] }

// peekWide reads count float64 into new vectors, and spillWide writes them: one or an even number.
func (k *kernel) peekWide(at register, count int) []vector {
	x := k.grid(1, (count+1)/2)[0]
	if count == 1 {
		k.op("FMOVD (R%d), F%d", at, x[0])
	} else {
		k.fill(x, at, 2*count)
	}
	return x
}

func (k *kernel) spillWide(x []vector, at register, count int) {
	if count == 1 {
		k.op("FMOVD F%d, (R%d)", x[0], at)
	} else {
		k.spill(x, at, 2*count)
	}
}

// widened returns count float32 as float64.
func (k *kernel) widened(x []vector, count int) []vector {
	var all []vector
	for _, v := range x {
		low := k.vector()
		k.v("fcvtl.2d", low, v)
		all = append(all, low)
		if count > 1 {
			high := k.vector()
			k.v("fcvtl2.2d", high, v)
			all = append(all, high)
		}
	}
	return all
}

// narrowed returns float64 as float32.
func (k *kernel) narrowed(x []vector) []vector {
	all := k.grid(1, (len(x)+1)/2)[0]
	for i, v := range x {
		k.v([]string{"fcvtn.2s", "fcvtn2.4s"}[i%2], all[i/2], v)
	}
	return all
}

// softplus writes the kernel of simd.Softplus, with sigmoids or without.
func softplus(f *file, name string, keep bool) {
	parameters := "func(positive, excess *float64, logits"
	if keep {
		parameters += ", dst"
	}
	f.function(name+"NEON", parameters+" *float32, stride, rows, width int)", func(k *kernel) {
		positive, excess, logits := k.load("positive"), k.load("excess"), k.load("logits")
		var dst, to register
		if keep {
			dst, to = k.load("dst"), k.register()
		}
		stride, rows, width := k.loadBytes("stride"), k.load("rows"), k.load("width")
		w := &wide{kernel: k}
		w.readNumbers()
		zero, one := k.number(0), k.number(1)
		from, sum, product, count := k.register(), k.register(), k.register(), k.register()
		k.label("row")
		k.move(logits, from)
		k.move(positive, sum)
		k.move(excess, product)
		if keep {
			k.move(dst, to)
		}
		k.move(width, count)
		k.walkBy(8, "column", count, func(n int) {
			o := k.take(from, n)
			x := k.widened(o, n)
			most := k.like(x)
			k.each("fmax.2d", most, x, zero)
			sums := k.peekWide(sum, n)
			k.each("fadd.2d", most, most, sums)
			k.spillWide(most, sum, n)
			k.free(most, sums)
			small := w.expNegative(x)
			old, next := k.peekWide(product, n), k.like(x)
			k.each("mov.16b", next, small)
			k.each("fmla.2d", next, old, small)
			k.each("fadd.2d", next, next, old)
			k.spillWide(next, product, n)
			k.free(old, next)
			for _, r := range []register{sum, product} {
				k.op("ADD $%d, R%d, R%d", 8*n, r, r)
			}
			if keep {
				k.put(k.sigmoidOf(o, k.narrowed(small), one), to, n)
			}
		})
		k.add(stride, logits)
		if keep {
			k.add(stride, dst)
		}
		k.countDown(rows, "row")
	})
}

// expNegative returns exp(-|x|) for x, which is destroyed. NaN stays NaN.
func (w *wide) expNegative(t []vector) []vector {
	w.each("fabs.2d", t, t)
	w.each("fmul.2d", t, t, w.minusLog2E)
	w.each("fmax.2d", t, t, w.lowest)
	shifted, p := w.like(t), w.like(t)
	w.each("fadd.2d", shifted, t, w.rounder)
	w.each("fsub.2d", p, shifted, w.rounder)
	w.each("fsub.2d", t, t, p)
	w.each("mov.16b", p, w.series[1])
	w.each("fmla.2d", p, t, w.series[0])
	for _, coefficient := range append(append([]vector{}, w.series[2:]...), w.one) {
		next := w.like(t)
		w.each("mov.16b", next, coefficient)
		w.each("fmla.2d", next, p, t)
		w.free(p)
		p = next
	}
	w.each("shl.2d", shifted, shifted, 52)
	w.each("add.2d", p, p, shifted) // into the exponent. The bits of a NaN of float32 end above it.
	w.free(t, shifted)
	return p
}

// sigmoidOf is the sigmoid of o, with small = exp(-|o|): 1 or, for negative o, small over 1 + small.
func (k *kernel) sigmoidOf(o, small []vector, one vector) []vector {
	y := k.like(o)
	k.each("cmlt.4s", y, o)
	k.each("bsl.16b", y, small, one)
	k.each("fadd.4s", small, small, one)
	k.each("fdiv.4s", y, y, small)
	return y
}
