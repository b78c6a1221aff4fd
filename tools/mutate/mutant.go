package main

import (
	"fmt"
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
	ignored    kind = "ignored"    // an error of a call, ignored
	failure    kind = "failure"    // nil returned for an error
	call       kind = "call"       // a call whose result is not used, left out
	assignment kind = "assignment" // an assignment left out
	deferred   kind = "deferred"   // a defer left out
	jump       kind = "jump"       // break for continue, and the reverse
	loop       kind = "loop"       // a range one shorter
	order      kind = "order"      // two arguments of one type exchanged
	seed       kind = "seed"       // 0 for a seed, an epoch or a step
)

// mutant is one change to one file.
type mutant struct {
	kind     kind
	from, to string // as a reader writes them

	file       *source
	line       int    // from 1
	start, end int    // bytes of the file that are replaced
	with       string // replacement
}

// change is the mutation in readable form: the old text and the new one.
func (m *mutant) change() string { return m.from + " -> " + m.to }

func (m *mutant) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", m.file.name, m.line, m.kind, m.change())
}

// text is the file with the change.
func (m *mutant) text() []byte {
	return slices.Concat(m.file.text[:m.start], []byte(m.with), m.file.text[m.end:])
}

// oneLine is source text with its blanks and line ends drawn together.
func oneLine(source string) string { return strings.Join(strings.Fields(source), " ") }
