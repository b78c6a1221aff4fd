package neon

import (
	"fmt"
	"math"
	"slices"
)

// value is the result of a step of a sequence: the number of the step.
type value int

const none value = -1

// sequence is a list of vector instructions whose results have no registers yet. write chooses the registers, leaves
// out results that nothing uses, and changes a sum in place if nothing else needs it.
type sequence struct {
	steps     []step
	constants []float64
	runs      int // of code in between, which may change what a load reads
}

// step is an instruction, a load or other code.
type step struct {
	name     string // of the instruction, or empty
	sum      value  // that it adds to, or none
	operands []value
	factor   float64 // that it multiplies by, if not 0
	load     func(to vector)
	run      func(operands []vector)
	runs     int
}

// newSequence begins a sequence that multiplies by constants, or by their negatives.
func newSequence(constants []float64) *sequence { return &sequence{constants: constants} }

// factors reads the constants into the lanes of new vectors.
func (s *sequence) factors(k *kernel) []vector {
	words := make([]uint32, (len(s.constants)+lanes-1)/lanes*lanes)
	name := "factors"
	for i, c := range s.constants {
		words[i] = math.Float32bits(float32(c))
		name += fmt.Sprintf("%08x", words[i])
	}
	vectors := k.grid(1, len(words)/lanes)[0]
	k.scope(func() { k.fill(vectors, k.constant(name, words...), len(words)) })
	return vectors
}

func (s *sequence) step(st step) value {
	st.runs = s.runs
	s.steps = append(s.steps, st)
	return value(len(s.steps) - 1)
}

// read is what code reads from memory, again if that saves a copy.
func (s *sequence) read(load func(to vector)) value { return s.step(step{sum: none, load: load}) }

func (s *sequence) sum(x, y value) value {
	return s.step(step{name: "fadd.4s", sum: none, operands: []value{x, y}})
}

func (s *sequence) difference(x, y value) value {
	return s.step(step{name: "fsub.4s", sum: none, operands: []value{x, y}})
}

func (s *sequence) product(c float64, x value) value {
	return s.step(step{name: "fmul.4s.lane", sum: none, operands: []value{x}, factor: c})
}

// addProduct is sum + c·x, rounded once. The sign of c may differ from the constant's.
func (s *sequence) addProduct(sum value, c float64, x value) value {
	if slices.Contains(s.constants, c) {
		return s.step(step{name: "fmla.4s.lane", sum: sum, operands: []value{x}, factor: c})
	}
	return s.step(step{name: "fmls.4s.lane", sum: sum, operands: []value{x}, factor: -c})
}

// use is code that reads values. It may change those that nothing else reads.
func (s *sequence) use(x []value, run func(x []vector)) {
	s.step(step{sum: none, operands: x, run: run})
	s.runs++
}

// run is code that reads no values.
func (s *sequence) run(run func()) { s.use(nil, func([]vector) { run() }) }

// write writes the sequence. factors are its constants.
func (s *sequence) write(k *kernel, factors []vector) {
	last := s.lastUses()
	in := make([]vector, len(s.steps))
	for i, st := range s.steps {
		if last[i] == 0 && st.run == nil {
			continue
		}
		operands := make([]any, 0, 4)
		var read []vector
		for _, x := range st.operands {
			read = append(read, in[x])
			operands = append(operands, in[x])
		}
		if st.factor != 0 {
			at := slices.Index(s.constants, st.factor)
			operands = append(operands, factors[at/lanes], at%lanes)
		}
		if st.sum != none {
			in[i] = s.begin(k, i, st.sum, in[st.sum], last)
		}
		if st.run != nil {
			st.run(read)
		}
		for _, x := range st.operands {
			if last[x] == i {
				delete(k.vectors, in[x])
			}
		}
		if st.sum == none && st.run == nil {
			in[i] = k.vector()
		}
		switch {
		case st.run != nil:
		case st.load != nil:
			st.load(in[i])
		default:
			k.v(st.name, append([]any{in[i]}, operands...)...)
		}
	}
}

// begin returns the register of a sum that step i changes: its own after its last use, or a copy.
func (s *sequence) begin(k *kernel, i int, sum value, register vector, last []int) vector {
	if last[sum] == i {
		return register
	}
	to := k.vector()
	if from := s.steps[sum]; from.load != nil && from.runs == s.steps[i].runs {
		from.load(to)
	} else {
		k.v("mov.16b", to, register)
	}
	return to
}

// lastUses returns the last step that reads each value, or 0 if none does that leads to code.
func (s *sequence) lastUses() []int {
	last := make([]int, len(s.steps))
	for i := len(s.steps) - 1; i >= 0; i-- {
		st := s.steps[i]
		if last[i] == 0 && st.run == nil {
			continue
		}
		for _, x := range append(slices.Clone(st.operands), st.sum) {
			if x != none && last[x] == 0 {
				last[x] = i
			}
		}
	}
	return last
}
