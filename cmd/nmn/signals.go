package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
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
