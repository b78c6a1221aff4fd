package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// ended is the cause of a context that was ended from outside: by a signal, or by a reader of output that has gone.
type ended struct{ by string }

func (e ended) Error() string { return e.by }

// Unwrap makes it a cancellation of the context.
func (ended) Unwrap() error { return context.Canceled }

// endOnSignals ends the work of the program on an interrupt, a request to terminate, a hangup and a scheduler's
// warning, so that the work is saved. A second interrupt or request to terminate ends the program at once.
// Further hangups do not, because a closing terminal sends several. Further warnings do not either, because
// both mpirun and the scheduler may send one. A program that was started with hangups ignored, as nohup does,
// keeps ignoring them. Writing to a pipe without a reader gives an error and no signal; see pipe. stop restores
// the usual effect of signals.
func endOnSignals(end context.CancelCauseFunc) (stop func()) {
	hard := []os.Signal{os.Interrupt, syscall.SIGTERM}
	signals, broken := make(chan os.Signal, 8), make(chan os.Signal, 1)
	signal.Notify(signals, hard...)
	if more := warnings(); len(more) > 0 { // without any, Notify would mean all signals
		signal.Notify(signals, more...)
	}
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	// Not signal.Ignore: programs that this one starts, such as ffmpeg, would inherit it.
	signal.Notify(broken, syscall.SIGPIPE)
	over := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-signals:
				end(ended{"signal: " + s.String()})
				signal.Reset(hard...)
			case <-over:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		signal.Stop(broken)
		close(over)
	}
}

// onSlowEnd calls say if the program still runs for a while after ctx has ended.
func onSlowEnd(ctx context.Context, while time.Duration, say func()) {
	context.AfterFunc(ctx, func() { time.AfterFunc(while, say) })
}

// sayEnding prints on a terminal why the program still runs: a step of a large net takes minutes on a CPU.
func (t *terminal) sayEnding() {
	if t.interactive(t.err) {
		fmt.Fprintln(t.err, "\nnmn: finishes its step before it ends; press Ctrl-C again to end at once, without saving")
	}
}

// scratchVariable names the folder that a calling Python program provides for its arrays. Standard input is then a pipe
// that ends with that program.
const scratchVariable = "NMN_SCRATCH"

// scratchPrefix begins the name of every such folder, so that no other folder is ever removed.
const scratchPrefix = "nmn-py-"

// endWithCaller ends the work of the program, after saving, if the calling program has ended. leave must be
// called after the work; it then removes the folder.
func endWithCaller(end context.CancelCauseFunc, folder string, in io.Reader) (leave func() error) {
	if !filepath.IsAbs(folder) || !strings.HasPrefix(filepath.Base(folder), scratchPrefix) {
		return func() error { return nil }
	}
	var died atomic.Bool
	go func() {
		io.Copy(io.Discard, in) // an error also means the end
		died.Store(true)
		end(ended{"the program that called this one has ended"})
	}()
	return func() error {
		if !died.Load() {
			return nil
		}
		return os.RemoveAll(folder)
	}
}
