package tensor

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

func TestWorkers_RunEveryBlockOnce(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 8} {
		w := newWorkers(threads)
		if w.Threads() != threads {
			t.Fatalf("%d threads, want %d", w.Threads(), threads)
		}
		for _, blocks := range []int{0, 1, 2, 3, 7, 100, 1000} {
			counts := make([]int32, blocks)
			w.Run(blocks, func(_, block int) { atomic.AddInt32(&counts[block], 1) })
			for block, n := range counts {
				if n != 1 {
					t.Fatalf("%d threads: block %d of %d ran %d times", threads, block, blocks, n)
				}
			}
		}
		w.Close()
	}
}

// A worker's number names scratch memory: no two blocks with the same number may overlap in time. The
// unguarded counters make the race detector see it, too.
func TestWorkers_NumberIsExclusive(t *testing.T) {
	w := newWorkers(4)
	defer w.Close()
	busy := make([]atomic.Bool, w.Threads())
	scratch := make([]int, w.Threads())
	for range 50 {
		w.Run(64, func(worker, _ int) {
			if busy[worker].Swap(true) {
				t.Errorf("worker %d has two blocks at a time", worker)
			}
			scratch[worker]++
			busy[worker].Store(false)
		})
	}
	sum := 0
	for _, n := range scratch {
		sum += n
	}
	if sum != 50*64 {
		t.Fatalf("%d blocks, want %d", sum, 50*64)
	}
}

// Writes of blocks are visible when Run returns, and writes of the caller before the next Run are visible to
// its blocks. The test has no synchronisation of its own, and must be clean under -race.
func TestWorkers_RunOrdersMemory(t *testing.T) {
	w := newWorkers(3)
	defer w.Close()
	values := make([]int, 100)
	step := 0
	f := func(_, block int) { values[block] += step }
	want := 0
	for step = 1; step <= 200; step++ {
		w.Run(len(values), f)
		want += step
		for i, v := range values {
			if v != want {
				t.Fatalf("value %d is %d after step %d, want %d", i, v, step, want)
			}
		}
	}
}

// Operations so short that goroutines start only after their end, or during the next one: each block belongs
// to the open operation, and is run once.
func TestWorkers_LateGoroutinesDoNoHarm(t *testing.T) {
	w := newWorkers(4)
	defer w.Close()
	var open, ran atomic.Int64
	for step := range int64(3000) {
		open.Store(step)
		ran.Store(0)
		blocks := 2 + int(step%3)
		w.Run(blocks, func(_, _ int) {
			if got := open.Load(); got != step {
				t.Errorf("a block of operation %d runs in operation %d", step, got)
			}
			ran.Add(1)
		})
		open.Store(-1)
		if got := ran.Load(); got != int64(blocks) {
			t.Fatalf("operation %d ran %d of %d blocks", step, got, blocks)
		}
	}
}

func TestWorkers_BlocksRunAtTheSameTime(t *testing.T) {
	w := newWorkers(2)
	defer w.Close()
	var met atomic.Int32
	w.Run(2, func(_, _ int) {
		met.Add(1)
		for met.Load() < 2 { // until the test's own deadline
			runtime.Gosched()
		}
	})
	if w.Threads() != 2 || met.Load() != 2 {
		t.Fatalf("%d threads, %d blocks; want 2 and 2", w.Threads(), met.Load())
	}
}

func TestWorkers_RunAllocatesNothing(t *testing.T) {
	w := newWorkers(3)
	defer w.Close()
	f := func(_, _ int) {}
	if n := testing.AllocsPerRun(100, func() { w.Run(10, f) }); n != 0 {
		t.Fatalf("Run allocates %g times", n)
	}
}

func TestWorkers_ZeroThreadsMeansAllProcessors(t *testing.T) {
	w := newWorkers(0)
	defer w.Close()
	if w.Threads() != runtime.GOMAXPROCS(0) {
		t.Fatalf("%d threads, want %d", w.Threads(), runtime.GOMAXPROCS(0))
	}
}

func TestWorkers_CloseEndsGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	w := newWorkers(9)
	w.Run(20, func(_, _ int) {})
	w.Close()
	w.Close()
	for runtime.NumGoroutine() > before { // until the test's own deadline, which lists the goroutines
		time.Sleep(time.Millisecond)
	}
	ran := 0
	w.Run(5, func(worker, _ int) { ran += 1 + worker })
	if ran != 5 {
		t.Fatalf("a closed pool ran %d of 5 blocks on the caller's goroutine", ran)
	}
}
