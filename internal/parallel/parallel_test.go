package parallel

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Every index comes once and no other one does, however they fall into runs.
func TestEach_EveryIndexOnce(t *testing.T) {
	for _, n := range []int{0, 1, 2, 63, 64, 65, 127, 128, 129, 1000, 6400} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			calls := make([]atomic.Int32, n+128)
			Each(n, func(i int) {
				if i < 0 || i >= len(calls) {
					t.Errorf("index %d of %d", i, n)
					return
				}
				calls[i].Add(1)
			})
			var wrong []int
			for i := range calls {
				if got := calls[i].Load(); got != 1 && i < n || got != 0 && i >= n {
					wrong = append(wrong, i)
				}
			}
			if len(wrong) > 0 {
				t.Errorf("%d indices do not come just once, the first are %d", len(wrong), wrong[:min(8, len(wrong))])
			}
		})
	}
}

// The writes of f are visible to the caller of Each.
func TestEach_IsOverWhenItReturns(t *testing.T) {
	squares := make([]int, 500)
	Each(len(squares), func(i int) { squares[i] = i * i })
	if i := slices.IndexFunc(squares[1:], func(v int) bool { return v == 0 }); i >= 0 {
		t.Errorf("the square of %d is not there", i+1)
	}
}

// Each goroutine takes working memory, so there are no more goroutines than processors.
func TestEach_NoMoreGoroutinesThanProcessors(t *testing.T) {
	var now, most atomic.Int32
	Each(6400, func(int) {
		n := now.Add(1)
		for seen := most.Load(); n > seen && !most.CompareAndSwap(seen, n); seen = most.Load() {
		}
		runtime.Gosched() // lets others begin meanwhile
		now.Add(-1)
	})
	if got, limit := int(most.Load()), runtime.GOMAXPROCS(0); got > limit {
		t.Errorf("%d at a time on %d processors", got, limit)
	}
}

func TestBlocks_CutEveryIndexOnce(t *testing.T) {
	for _, n := range []int{0, 1, 9, 10, 11, 20, 1001} {
		const size = 10
		calls := make([]atomic.Int32, n)
		Blocks(n, size, func(from, to int) {
			if from%size != 0 || to != min(from+size, n) || from >= to {
				t.Errorf("of %d indices those from %d to %d", n, from, to)
			}
			for i := from; i < to; i++ {
				calls[i].Add(1)
			}
		})
		for i := range calls {
			if got := calls[i].Load(); got != 1 {
				t.Errorf("index %d of %d comes %d times", i, n, got)
			}
		}
	}
}

func TestRun_RunsEveryTaskOnceOnAsManyAsAllowed(t *testing.T) {
	for _, c := range []struct{ tasks, workers, goroutines int }{{0, 3, 0}, {1, 3, 1}, {2, 3, 2}, {50, 3, 3}} {
		var started atomic.Int32
		var mutex sync.Mutex
		var done []int
		err := Run(t.Context(), c.tasks, c.workers, func() func(int) {
			started.Add(1)
			return func(task int) {
				mutex.Lock()
				defer mutex.Unlock()
				done = append(done, task)
			}
		})
		slices.Sort(done)
		if err != nil || len(done) != c.tasks || len(slices.Compact(done)) != c.tasks || int(started.Load()) != c.goroutines {
			t.Errorf("%+v: %d goroutines did %d, %v", c, started.Load(), done, err)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	err := Run(cancelled, 100, 2, func() func(int) { return func(int) { cancel() } })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled by a task: %v", err)
	}
}

// A panic of a task comes to the caller, with the place that it is from.
func TestRun_PanicsInTheCaller(t *testing.T) {
	for _, workers := range []int{1, 3} {
		var done atomic.Int32
		func() {
			defer func() {
				if p := fmt.Sprint(recover()); !strings.Contains(p, "task 5") || !strings.Contains(p, "parallel_test.go") {
					t.Errorf("%d workers: recovered %.200s", workers, p)
				}
			}()
			_ = Run(t.Context(), 10000, workers, func() func(int) {
				return func(i int) {
					if done.Add(1); i == 5 {
						panic("task 5")
					}
				}
			})
			t.Errorf("%d workers: no panic", workers)
		}()
	}
}

func TestProgress_CountsEveryUnit(t *testing.T) {
	calls, last := 0, 0
	p := Progress{Total: 500, Report: func(done, total int) {
		if calls++; done != last+5 || total != 500 {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last = done
	}}
	Blocks(100, 1, func(int, int) { p.Add(5) })
	if calls != 100 || last != 500 {
		t.Errorf("%d calls, the last of %d", calls, last)
	}
	(&Progress{}).Add(1) // without Report
}
