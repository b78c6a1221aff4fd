package rates

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// each runs tasks 0 to n-1, each once, on at most workers goroutines, until ctx is done; its error is
// then returned. Every goroutine gets a function of its own from start, which may hold working
// memory. Tasks must write to places of their own.
func each(ctx context.Context, n, workers int, start func() func(task int)) error {
	var next atomic.Int64
	var g errgroup.Group
	for range min(n, workers) {
		g.Go(func() error {
			run := start()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := ctx.Err(); err != nil {
					return err
				}
				run(i)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return ctx.Err() // a task may have left early
}
