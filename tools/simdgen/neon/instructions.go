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

// both is a register that an instruction reads twice.
func both(x uint32) uint32 { return x<<5 | x<<16 }

func byte8(x uint32) uint32 { return x>>5<<16 | x&31<<5 }

const (
	two   = "v%d.T, v%d.T"
	three = "v%d.T, v%d.T, v%d.T"
)

var (
	twoPlaces   = []place{at(0), at(5)}
	threePlaces = []place{at(0), at(5), at(16)}
)

// halfOf is the number of a 16-bit lane of the last operand.
func halfOf(x uint32) uint32 { return x&1<<20 | x>>1&1<<21 | x>>2<<11 }

// halfLane has the places of an operand that is one of the first 16 vectors.
var (
	halfLane = []place{at(0), at(5), at(16), halfOf}
	wordLane = []place{at(0), at(5), at(16), lane}
	left     = []place{at(0), at(5), at(16)} // and a distance
	right    = []place{at(0), at(5), func(x uint32) uint32 { return -x << 16 }}
)

// instructions are found by the mnemonic and the arrangement of the result, with a third word if there are two
// forms. To add one, take its word from
//
//	echo "fadd v0.4s, v0.4s, v0.4s" | llvm-mc -triple=aarch64 -show-encoding
//
// A test compares every word of the kernels with an assembler's.
var instructions = map[string]instruction{
	"add.16b":        {0x4e208400, three, threePlaces},
	"add.2d":         {0x4ee08400, three, threePlaces},
	"add.4s":         {0x4ea08400, three, threePlaces},
	"add.8h":         {0x4e608400, three, threePlaces},
	"addhn.4h":       {0x0e604000, "v%d.T, v%d.4s, v%d.4s", threePlaces},
	"addhn2.8h":      {0x4e604000, "v%d.T, v%d.4s, v%d.4s", threePlaces},
	"and.16b":        {0x4e201c00, three, threePlaces},
	"bic.16b":        {0x4e601c00, three, threePlaces},
	"bif.16b":        {0x6ee01c00, three, threePlaces},
	"bsl.16b":        {0x6e601c00, three, threePlaces},
	"cmhs.4s":        {0x6ea03c00, three, threePlaces},
	"cmlt.4s":        {0x4ea0a800, two + ", #0", twoPlaces},
	"dup.2d":         {0x4e080400, "v%d.T, v%d.d[%d]", []place{at(0), at(5), at(20)}},
	"dup.4s":         {0x4e040400, "v%d.T, v%d.s[%d]", []place{at(0), at(5), at(19)}},
	"eor.16b":        {0x6e201c00, three, threePlaces},
	"fabs.2d":        {0x4ee0f800, two, twoPlaces},
	"fabs.4s":        {0x4ea0f800, two, twoPlaces},
	"fadd.2d":        {0x4e60d400, three, threePlaces},
	"fadd.4s":        {0x4e20d400, three, threePlaces},
	"fcmeq.4s":       {0x4e20e400, three, threePlaces},
	"fcmgt.4s":       {0x6ea0e400, three, threePlaces},
	"fcmgt.4s.0":     {0x4ea0c800, two + ", #0.0", twoPlaces},
	"fcmle.4s":       {0x6ea0d800, two + ", #0.0", twoPlaces},
	"fcmlt.4s":       {0x4ea0e800, two + ", #0.0", twoPlaces},
	"fcvtl.2d":       {0x0e617800, "v%d.T, v%d.2s", twoPlaces},
	"fcvtl2.2d":      {0x4e617800, "v%d.T, v%d.4s", twoPlaces},
	"fcvtn.2s":       {0x0e616800, "v%d.T, v%d.2d", twoPlaces},
	"fcvtn2.4s":      {0x4e616800, "v%d.T, v%d.2d", twoPlaces},
	"fdiv.4s":        {0x6e20fc00, three, threePlaces},
	"fmax.2d":        {0x4e60f400, three, threePlaces},
	"fmax.4s":        {0x4e20f400, three, threePlaces},
	"fmin.4s":        {0x4ea0f400, three, threePlaces},
	"fmla.2d":        {0x4e60cc00, three, threePlaces},
	"fmla.4s.lane":   {0x4f801000, "v%d.T, v%d.T, v%d.s[%d]", []place{at(0), at(5), at(16), lane}},
	"fmls.4s.lane":   {0x4f805000, "v%d.T, v%d.T, v%d.s[%d]", []place{at(0), at(5), at(16), lane}},
	"fmul.2d":        {0x6e60dc00, three, threePlaces},
	"fmul.4s":        {0x6e20dc00, three, threePlaces},
	"fmul.4s.lane":   {0x4f809000, "v%d.T, v%d.T, v%d.s[%d]", []place{at(0), at(5), at(16), lane}},
	"fneg.4s":        {0x6ea0f800, two, twoPlaces},
	"fsqrt.4s":       {0x6ea1f800, two, twoPlaces},
	"fsub.2d":        {0x4ee0d400, three, threePlaces},
	"fsub.4s":        {0x4ea0d400, three, threePlaces},
	"ldr.q":          {0x3ce06800, "q%d, [x%d, x%d]", threePlaces},
	"mla.4s.lane":    {0x6f800000, "v%d.T, v%d.4s, v%d.s[%d]", wordLane},
	"mla.8h":         {0x4e609400, three, threePlaces},
	"mov.16b":        {0x4ea01c00, two, []place{at(0), both}},
	"movi.4s":        {0x4f000400, "v%d.T, #%d", []place{at(0), byte8}},
	"mul.8h":         {0x4e609c00, three, threePlaces},
	"orr.16b":        {0x4ea01c00, three, threePlaces},
	"rshrn.2s":       {0x0f408c00, "v%d.T, v%d.2d, #%d", right},
	"rshrn.4h":       {0x0f208c00, "v%d.T, v%d.4s, #%d", right},
	"rshrn2.4s":      {0x4f408c00, "v%d.T, v%d.2d, #%d", right},
	"rshrn2.8h":      {0x4f208c00, "v%d.T, v%d.4s, #%d", right},
	"saddl.4s":       {0x0e600000, "v%d.T, v%d.4h, v%d.4h", threePlaces},
	"saddl2.4s":      {0x4e600000, "v%d.T, v%d.8h, v%d.8h", threePlaces},
	"shl.2d":         {0x4f405400, two + ", #%d", threePlaces},
	"shl.4s":         {0x4f205400, two + ", #%d", left},
	"shrn.8b":        {0x0f108400, "v%d.T, v%d.8h, #%d", right},
	"shrn2.16b":      {0x4f108400, "v%d.T, v%d.8h, #%d", right},
	"smlal.4s.lane":  {0x0f402000, "v%d.T, v%d.4h, v%d.h[%d]", halfLane},
	"smlal2.4s.lane": {0x4f402000, "v%d.T, v%d.8h, v%d.h[%d]", halfLane},
	"smlsl.4s.lane":  {0x0f406000, "v%d.T, v%d.4h, v%d.h[%d]", halfLane},
	"smlsl2.4s.lane": {0x4f406000, "v%d.T, v%d.8h, v%d.h[%d]", halfLane},
	"smull.4s.lane":  {0x0f40a000, "v%d.T, v%d.4h, v%d.h[%d]", halfLane},
	"smull2.4s.lane": {0x4f40a000, "v%d.T, v%d.8h, v%d.h[%d]", halfLane},
	"sqrshrn.4h":     {0x0f209c00, "v%d.T, v%d.4s, #%d", right},
	"sqrshrn2.8h":    {0x4f209c00, "v%d.T, v%d.4s, #%d", right},
	"sqshrn.8b":      {0x0f109400, "v%d.T, v%d.8h, #%d", right},
	"sqshrn2.16b":    {0x4f109400, "v%d.T, v%d.8h, #%d", right},
	"sqshrun.8b":     {0x2f108400, "v%d.T, v%d.8h, #%d", right},
	"sqshrun2.16b":   {0x6f108400, "v%d.T, v%d.8h, #%d", right},
	"sqxtun.8b":      {0x2e212800, "v%d.T, v%d.8h", twoPlaces},
	"sshll.4s":       {0x0f10a400, "v%d.T, v%d.4h, #%d", left},
	"ssubl.4s":       {0x0e602000, "v%d.T, v%d.4h, v%d.4h", threePlaces},
	"ssubl2.4s":      {0x4e602000, "v%d.T, v%d.8h, v%d.8h", threePlaces},
	"str.q":          {0x3ca06800, "q%d, [x%d, x%d]", threePlaces},
	"sub.4s":         {0x6ea08400, three, threePlaces},
	"sub.8h":         {0x6e608400, three, threePlaces},
	"subhn.4h":       {0x0e606000, "v%d.T, v%d.4s, v%d.4s", threePlaces},
	"subhn2.8h":      {0x4e606000, "v%d.T, v%d.4s, v%d.4s", threePlaces},
	"tbl.16b":        {0x4e000000, "v%d.T, {v%d.T}, v%d.T", threePlaces},
	"trn1.4s":        {0x4e802800, three, threePlaces},
	"trn1.8h":        {0x4e402800, three, threePlaces},
	"trn2.4s":        {0x4e806800, three, threePlaces},
	"trn2.8h":        {0x4e406800, three, threePlaces},
	"uaddw.4s":       {0x2e601000, "v%d.T, v%d.4s, v%d.4h", threePlaces},
	"uaddw.8h":       {0x2e201000, "v%d.T, v%d.8h, v%d.8b", threePlaces},
	"uaddw2.8h":      {0x6e201000, "v%d.T, v%d.8h, v%d.16b", threePlaces},
	"ucvtf.4s":       {0x6e21d800, two, twoPlaces},
	"umlal.2d.lane":  {0x2f802000, "v%d.T, v%d.2s, v%d.s[%d]", wordLane},
	"umlal2.2d.lane": {0x6f802000, "v%d.T, v%d.4s, v%d.s[%d]", wordLane},
	"umlal2.4s.lane": {0x6f402000, "v%d.T, v%d.8h, v%d.h[%d]", halfLane},
	"umull.2d.lane":  {0x2f80a000, "v%d.T, v%d.2s, v%d.s[%d]", wordLane},
	"umull.4s.lane":  {0x2f40a000, "v%d.T, v%d.4h, v%d.h[%d]", halfLane},
	"umull.8h":       {0x2e20c000, "v%d.T, v%d.8b, v%d.8b", threePlaces},
	"umull2.2d.lane": {0x6f80a000, "v%d.T, v%d.4s, v%d.s[%d]", wordLane},
	"umull2.8h":      {0x6e20c000, "v%d.T, v%d.16b, v%d.16b", threePlaces},
	"ushll.4s":       {0x2f10a400, "v%d.T, v%d.4h, #%d", left},
	"ushll.8h":       {0x2f08a400, "v%d.T, v%d.8b, #%d", left},
	"usubl.8h":       {0x2e202000, "v%d.T, v%d.8b, v%d.8b", threePlaces},
	"uzp1.16b":       {0x4e001800, three, threePlaces},
	"uzp1.4s":        {0x4e801800, three, threePlaces},
	"uzp1.8h":        {0x4e401800, three, threePlaces},
	"uzp2.4s":        {0x4e805800, three, threePlaces},
	"uzp2.8h":        {0x4e405800, three, threePlaces},
	"zip1.16b":       {0x4e003800, three, threePlaces},
	"zip1.2d":        {0x4ec03800, three, threePlaces},
	"zip1.4s":        {0x4e803800, three, threePlaces},
	"zip1.8h":        {0x4e403800, three, threePlaces},
	"zip2.16b":       {0x4e007800, three, threePlaces},
	"zip2.2d":        {0x4ec07800, three, threePlaces},
	"zip2.4s":        {0x4e807800, three, threePlaces},
	"zip2.8h":        {0x4e407800, three, threePlaces},
}

// v writes a vector instruction. Operands are vectors, general registers or numbers.
func (k *kernel) v(name string, operands ...any) {
	in, ok := instructions[name]
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
