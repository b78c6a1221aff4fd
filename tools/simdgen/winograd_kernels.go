package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// winogradKernels writes all transforms. Package simd documents each.
func winogradKernels(v vectors) {
	transform(v, "winogradInput", input, "", store)
	transform(v, "winogradFilter", filter, "", store)
	transform(v, "winogradGradient", gradient, "", store)
	transform(v, "winogradFilterGradient", filterGradient, ", flags int", addAndStore)
	transform(v, "winogradOutput", output, ", rows, columns int, bias *float32, flags int", biasAndStore)
	transform(v, "winogradDataGradient", output, ", rows, columns int, mask *float32, flags int", maskAndStore)
}

func store(_ *winograd, _, j int, x reg.VecVirtual, dst place) { VMOVUPS(x, dst.element(j)) }

// unless emits body, and a jump over it that depends on an earlier comparison.
func unless(jump func(Op), name string, body func()) {
	jump(LabelRef(name))
	body()
	Label(name)
}

// whereFlag emits body, which runs if a bit of the parameter flags is set.
func whereFlag(bit uint32, name string, body func()) {
	TESTQ(U32(bit), param("flags"))
	unless(JE, name, body)
}

func addAndStore(_ *winograd, i, j int, x reg.VecVirtual, dst place) {
	whereFlag(flagLoad, label("begun%d%d", i, j), func() { VADDPS(dst.element(j), x, x) })
	VMOVUPS(x, dst.element(j))
}

// inside emits body, which runs if element i, j is in the rows and columns to store.
func inside(i, j int, body func()) {
	name := label("outside%d%d", i, j)
	CMPQ(param("rows"), Imm(uint64(i)))
	JLE(LabelRef(name))
	CMPQ(param("columns"), Imm(uint64(j)))
	unless(JLE, name, body)
}

func biasAndStore(w *winograd, i, j int, x reg.VecVirtual, dst place) {
	inside(i, j, func() {
		bias := load("bias")
		TESTQ(bias, bias)
		unless(JE, label("biased%d%d", i, j), func() { VADDPS(Mem{Base: bias, Index: w.index, Scale: 1}, x, x) })
		whereFlag(flagReLU, label("clamped%d%d", i, j), func() {
			VMAXPS(x, w.nothing(), x) // returns x if it is NaN
		})
		VMOVUPS(x, dst.element(j))
	})
}

// maskAndStore finds the mask at the place of dst.
func maskAndStore(w *winograd, i, j int, x reg.VecVirtual, dst place) {
	inside(i, j, func() {
		whereFlag(flagLoad, label("begun%d%d", i, j), func() { VADDPS(dst.element(j), x, x) })
		mask := load("mask")
		TESTQ(mask, mask)
		unless(JE, label("masked%d%d", i, j), func() {
			at, m := GP64(), w.register()
			LEAQ(dst.element(j), at)
			SUBQ(param("dst"), at)
			VMOVUPS(Mem{Base: mask, Index: at, Scale: 1}, m)
			w.keep(m, w.nothing(), x)
		})
		VMOVUPS(x, dst.element(j))
	})
}
