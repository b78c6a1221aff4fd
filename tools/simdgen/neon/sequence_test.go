package neon

import (
	"slices"
	"strings"
	"testing"
)

// writtenSequence writes a sequence that begins with the loads x and y, and returns its instructions.
func writtenSequence(body func(s *sequence, x, y value)) []string {
	k := &kernel{file: &file{}, general: map[register]bool{}, vectors: map[vector]bool{}}
	s := &sequence{constants: []float64{2}}
	load := func(name string) value {
		return s.read(func(to vector) { k.op("load %s v%d", name, to) })
	}
	factors := []vector{k.vector()}
	body(s, load("x"), load("y"))
	s.write(k, factors)
	var lines []string
	for line := range strings.Lines(k.code.String()) {
		if _, text, found := strings.Cut(line, "// "); found {
			line = text
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

func TestSequence_ChoosesRegisters(t *testing.T) {
	store := func(s *sequence, values ...value) {
		s.use(values, func([]vector) {})
	}
	for name, c := range map[string]struct {
		body func(s *sequence, x, y value)
		want []string
	}{
		"a sum that nothing else reads changes in place": {
			func(s *sequence, x, y value) { store(s, s.addProduct(x, 2, y)) },
			[]string{"load x v1", "load y v2", "fmla v1.4s, v2.4s, v0.s[0]"},
		},
		"a sum that is read later is loaded again": {
			func(s *sequence, x, y value) { store(s, s.addProduct(x, -2, y), x) },
			[]string{"load x v1", "load y v2", "load x v3", "fmls v3.4s, v2.4s, v0.s[0]"},
		},
		"a sum to which its own product is added stays": {
			func(s *sequence, x, y value) { store(s, s.sum(s.addProduct(x, 2, x), y)) },
			[]string{"load x v1", "fmla v1.4s, v1.4s, v0.s[0]", "load y v2", "fadd v1.4s, v1.4s, v2.4s"},
		},
		"a load waits for its first use": {
			func(s *sequence, x, y value) { store(s, s.sum(s.product(2, x), y)) },
			[]string{"load x v1", "fmul v1.4s, v1.4s, v0.s[0]", "load y v2", "fadd v1.4s, v1.4s, v2.4s"},
		},
		"and not for other code, which may change its address": {
			func(s *sequence, x, y value) {
				s.run(func() {})
				store(s, s.sum(x, y))
			},
			[]string{"load x v1", "load y v2", "fadd v1.4s, v1.4s, v2.4s"},
		},
		"or copied, if memory may have changed": {
			func(s *sequence, x, y value) {
				s.run(func() {})
				store(s, s.addProduct(x, 2, y), x)
			},
			[]string{"load x v1", "load y v2", "mov v3.16b, v1.16b", "fmla v3.4s, v2.4s, v0.s[0]"},
		},
		"a result may take the register of its operand": {
			func(s *sequence, x, y value) { store(s, s.sum(s.difference(x, y), y)) },
			[]string{"load x v1", "load y v2", "fsub v1.4s, v1.4s, v2.4s", "fadd v1.4s, v1.4s, v2.4s"},
		},
		"what nothing reads is left out": {
			func(s *sequence, x, y value) {
				s.product(2, s.sum(x, y))
				store(s, y)
			},
			[]string{"load y v1"},
		},
	} {
		if got := writtenSequence(c.body); !slices.Equal(got, c.want) {
			t.Errorf("%s: wrote\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}
