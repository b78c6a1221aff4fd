package main

import (
	"runtime"
	"testing"
)

// A process that runs many command lines, as the tests do, keeps nothing of those that are over.
func TestExecute_LeavesNothingInMemory(t *testing.T) {
	held := func() uint64 {
		runtime.GC()
		runtime.GC() // what finalizers have let go
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	must(t, "train", "--help")
	before := held()
	const calls = 40
	for range calls {
		must(t, "train", "--help")
	}
	if after := held(); after > before+calls*50_000 {
		t.Errorf("%d calls keep %d kB of memory each", calls, (after-before)/calls/1000)
	}
}
