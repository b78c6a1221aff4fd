// Command nmn trains multi-label concept classifiers from pictures whose labels are wrong or
// missing, after "Learning from Noisy Labels with Noise Modeling Network".
package main

import (
	"context"
	"os"
)

func main() { os.Exit(mainCode()) }

func mainCode() int {
	ctx, end := context.WithCancelCause(context.Background())
	defer end(nil)
	defer endOnSignals(end)()
	return execute(ctx, os.Args[1:], systemTerminal(end))
}
