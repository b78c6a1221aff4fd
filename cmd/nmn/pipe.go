package main

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
)

// pipe is standard output or standard error. If its reader has gone, it ends the work of the program as a
// signal does and writes nothing more. Other write errors, such as a full disk, end nothing.
type pipe struct {
	*os.File
	name   string
	end    context.CancelCauseFunc
	closed atomic.Bool
}

// Write writes to the file while it has a reader. It may be called from several goroutines.
func (p *pipe) Write(b []byte) (int, error) {
	if p.closed.Load() {
		return 0, errNoReader
	}
	n, err := p.File.Write(b)
	if err != nil && readerGone(err) {
		p.closed.Store(true)
		p.end(ended{p.name + " was closed"})
		return n, errors.Join(errNoReader, err)
	}
	return n, err
}
