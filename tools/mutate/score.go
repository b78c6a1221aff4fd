package main

import "fmt"

// score counts the results for a package's mutants.
type score struct {
	name             string
	mutants          int // that were found, before the sample
	killed, survived int
}

func (s *score) add(v verdict) {
	switch v {
	case killed, timedOut:
		s.killed++
	case survived:
		s.survived++
	}
}

func (s *score) String() string {
	tried, percent := s.killed+s.survived, "-"
	if tried > 0 {
		percent = fmt.Sprintf("%d %%", s.killed*100/tried)
	}
	return fmt.Sprintf("%-28s %4d of %d mutants: %d killed, %d survived: %s", s.name, tried, s.mutants, s.killed,
		s.survived, percent)
}

func total(scores []*score) *score {
	sum := &score{name: "all"}
	for _, s := range scores {
		sum.mutants += s.mutants
		sum.killed += s.killed
		sum.survived += s.survived
	}
	return sum
}
