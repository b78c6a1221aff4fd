package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vectors is an instruction set with the shapes of its kernels.
type vectors struct {
	name      string
	lanes     int // float32 in a register
	wide      bool
	pairs     bool  // each number of a tile's factors is two bfloat16
	tileRows  []int // 2 vectors a row: the largest fills the registers with sums
	outerRows int   // 3 vectors a row
}

var (
	avx2   = vectors{name: "AVX2", lanes: 8, tileRows: []int{6, 3}, outerRows: 4}
	avx512 = vectors{name: "AVX512", lanes: 16, wide: true, tileRows: []int{12, 8, 4}, outerRows: 8}
)

func (v vectors) bytes() int { return 4 * v.lanes }

func (v vectors) register() reg.VecVirtual {
	if v.wide {
		return ZMM()
	}
	return YMM()
}

// grid is a block of registers, rows × columns.
func (v vectors) grid(rows, columns int) [][]reg.VecVirtual {
	g := make([][]reg.VecVirtual, rows)
	for i := range g {
		for range columns {
			g[i] = append(g[i], v.register())
		}
	}
	return g
}

// zero clears a register. The allocator recognises that this instruction does not read it.
func (v vectors) zero(r reg.VecVirtual) { VXORPS(r, r, r) }

// nothing is a new register of zeros.
func (v vectors) nothing() reg.VecVirtual {
	r := v.register()
	v.zero(r)
	return r
}

func (v vectors) zeroGrid(g [][]reg.VecVirtual) {
	for _, row := range g {
		for _, r := range row {
			v.zero(r)
		}
	}
}

// load reads a parameter of the function into a new register.
func load(name string) reg.Register { return Load(Param(name), GP64()) }

// loadBytes reads a parameter that counts float32 and turns it into bytes.
func loadBytes(name string) reg.GPVirtual {
	r := GP64()
	Load(Param(name), r)
	SHLQ(Imm(2), r)
	return r
}

// param is the memory of a parameter.
func param(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// firstOf is the address of an array among the parameters or the results.
func firstOf(array gotypes.Component) reg.GPVirtual {
	b, err := array.Index(0).Resolve()
	if err != nil {
		panic(err)
	}
	r := GP64()
	LEAQ(b.Addr, r)
	return r
}

// globals are those written so far.
var globals = map[string]Mem{}

// global is read-only memory of a name, filled by data when it is asked for first.
func global(name string, data func()) Mem {
	m, written := globals[name]
	if !written {
		m = GLOBL(name, 8|16) // RODATA, NOPTR
		globals[name] = m
		data()
	}
	return m
}

func label(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// kernel begins a function. Its pointers do not escape.
func kernel(name, signature string) {
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
}

// finish ends a function that has used vector registers.
func finish() {
	VZEROUPPER()
	RET()
}

// countDown takes 1 from a register or a parameter and jumps to a label if it is not 0 then.
func countDown(count Op, to string) {
	DECQ(count)
	JNE(LabelRef(to))
}

// eachRow emits body for rows 0 to n, and leaves at the count of rows in register count, which is at
// least 1. step moves the pointers between rows.
func eachRow(n int, count reg.Register, end string, body func(i int), step func()) {
	for i := range n {
		body(i)
		if i+1 < n {
			CMPQ(count, Imm(uint64(i+1)))
			JE(LabelRef(end))
			step()
		}
	}
	Label(end)
}
