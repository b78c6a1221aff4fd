package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// campaign tries a sample of the mutants of each package.
type campaign struct {
	module     *module
	laboratory *laboratory
	seed       uint64
	perPackage int // 0 for all
	jobs       int
	changes    *changes // nil for everything
	accepted   []acceptance
	out        io.Writer
}

// Score is what became of the mutants of a package.
type Score struct {
	Package string  `json:"package"`
	Mutants int     `json:"mutants"` // that were found, before the sample
	Killed  int     `json:"killed"`
	Lived   int     `json:"survived"`
	Missed  int     `json:"not_covered"`
	Seconds float64 `json:"seconds"`
	Problem string  `json:"problem,omitempty"` // why there are fewer trials than asked for
	Trials  []Trial `json:"trials"`
	err     error
}

func (s *Score) tried() int { return s.Killed + s.Lived + s.Missed }

// share is the least time that a package gets of a budget: below it, most of it would go into the first build.
const share = 30 * time.Second

// all tries the packages one after the other, until the context's deadline. Each gets an equal share of what time is
// left.
func (c *campaign) all(ctx context.Context, packages []*pkg) []*Score {
	var scores []*Score
	for i, p := range packages {
		if ctx.Err() != nil {
			fmt.Fprintf(c.out, "%d of %d packages were not tried, from %s on\n", len(packages)-i, len(packages),
				p.folder)
			break
		}
		part, cancel := ctx, context.CancelFunc(func() {})
		if end, limited := ctx.Deadline(); limited {
			left := time.Until(end)
			part, cancel = context.WithTimeout(ctx, max(share, left/time.Duration(len(packages)-i)))
		}
		s := c.one(part, p)
		cancel()
		scores = append(scores, s)
		s.print(c.out)
	}
	return scores
}

// one tries the sample of a package. What the deadline cuts off is not counted.
func (c *campaign) one(ctx context.Context, p *pkg) *Score {
	begun := time.Now()
	s := &Score{Package: p.folder, Trials: []Trial{}}
	mutants := withoutAccepted(c.module.mutants(p), c.accepted)
	s.Mutants = len(mutants)
	sample := c.sample(p, mutants)
	var b *baseline
	if p.tests && len(sample) > 0 {
		if b, s.err = c.laboratory.measure(ctx, p); s.err != nil {
			return s.explained(ctx, begun)
		}
	}
	var mu sync.Mutex
	var workers sync.WaitGroup
	next := 0
	for range c.jobs {
		workers.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				failed := s.err != nil
				mu.Unlock()
				if i >= len(sample) || failed {
					return
				}
				t, err := c.laboratory.try(ctx, p, b, sample[i])
				mu.Lock()
				if err == nil {
					s.add(t)
				} else if s.err == nil {
					s.err = err
				}
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	return s.explained(ctx, begun)
}

// sample is the first mutants, in their order, that pass the type checker.
func (c *campaign) sample(p *pkg, mutants []*Mutant) []*Mutant {
	if c.changes != nil {
		c.changes.mark(mutants)
	}
	arrange(mutants, c.seed)
	var sample []*Mutant
	for _, m := range mutants {
		if c.perPackage > 0 && len(sample) == c.perPackage {
			break
		}
		file := p.file(m.File)
		if c.module.compiles(p, file, m.apply(file.text)) {
			sample = append(sample, m)
		}
	}
	return sample
}

func (s *Score) add(t Trial) {
	s.Trials = append(s.Trials, t)
	switch t.Verdict {
	case killed, timedOut:
		s.Killed++
	case survived:
		s.Lived++
	case notCovered:
		s.Missed++
	}
}

// explained completes a score at its end.
func (s *Score) explained(ctx context.Context, begun time.Time) *Score {
	s.Seconds = time.Since(begun).Seconds()
	switch {
	case ctx.Err() != nil:
		s.err = nil
		s.Problem = "cut off by the budget"
		if errors.Is(ctx.Err(), context.Canceled) {
			s.Problem = "interrupted"
		}
	case s.err != nil:
		s.Problem = s.err.Error()
	}
	slices.SortFunc(s.Trials, func(a, b Trial) int {
		if a.File != b.File {
			return map[bool]int{true: -1, false: 1}[a.File < b.File]
		}
		return a.start - b.start
	})
	return s
}
