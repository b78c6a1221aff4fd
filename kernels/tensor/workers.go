package tensor

import (
	"runtime"
	"sync/atomic"
)

// Workers is a fixed pool of goroutines that share the blocks of an operation. How an operation is cut into
// blocks must depend on its shape alone, never on the number of threads, and each block must write its own
// part of the output. Then results are equal for any pool.
//
// One operation runs at a time. Run allocates nothing when its caller stores f once. It waits for blocks,
// never for a goroutine to wake up: a goroutine that the system runs late finds the operation closed.
//
// Waking a sleeping goroutine takes as long as a small operation. So idle goroutines spin for a while before
// they go to sleep.
type Workers struct {
	threads  int
	helpers  []*helper
	patience patience      // the caller's
	state    atomic.Int64  // goroutines in the operation other than the caller's, closed and awaited
	number   atomic.Int64  // of the operation, counted up
	done     chan struct{} // receives when the last of them leaves an operation that is awaited
	ended    atomic.Bool
	task     func(worker, block int)
	next     atomic.Int64
	blocks   int
}

// helper is a goroutine other than the caller's.
type helper struct {
	asleep   atomic.Bool // or about to be: it must be woken
	wake     chan struct{}
	patience patience
}

// Bits of Workers.state.
const (
	closed  = 1 << 32 // no goroutine may enter
	awaited = 1 << 33 // the caller sleeps until the last has left
)

// newWorkers starts a pool. threads includes the caller's goroutine, which works too. 0 means one for each
// processor that Go may use.
func newWorkers(threads int) *Workers {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	w := &Workers{threads: threads, done: make(chan struct{}, 1)}
	if threads <= runtime.GOMAXPROCS(0) { // each may have a processor for itself, so that looking delays no other
		w.patience.limit = mostPatience
	}
	w.state.Store(closed)
	for worker := 1; worker < threads; worker++ {
		h := &helper{wake: make(chan struct{}, 1), patience: w.patience}
		w.helpers = append(w.helpers, h)
		go w.serve(worker, h)
	}
	return w
}

// Threads is the number of goroutines that work.
func (w *Workers) Threads() int { return w.threads }

// Run calls f(worker, block) for every block in [0, blocks), each once, and returns when all have
// returned. worker is in [0, Threads()) and names scratch memory that no other block uses at the
// same time. f must not call Run.
func (w *Workers) Run(blocks int, f func(worker, block int)) {
	helpers := min(len(w.helpers), blocks-1)
	if helpers <= 0 {
		for block := range blocks {
			f(0, block)
		}
		return
	}
	w.task, w.blocks = f, blocks
	w.next.Store(0)
	w.state.Store(0)
	w.number.Add(1) // after opening: goroutines that see the number may enter
	for _, h := range w.helpers[:helpers] {
		h.call()
	}
	w.work(0)
	w.await()
	w.task = nil
}

// call wakes a sleeping goroutine.
func (h *helper) call() {
	if h.asleep.Load() {
		select {
		case h.wake <- struct{}{}:
		default: // an earlier call has not been received yet
		}
	}
}

// await closes the operation and returns when all have left it.
func (w *Workers) await() {
	if w.state.Or(closed) == 0 || w.patience.look(func() bool { return w.state.Load() == closed }) {
		return
	}
	if w.state.Or(awaited) != closed {
		<-w.done
	}
	w.patience.slept()
}

// serve takes part in operations until the pool is closed.
func (w *Workers) serve(worker int, h *helper) {
	last := int64(0) // the operation in which this goroutine was, or for which it came too late
	happened := func() bool { return w.number.Load() != last }
	for {
		if !h.patience.look(happened) {
			h.asleep.Store(true) // before another look: later callers see it
			if !happened() {
				<-h.wake
			}
			h.asleep.Store(false)
			h.patience.slept()
		}
		if w.ended.Load() {
			return
		}
		last = w.number.Load()
		if w.enter() {
			last = w.number.Load() // of the operation that waits for leave, perhaps a later one
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
	if w.state.Add(-1) == closed|awaited {
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

// Close ends the goroutines. The pool must be idle. Afterwards Run works on the caller's goroutine alone.
// Closing twice is harmless.
func (w *Workers) Close() {
	w.ended.Store(true)
	for _, h := range w.helpers {
		close(h.wake)
	}
	w.helpers = nil
}
