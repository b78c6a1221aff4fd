package tensor

import (
	"runtime"
	"sync/atomic"
)

// Workers is a fixed pool of goroutines that share the blocks of an operation. How an operation is
// cut into blocks must depend on its shape alone, never on the number of threads, and each block
// must write its own part of the output: then results are equal for any pool.
//
// One operation runs at a time. Run allocates nothing when f is stored once by its caller. It waits for
// blocks, never for a goroutine to wake up: one that the system is late to run finds the operation closed.
type Workers struct {
	threads int
	wake    []chan struct{}
	state   atomic.Int64  // goroutines in the operation besides the caller's, and closed
	done    chan struct{} // gets a value when the last of them leaves an operation that was closed before
	task    func(worker, block int)
	next    atomic.Int64
	blocks  int
}

// closed is the bit of Workers.state that lets nobody in.
const closed = 1 << 32

// NewWorkers starts a pool. threads counts the caller's goroutine, which works too; 0 means one
// for each processor that Go may use.
func NewWorkers(threads int) *Workers {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	w := &Workers{threads: threads, done: make(chan struct{}, 1)}
	w.state.Store(closed)
	for worker := 1; worker < threads; worker++ {
		wake := make(chan struct{}, 1)
		w.wake = append(w.wake, wake)
		go w.serve(worker, wake)
	}
	return w
}

// Threads is the number of goroutines that work.
func (w *Workers) Threads() int { return w.threads }

// Run calls f(worker, block) for every block in [0, blocks), each once, and returns when all have
// returned. worker is in [0, Threads()) and names scratch memory that no other block uses at the
// same time. f must not call Run.
func (w *Workers) Run(blocks int, f func(worker, block int)) {
	helpers := min(len(w.wake), blocks-1)
	if helpers <= 0 {
		for block := range blocks {
			f(0, block)
		}
		return
	}
	w.task, w.blocks = f, blocks
	w.next.Store(0)
	w.state.Store(0)
	for _, wake := range w.wake[:helpers] {
		select {
		case wake <- struct{}{}:
		default: // the call of an earlier operation is still to be heard
		}
	}
	w.work(0)
	if w.state.Or(closed) > 0 {
		<-w.done
	}
	w.task = nil
}

func (w *Workers) serve(worker int, wake chan struct{}) {
	for range wake {
		if w.enter() {
			w.work(worker)
			w.leave()
		}
	}
}

// enter reports whether there is an operation, which then waits until leave is called.
func (w *Workers) enter() bool {
	for {
		state := w.state.Load()
		if state&closed != 0 {
			return false
		}
		if w.state.CompareAndSwap(state, state+1) {
			return true
		}
	}
}

func (w *Workers) leave() {
	if w.state.Add(-1) == closed {
		w.done <- struct{}{}
	}
}

func (w *Workers) work(worker int) {
	for {
		block := int(w.next.Add(1)) - 1
		if block >= w.blocks {
			return
		}
		w.task(worker, block)
	}
}

// Close ends the goroutines. The pool must be idle; afterwards Run works on the caller's goroutine
// alone. Closing twice is harmless.
func (w *Workers) Close() {
	for _, wake := range w.wake {
		close(wake)
	}
	w.wake = nil
}
