// Package parallel shares out independent pieces of work among the processors.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls f for 0 to n-1, each once, from as many goroutines as there are processors. It
// hands out short runs of indices, and f must write to places of its own.
func Each(n int, f func(i int)) {
	const run = 64
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+run-1)/run) {
		wait.Go(func() {
			for {
				start := int(next.Add(run)) - run
				if start >= n {
					return
				}
				for i := start; i < min(start+run, n); i++ {
					f(i)
				}
			}
		})
	}
	wait.Wait()
}
