package main

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// kind is the sort of mistake that a mutant has.
type kind string

const (
	boundary   kind = "boundary"   // < for <=, and the reverse
	equality   kind = "equality"   // == for !=, and the reverse
	logic      kind = "logic"      // && for ||, and the reverse
	negation   kind = "negation"   // a condition, or one without its !
	arithmetic kind = "arithmetic" // + for -, * for /, and the reverse
	number     kind = "number"     // 1 for 0, n+1, twice the value
	boolean    kind = "boolean"    // true for false, and the reverse
	extreme    kind = "extreme"    // min for max, floor for ceil, and the reverse
	check      kind = "check"      // an if that leaves, never taken
	ignored    kind = "ignored"    // an error of a call that is not looked at
	failure    kind = "failure"    // nil returned for an error
	call       kind = "call"       // a call whose result nobody uses, left out
	assignment kind = "assignment" // an assignment left out
	deferred   kind = "deferred"   // a defer left out
	jump       kind = "jump"       // break for continue, and the reverse
	loop       kind = "loop"       // a range one shorter
	order      kind = "order"      // two arguments of one type exchanged
	seed       kind = "seed"       // 0 for a seed, an epoch or a step
)

// Mutant is one change to one file. What identifies it is content, not the number of its line, so that it stays the
// same mutant when lines above it come and go.
type Mutant struct {
	Package  string `json:"package"` // the folder, from the root of the module
	File     string `json:"file"`    // from the root of the module, with slashes
	Line     int    `json:"line"`
	Function string `json:"function,omitempty"`
	Kind     kind   `json:"kind"`
	Text     string `json:"text"` // the line, without blanks around it
	From     string `json:"from"`
	To       string `json:"to"`
	Changed  bool   `json:"changed,omitempty"` // its line was changed since the base

	column     int    // in bytes, from 1
	start, end int    // bytes of the file that are replaced
	with       string // what they are replaced by
	nth        int    // which of the mutants of equal content
}

// change is the mutation as a reader writes it: what was there, and what is there instead.
func (m *Mutant) change() string { return m.From + " -> " + m.To }

func (m *Mutant) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", m.File, m.Line, m.Kind, m.change())
}

// apply returns the file with the change.
func (m *Mutant) apply(source []byte) []byte {
	return slices.Concat(source[:m.start], []byte(m.with), source[m.end:])
}

// rank is a random number of the seed and the mutant's content. The path of the file is left out but for its name: a
// package that was moved keeps its sample.
func (m *Mutant) rank(seed uint64) uint64 {
	h := fnv.New64a()
	h.Write(binary.LittleEndian.AppendUint64(nil, seed))
	base := m.File[strings.LastIndexByte(m.File, '/')+1:]
	for _, part := range []string{base, m.Function, string(m.Kind), m.Text, m.From, m.To, fmt.Sprint(m.nth)} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	// The low bits of FNV say little about the last bytes: they are mixed once more.
	x := h.Sum64()
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	return x ^ x>>32
}

// arrange puts the mutants of a package in the order in which they are tried: those on changed lines first; then the
// kinds in turn, so that one with many places does not crowd out the others; within that at random, by the seed.
func arrange(mutants []*Mutant, seed uint64) {
	random := map[*Mutant]uint64{}
	for _, m := range mutants {
		random[m] = m.rank(seed)
	}
	slices.SortFunc(mutants, func(a, b *Mutant) int { return cmp.Compare(random[a], random[b]) })
	round := map[*Mutant]int{}
	seen := map[kind]int{}
	for _, m := range mutants {
		round[m] = seen[m.Kind]
		seen[m.Kind]++
	}
	slices.SortStableFunc(mutants, func(a, b *Mutant) int {
		if a.Changed != b.Changed {
			return map[bool]int{true: -1, false: 1}[a.Changed]
		}
		return cmp.Compare(round[a], round[b])
	})
}

// oneLine is source text with its blanks and line ends drawn together.
func oneLine(source string) string { return strings.Join(strings.Fields(source), " ") }
