package eval

import (
	"sync"
	"sync/atomic"
)

// parallel runs tasks 0 to n-1, each once, on at most workers goroutines. Each goroutine gets its
// own function from start, which may hold working memory. Tasks must write to places of their own.
func parallel(n, workers int, start func() func(task int)) {
	if workers = min(workers, n); workers <= 1 {
		if n > 0 {
			run := start()
			for i := range n {
				run(i)
			}
		}
		return
	}
	var next atomic.Int64
	var done sync.WaitGroup
	for range workers {
		done.Go(func() {
			run := start()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				run(i)
			}
		})
	}
	done.Wait()
}
