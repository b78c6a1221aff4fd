// Command nmn trains multi-label concept classifiers from pictures whose labels are wrong or
// missing, after "Learning from Noisy Labels with Noise Modeling Network".
package main

import (
	"context"
	"os"
	"runtime/debug"

	"nmn/internal/memory"
)

func main() {
	heedMemory()
	os.Exit(mainCode())
}

// arena is what Go takes of a process's addresses at a time, in bytes.
const arena = 64 << 20

// heedMemory has the garbage collector work harder when the memory that is free now, as far as ulimit -v and control
// groups allow, is nearly used up. It knows of neither, and takes as much again before it begins.
func heedMemory() {
	if free, known := memory.Free(); known && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(max(free-free/32-arena, arena/4))
	}
}

func mainCode() int {
	ctx, end := context.WithCancelCause(context.Background())
	defer end(nil)
	defer endOnSignals(end)()
	return execute(ctx, os.Args[1:], systemTerminal(end))
}
