package main

import "fmt"

// score counts the results for a package's mutants.
type score struct {
	name                         string
	mutants                      int // that were found, before the sample
	killed, survived, notCovered int
}

func (s *score) add(v verdict) {
	switch v {
	case killed, timedOut:
		s.killed++
	case survived:
		s.survived++
	case notCovered:
		s.notCovered++
	}
}

func (s *score) tried() int { return s.killed + s.survived + s.notCovered }

func (s *score) percent() string {
	if s.tried() == 0 {
		return "-"
	}
	return fmt.Sprintf("%d %%", s.killed*100/s.tried())
}

func (s *score) String() string {
	return fmt.Sprintf("%-28s %4d of %d mutants: %d killed, %d survived, %d not covered: %s", s.name, s.tried(), s.mutants,
		s.killed, s.survived, s.notCovered, s.percent())
}

func total(scores []*score) *score {
	sum := &score{name: "all"}
	for _, s := range scores {
		sum.mutants += s.mutants
		sum.killed += s.killed
		sum.survived += s.survived
		sum.notCovered += s.notCovered
	}
	return sum
}
