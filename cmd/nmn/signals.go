package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// ended is the cause of a context that something from outside has ended: a signal, or a reader of output that has
// gone.
type ended struct{ by string }

func (e ended) Error() string { return e.by }

// Unwrap makes it one of the ways in which a context is cancelled.
func (ended) Unwrap() error { return context.Canceled }

// endOnSignals ends the work of the program on an interrupt, a request to terminate, a hangup and a scheduler's
// warning, so that what was done is saved. A second interrupt or request to terminate ends the program at once. Further
// hangups do not: a terminal that closes sends several. Nor do further warnings, which may come from mpirun and
// scheduler both. A program that was started with hangups ignored, as nohup does, goes on ignoring them. Writing to a
// pipe without a reader gives an error and no signal; see pipe. stop gives signals their usual effect back.
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
