// Command nmn trains multi-label concept classifiers from pictures whose labels are wrong or
// missing, after "Learning from Noisy Labels with Noise Modeling Network".
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(mainCode()) }

func mainCode() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// Once the first signal is noted, signals get their usual effect back: a second one ends the
	// program at once.
	context.AfterFunc(ctx, stop)
	return execute(ctx, os.Args[1:], systemTerminal())
}
