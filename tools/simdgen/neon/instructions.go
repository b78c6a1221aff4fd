package neon

import (
	"fmt"
	"strings"
)

// instruction is a vector instruction: its word and its operands in GNU syntax when all operands are 0, and
// the place of each operand in the word.
type instruction struct {
	word     uint32
	operands string // T stands for the arrangement
	places   []place
}

// place adds an operand to a word.
type place func(operand uint32) uint32

func at(bit int) place { return func(x uint32) uint32 { return x << bit } }

// lane is the number of a 32-bit lane of the last operand.
func lane(x uint32) uint32 { return x&1<<21 | x>>1<<11 }

// byte8 is an immediate of eight bits.
func byte8(x uint32) uint32 { return x>>5<<16 | x&31<<5 }

const (
	two   = "v%d.T, v%d.T"
	three = "v%d.T, v%d.T, v%d.T"
)

var (
	twoPlaces   = []place{at(0), at(5)}
	threePlaces = []place{at(0), at(5), at(16)}
)

// instructions are found by the mnemonic and the arrangement of the result, with a third word if there are two
// forms. To add one, take its word from
//
//	echo "fadd v0.4s, v0.4s, v0.4s" | llvm-mc -triple=aarch64 -show-encoding
//
// A test compares every word of the kernels with an assembler's.
var instructions = map[string]instruction{
	"bic.16b":   {0x4e601c00, three, threePlaces},
	"dup.4s":    {0x4e040400, "v%d.T, v%d.s[%d]", []place{at(0), at(5), at(19)}},
	"fadd.2d":   {0x4e60d400, three, threePlaces},
	"fadd.4s":   {0x4e20d400, three, threePlaces},
	"fcmle.4s":  {0x6ea0d800, two + ", #0.0", twoPlaces},
	"fcmlt.4s":  {0x4ea0e800, two + ", #0.0", twoPlaces},
	"fcvtl.2d":  {0x0e617800, "v%d.T, v%d.2s", twoPlaces},
	"fcvtl2.2d": {0x4e617800, "v%d.T, v%d.4s", twoPlaces},
	"fmul.4s":   {0x6e20dc00, three, threePlaces},
	"ldr.q":     {0x3ce06800, "q%d, [x%d, x%d]", threePlaces},
	"movi.4s":   {0x4f000400, "v%d.T, #%d", []place{at(0), byte8}},
	"trn1.4s":   {0x4e802800, three, threePlaces},
	"trn2.4s":   {0x4e806800, three, threePlaces},
	"zip1.2d":   {0x4ec03800, three, threePlaces},
	"zip2.2d":   {0x4ec07800, three, threePlaces},

	// With one lane of the last operand for all lanes of the others.
	"fmla.4s.lane": {0x4f801000, "v%d.T, v%d.T, v%d.s[%d]", []place{at(0), at(5), at(16), lane}},
}

// v writes a vector instruction. Operands are vectors, general registers or numbers.
func (k *kernel) v(name string, operands ...any) {
	in, ok := instructions[name]
	if !ok {
		in, ok = elementInstructions[name]
	}
	if !ok || len(operands) != len(in.places) {
		panic(fmt.Sprintf("instruction %q with %d operands", name, len(operands)))
	}
	word := in.word
	for i, prefix := range strings.SplitN(in.operands, "%d", len(operands)+1)[:len(operands)] {
		word += in.places[i](number(operands[i], prefix))
	}
	words := strings.Split(name, ".")
	text := fmt.Sprintf(strings.ReplaceAll(in.operands, "T", words[1]), operands...)
	k.op("WORD $0x%08x // %s %s", word, words[0], text)
}

// number is the number of an operand of the kind that its prefix asks for.
func number(operand any, prefix string) uint32 {
	kind := prefix[len(prefix)-1]
	switch x := operand.(type) {
	case vector:
		if strings.IndexByte("vqdshb", kind) >= 0 {
			return uint32(x)
		}
	case register:
		if kind == 'w' || kind == 'x' {
			return uint32(x)
		}
	case int:
		if kind == '#' || kind == '[' {
			return uint32(x)
		}
	}
	panic(fmt.Sprintf("operand %v after %q", operand, prefix))
}
