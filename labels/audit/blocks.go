package audit

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// blockRows is how many bags are worked on together. It does not depend on the number of processors, so that sums over
// bags do not either.
const blockRows = 4096

// inBlocks calls f for every run of size of the numbers 0 to n-1, each once, from as many goroutines as there are
// processors.
func inBlocks(n, size int, f func(block, lo, hi int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	blocks := (n + size - 1) / size
	for range min(runtime.GOMAXPROCS(0), blocks) {
		wait.Go(func() {
			for b := int(next.Add(1)) - 1; b < blocks; b = int(next.Add(1)) - 1 {
				f(b, b*size, min((b+1)*size, n))
			}
		})
	}
	wait.Wait()
}
