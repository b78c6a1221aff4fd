package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// campaign tries a sample of the mutants of each package.
type campaign struct {
	module     *module
	laboratory *laboratory
	seed       uint64
	perPackage int // 0 for all
	out        io.Writer
}

// verdict is the result for a mutant.
type verdict string

const (
	killed   verdict = "killed"
	timedOut verdict = "timed out" // counts as killed
	survived verdict = "survived"  // no test failed
	noMutant verdict = "no mutant" // it does not compile
)

// all tries the packages one after the other, and prints the score of each and of all. A package whose tests
// fail without a mutant has no score.
func (c *campaign) all(ctx context.Context, packages []*pkg) error {
	var scores []*score
	var errs []error
	for _, p := range packages {
		s, err := c.one(ctx, p)
		if ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			errs = append(errs, err)
			continue
		}
		scores = append(scores, s)
	}
	fmt.Fprintln(c.out, total(scores))
	return errors.Join(errs...)
}

func (c *campaign) one(ctx context.Context, p *pkg) (*score, error) {
	begun := time.Now()
	mutants := c.module.mutants(p)
	s := &score{name: p.folder, mutants: len(mutants)}
	sample := c.sample(p, mutants)
	var usual time.Duration
	if p.tests && len(sample) > 0 {
		var err error
		if usual, err = c.laboratory.measure(ctx, p); err != nil {
			return nil, err
		}
	}
	verdicts, errs := make([]verdict, len(sample)), make([]error, len(sample))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.NumCPU() {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(sample); i = int(next.Add(1)) - 1 {
				if !p.tests {
					verdicts[i] = survived
				} else {
					verdicts[i], errs[i] = c.laboratory.try(ctx, p, usual, sample[i])
				}
			}
		})
	}
	workers.Wait()
	for i, m := range sample {
		if errs[i] != nil {
			return nil, errs[i]
		}
		s.add(verdicts[i])
		if verdicts[i] == survived {
			fmt.Fprintf(c.out, "    survived %s\n", m)
		}
	}
	fmt.Fprintf(c.out, "%s, %.0f s\n", s, time.Since(begun).Seconds())
	return s, nil
}

// measure runs the tests of a package unchanged, and returns how long they take. It fails if a test does.
func (l *laboratory) measure(ctx context.Context, p *pkg) (time.Duration, error) {
	binary := l.binary("unchanged")
	defer os.Remove(binary)
	if err := l.build(ctx, p, binary, nil); err != nil {
		return 0, err
	}
	begun := time.Now()
	out, err := l.run(ctx, p, binary, "-test.timeout", "30m")
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if err != nil {
		return 0, fmt.Errorf("the tests of %s fail before anything is changed: %w\n%s", p.folder, err,
			out[max(0, len(out)-4000):])
	}
	return time.Since(begun), nil
}

// sample chooses the mutants to try, in the order of the source. The kinds take turns, so that one with many
// places does not crowd out the others. Within a kind the choice is random. Changes that fail the type
// checker are not mutants.
func (c *campaign) sample(p *pkg, mutants []*mutant) []*mutant {
	shuffled := slices.Clone(mutants)
	rand.New(rand.NewPCG(c.seed, 0)).Shuffle(len(shuffled), func(i, j int) {
		shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
	})
	turn, seen := map[*mutant]int{}, map[kind]int{}
	for _, m := range shuffled {
		turn[m] = seen[m.kind]
		seen[m.kind]++
	}
	slices.SortStableFunc(shuffled, func(a, b *mutant) int { return cmp.Compare(turn[a], turn[b]) })
	var sample []*mutant
	for _, m := range shuffled {
		if c.perPackage > 0 && len(sample) == c.perPackage {
			break
		}
		if c.module.compiles(p, m) {
			sample = append(sample, m)
		}
	}
	slices.SortFunc(sample, func(a, b *mutant) int {
		return cmp.Or(cmp.Compare(a.file.name, b.file.name), cmp.Compare(a.start, b.start))
	})
	return sample
}

// try builds a package's tests with a mutant and runs them, for a multiple of the usual time. The error comes from the
// context, or from the machine.
func (l *laboratory) try(ctx context.Context, p *pkg, usual time.Duration, m *mutant) (verdict, error) {
	binary := l.binary("mutant")
	defer func() {
		for _, ending := range []string{"", ".go", ".json"} {
			os.Remove(binary + ending)
		}
	}()
	if err := l.build(ctx, p, binary, m); errors.Is(err, errBuild) {
		return noMutant, nil
	} else if err != nil {
		return "", err
	}
	limited, cancel := context.WithTimeout(ctx, 5*usual+l.slack)
	defer cancel()
	_, err := l.run(limited, p, binary, "-test.failfast", "-test.timeout", "0")
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case limited.Err() != nil:
		return timedOut, nil
	case err == nil:
		return survived, nil
	}
	return killed, nil
}
