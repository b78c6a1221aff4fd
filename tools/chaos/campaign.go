//go:build linux && (amd64 || arm64)

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
)

// task is a fault to be tried.
type task struct {
	s      scenario
	number int
}

// all tries fault after fault, scenario after scenario, until the time is over. Trials that have begun are
// finished.
func (l *lab) all(ctx context.Context, chosen []scenario, c *settings, f *figures) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	tasks := make(chan task)
	var group sync.WaitGroup
	for range c.jobs {
		group.Go(func() {
			for t := range tasks {
				if err := l.one(t, c, f); err != nil {
					cancel(err)
				}
			}
		})
	}
	give(ctx, tasks, chosen, c)
	close(tasks)
	group.Wait()
	if err := context.Cause(ctx); err != context.DeadlineExceeded && err != context.Canceled {
		return err
	}
	return nil
}

// give hands out the first fault of each scenario, the second, and so on.
func give(ctx context.Context, tasks chan<- task, chosen []scenario, c *settings) {
	chosen = slices.Clone(chosen)
	order := rand.New(rand.NewPCG(c.seed, 0))
	const most = 1 << 20
	for number := max(1, c.fault); number < most; number++ {
		order.Shuffle(len(chosen), func(i, k int) { chosen[i], chosen[k] = chosen[k], chosen[i] })
		for _, s := range chosen {
			select {
			case <-ctx.Done():
				return
			case tasks <- task{s, number}:
			}
		}
		if c.fault > 0 {
			return
		}
	}
}

func (l *lab) one(t task, c *settings, f *figures) error {
	ref, err := l.reference(t.s)
	if err != nil {
		return fmt.Errorf("%s: %w", t.s.name, err)
	}
	random := source(c.seed, t.s.name, t.number)
	drawn := t.s.draw(random, ref.calls, ref.saves)
	if c.everyCall {
		if t.number > ref.calls {
			return nil
		}
		drawn = fault{Kind: killed, At: t.number, Half: drawn.Half}
	}
	result, err := l.try(t.s, t.number, drawn, random)
	if err != nil {
		return err
	}
	f.add(result)
	return nil
}
