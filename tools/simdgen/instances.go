package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"nmn/tools/simdgen/shared"
)

// instances writes the loops of a kernel over rows of width float32, which are summed in float64: half a
// register of a row fills a register of sums.
type instances struct{ span }

// half is a register for half as many bytes.
func (v vectors) half() reg.VecVirtual {
	if v.wide {
		return YMM()
	}
	return XMM()
}

// eachVector emits body for the vectors of all rows. The pointers advance by a stride after each row.
func (e *instances) eachVector(width, rows, stride reg.Register, pointers []reg.Register, body func()) {
	e.index = GP64()
	count := GP64()
	e.mask = e.tailMask(width, e.lanes/2)
	Label("row")
	XORQ(e.index, e.index)
	MOVQ(width, count)
	e.each("next", e.lanes/2, count, body)
	for _, p := range pointers {
		ADDQ(stride, p)
	}
	countDown(rows, "row")
	finish()
}

// row is the memory of the current float32, and sums the memory of their float64.
func (e *instances) row(base reg.Register) Mem  { return Mem{Base: base, Index: e.index, Scale: 1} }
func (e *instances) sums(base reg.Register) Mem { return Mem{Base: base, Index: e.index, Scale: 2} }

func (e *instances) get(base reg.Register) reg.VecVirtual {
	x := e.half()
	e.read(e.row(base), x)
	return x
}

func (e *instances) put(base reg.Register, x reg.VecVirtual) { e.write(x, e.row(base)) }

// widened returns float32 as float64.
func (e *instances) widened(x reg.VecVirtual) reg.VecVirtual {
	w := e.register()
	VCVTPS2PD(x, w)
	return w
}

func (e *instances) narrowed(x reg.VecVirtual) reg.VecVirtual {
	n := e.half()
	if e.wide {
		VCVTPD2PS(x, n)
	} else {
		VCVTPD2PSY(x, n)
	}
	return n
}

// sumRows64 adds rows to sums in float64.
func sumRows64(v vectors) {
	kernel("sumRows64"+v.name, "func(dst *float64, src *float32, stride, rows, width int)")
	dst, src, stride, rows, width := load("dst"), load("src"), loadBytes("stride"), load("rows"), load("width")
	e := instances{span{vectors: v}}
	e.eachVector(width, rows, stride, []reg.Register{src}, func() {
		x := e.widened(e.get(src))
		VADDPD(e.sums(dst), x, x)
		VMOVUPD(x, e.sums(dst))
	})
}

// signBit is the sign bit alone.
var signBit = math.Copysign(0, -1)

// constants holds numbers in all lanes: in registers if there are enough of them, else in memory.
type constants map[float64]Op

func (v vectors) constants(name string, values ...float64) constants {
	c, copies := constants{}, v.lanes/2
	if v.wide {
		copies = 1
	}
	for i, value := range values {
		m := global(label("%s%d%s", name, i, v.name), func() {
			for lane := range copies {
				DATA(8*lane, U64(math.Float64bits(value)))
			}
		})
		c[key(value)] = m
		if v.wide {
			x := v.register()
			VBROADCASTSD(m, x)
			c[key(value)] = x
		}
	}
	return c
}

// key keeps -0 apart from 0, which a map takes for equal.
func key(value float64) float64 {
	if value == 0 && math.Signbit(value) {
		return math.Inf(-1)
	}
	return value
}

func (c constants) of(value float64) Op { return c[key(value)] }

// softplus writes the kernel of simd.Softplus, with sigmoids or without.
func softplus(v vectors, name string, keep bool) {
	parameters := "func(positive, excess *float64, logits"
	if keep {
		parameters += ", dst"
	}
	kernel(name+v.name, parameters+" *float32, stride, rows, width int)")
	positive, excess, logits := load("positive"), load("excess"), load("logits")
	pointers := []reg.Register{logits}
	if keep {
		pointers = append(pointers, load("dst"))
	}
	stride, rows, width := loadBytes("stride"), load("rows"), load("width")
	e := instances{span{vectors: v}}
	first := []float64{1, math.Log2E, shared.Lowest64, shared.Rounder64, signBit}
	c := v.constants("exp", append(first, shared.Exponential64...)...)
	zero := v.register()
	v.zero(zero)
	one := v.half()
	if keep {
		VBROADCASTSS(v.constant("one", math.Float32bits(1)), one)
	}
	e.eachVector(width, rows, stride, pointers, func() {
		o := e.get(logits)
		x := e.widened(o)
		sum := v.register()
		VMAXPD(x, zero, sum) // x if it is NaN
		VADDPD(e.sums(positive), sum, sum)
		VMOVUPD(sum, e.sums(positive))
		small := v.expNegative(c, x)
		product := v.register()
		VMOVUPD(e.sums(excess), product)
		sum = v.register()
		VMOVUPD(small, sum)
		VFMADD231PD(product, small, sum)
		VADDPD(product, sum, sum)
		VMOVUPD(sum, e.sums(excess))
		if keep {
			e.put(pointers[1], e.sigmoid(o, e.narrowed(small), one))
		}
	})
}

// expNegative returns exp(-|x|). NaN stays NaN.
func (v vectors) expNegative(c constants, x reg.VecVirtual) reg.VecVirtual {
	t, shifted, whole, p := v.register(), v.register(), v.register(), v.register()
	VORPD(c.of(signBit), x, t)
	VMULPD(c.of(math.Log2E), t, t)
	low := v.register()
	VMOVUPD(c.of(shared.Lowest64), low)
	VMAXPD(t, low, t) // t if it is NaN
	VADDPD(c.of(shared.Rounder64), t, shifted)
	VSUBPD(c.of(shared.Rounder64), shifted, whole)
	VSUBPD(whole, t, t)
	VMOVUPD(c.of(shared.Exponential64[0]), p)
	for _, coefficient := range shared.Exponential64[1:] {
		VFMADD213PD(c.of(coefficient), t, p)
	}
	VFMADD213PD(c.of(1), t, p)
	VPSLLQ(Imm(52), shifted, shifted)
	VPADDQ(shifted, p, p) // into the exponent; the bits of a NaN of float32 end above it
	return p
}

// sigmoid is the sigmoid of o, with small = exp(-|o|): 1 or, for negative o, small over 1+small.
func (e *instances) sigmoid(o, small, one reg.VecVirtual) reg.VecVirtual {
	numerator, denominator := e.half(), e.half()
	VADDPS(one, small, denominator)
	if e.wide {
		k := K()
		VPMOVD2M(o, k)
		VMOVAPS(one, numerator)
		VMOVAPS(small, k, numerator)
	} else {
		VBLENDVPS(o, small, one, numerator)
	}
	VDIVPS(denominator, numerator, numerator)
	return numerator
}

// scaleRows multiplies each row with the same factors.
func scaleRows(v vectors) {
	kernel("scaleRows"+v.name, "func(dst *float32, stride int, factors *float32, rows, width int)")
	dst, stride, factors, rows := load("dst"), loadBytes("stride"), load("factors"), load("rows")
	index, count, width := GP64(), GP64(), load("width")
	rest := restMask(v, width)
	Label("row")
	MOVQ(width, count)
	walk(v, "scale", index, count, func(full bool) {
		to, by := Mem{Base: dst, Index: index, Scale: 1}, Mem{Base: factors, Index: index, Scale: 1}
		fold(v, full, rest, to, to, operation{whole: VMULPS, lane: VMULSS, masked: VMULPS_Z}, by)
	})
	ADDQ(stride, dst)
	countDown(rows, "row")
	finish()
}
