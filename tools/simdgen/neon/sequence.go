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
	constants []float64 // factors, also for products with their negatives
	runs      int       // steps of other code so far, which may change what a load reads
}

// step is an instruction, a load or other code.
type step struct {
	name     string // of the instruction, or empty
	sum      value  // that it adds to, or none
	operands []value
	factor   int // that it multiplies by: 1 more than its place among the constants, or 0 if there is none
	load     func(to vector)
	run      func(operands []vector)
	runs     int
}

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

// read is a vector from memory. load may be written twice, which is cheaper than a copy.
func (s *sequence) read(load func(to vector)) value { return s.step(step{sum: none, load: load}) }

func (s *sequence) sum(x, y value) value {
	return s.step(step{name: "fadd.4s", sum: none, operands: []value{x, y}})
}

func (s *sequence) difference(x, y value) value {
	return s.step(step{name: "fsub.4s", sum: none, operands: []value{x, y}})
}

func (s *sequence) product(c float64, x value) value {
	return s.step(step{name: "fmul.4s.lane", sum: none, operands: []value{x}, factor: s.constant(c)})
}

// addProduct is sum + c·x, rounded once.
func (s *sequence) addProduct(sum value, c float64, x value) value {
	if slices.Contains(s.constants, -c) {
		return s.step(step{name: "fmls.4s.lane", sum: sum, operands: []value{x}, factor: s.constant(-c)})
	}
	return s.step(step{name: "fmla.4s.lane", sum: sum, operands: []value{x}, factor: s.constant(c)})
}

// constant is 1 more than the place of a constant, which it adds if need be.
func (s *sequence) constant(c float64) int {
	if !slices.Contains(s.constants, c) {
		s.constants = append(s.constants, c)
	}
	return slices.Index(s.constants, c) + 1
}

// use is code that reads values. It may change a value if no later step reads it.
func (s *sequence) use(x []value, run func(x []vector)) {
	s.step(step{sum: none, operands: x, run: run})
	s.runs++
}

// run is code that reads no values.
func (s *sequence) run(run func()) { s.use(nil, func([]vector) { run() }) }

// write writes the sequence. factors are its constants. Loads are written before their first use, or before other code,
// which may change their address: a load next to a sum keeps more pipes busy than one next to a load.
func (s *sequence) write(k *kernel, factors []vector) {
	last := s.lastUses()
	in := make([]vector, len(s.steps))
	var waiting []value
	load := func(x value) {
		if at := slices.Index(waiting, x); at >= 0 {
			waiting = slices.Delete(waiting, at, at+1)
			in[x] = k.vector()
			s.steps[x].load(in[x])
		}
	}
	for i, st := range s.steps {
		if last[i] == 0 && st.run == nil {
			continue
		}
		if st.load != nil {
			waiting = append(waiting, value(i))
			continue
		}
		for _, x := range append([]value{st.sum}, st.operands...) {
			load(x)
		}
		for st.run != nil && len(waiting) > 0 {
			load(waiting[0])
		}
		var read []vector
		for _, x := range st.operands {
			read = append(read, in[x])
		}
		switch {
		case st.run != nil:
			st.run(read)
		case st.sum != none:
			in[i] = s.begin(k, i, st.sum, in[st.sum], last)
		}
		for _, x := range st.operands {
			if last[x] == i && (st.sum == none || in[x] != in[i]) {
				delete(k.vectors, in[x])
			}
		}
		if st.run == nil && st.sum == none {
			in[i] = k.vector() // may be an operand's
		}
		if st.run == nil {
			s.instruct(k, st, in[i], read, factors)
		}
	}
}

// instruct writes the instruction of a step.
func (s *sequence) instruct(k *kernel, st step, to vector, read, factors []vector) {
	operands := []any{to}
	for _, v := range read {
		operands = append(operands, v)
	}
	if at := st.factor - 1; at >= 0 {
		operands = append(operands, factors[at/lanes], at%lanes)
	}
	k.v(st.name, operands...)
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

// lastUses returns the last step that reads each value, or 0 if no step that is written does.
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
