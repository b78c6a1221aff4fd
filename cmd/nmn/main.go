// Command nmn trains multi-label classifiers of pictures from wrong and missing labels, after "Learning from
// Noisy Labels with Noise Modeling Network".
package main

import (
	"context"
	"os"
	"runtime/debug"
	"time"

	_ "nmn/format/parquet"
	"nmn/internal/memory"
	_ "nmn/text/english"
)

func main() {
	heedMemory()
	ctx, end := context.WithCancelCause(context.Background())
	stop := endOnSignals(end)
	leave := endWithCaller(end, os.Getenv(scratchVariable), os.Stdin)
	t := systemTerminal(end)
	onSlowEnd(ctx, 3*time.Second, t.sayEnding)
	code := execute(ctx, os.Args[1:], t)
	stop()
	leave() // the caller has ended: its error has no reader
	os.Exit(code)
}

// arena is the size of the blocks of addresses that Go reserves, in bytes.
const arena = 64 << 20

// heedMemory sets the garbage collector's limit to the memory that is free at the start. The collector ignores
// ulimit -v and control groups, and would let the heap double before it runs.
func heedMemory() {
	if free, known := memory.Free(); known && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(max(free-free/32-arena, arena/4))
	}
}
