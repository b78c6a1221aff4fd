// Package parallel shares out independent pieces of work among the processors.
package parallel

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Run calls tasks 0 to n-1, each once, on at most workers goroutines, 0 for one on each processor, until ctx
// is done. It then returns the error of ctx. Each goroutine gets its own function from start, which may hold
// working memory. Each task must write to its own memory. A task that panics ends the work, and Run panics
// with its message and stack.
func Run(ctx context.Context, n, workers int, start func() func(task int)) error {
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var failure atomic.Pointer[string]
	work := func() {
		defer func() {
			if p := recover(); p != nil {
				said := fmt.Sprintf("%v\n\n%s", p, debug.Stack())
				failure.CompareAndSwap(nil, &said)
			}
		}()
		run := start()
		for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil && failure.Load() == nil; i = int(next.Add(1)) - 1 {
			run(i)
		}
	}
	if workers = min(workers, n); workers == 1 {
		work()
	} else {
		var wait sync.WaitGroup
		for range workers {
			wait.Go(work)
		}
		wait.Wait()
	}
	if said := failure.Load(); said != nil {
		panic(*said)
	}
	return ctx.Err()
}

// Try calls tasks 0 to n-1 as Run does, until one fails or ctx is done. It returns the error of the lowest number that
// failed, or the error of ctx.
func Try(ctx context.Context, n, workers int, task func(i int) error) error {
	within, stop := context.WithCancel(ctx)
	defer stop()
	var mutex sync.Mutex
	var failure error
	first := n
	_ = Run(within, n, workers, func() func(int) {
		return func(i int) {
			err := task(i)
			if err == nil {
				return
			}
			stop()
			mutex.Lock()
			defer mutex.Unlock()
			if i < first {
				first, failure = i, err
			}
		}
	})
	return cmp.Or(failure, ctx.Err())
}

// Each calls f for 0 to n-1, each once, from one goroutine for each processor. It hands out short runs of
// indices. Each call of f must write to its own memory.
func Each(n int, f func(i int)) {
	const run = 64
	Blocks(n, run, func(from, to int) {
		for i := from; i < to; i++ {
			f(i)
		}
	})
}

// Blocks cuts 0 to n-1 into runs of size indices and calls f once for each, from one goroutine for each
// processor: from is the first index, and to follows the last. Each call of f must write to its own memory.
func Blocks(n, size int, f func(from, to int)) {
	_ = Run(context.Background(), (n+size-1)/size, 0, func() func(int) { // which is never done
		return func(block int) { f(block*size, min((block+1)*size, n)) }
	})
}

// Progress counts units of work that several goroutines have done.
type Progress struct {
	Report func(done, total int) // is called after each Add, one call at a time; nil for nothing
	Total  int

	mutex sync.Mutex
	done  int
}

// Add counts more units.
func (p *Progress) Add(units int) {
	if p.Report == nil {
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.done += units
	p.Report(p.done, p.Total)
}
