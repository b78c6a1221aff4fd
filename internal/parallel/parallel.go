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
	Blocks(n, run, func(from, to int) {
		for i := from; i < to; i++ {
			f(i)
		}
	})
}

// Blocks calls f for the runs of size indices that 0 to n-1 are cut into, each once, from as many goroutines as there
// are processors: from is the first index, and to follows the last. f must write to places of its own.
func Blocks(n, size int, f func(from, to int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+size-1)/size) {
		wait.Go(func() {
			for {
				from := int(next.Add(int64(size))) - size
				if from >= n {
					return
				}
				f(from, min(from+size, n))
			}
		})
	}
	wait.Wait()
}
