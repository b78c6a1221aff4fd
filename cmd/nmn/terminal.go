package main

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/term"

	ranks "nmn/ranks"
)

// terminal holds the streams of a command. Only results go to out; progress, messages and errors go to err.
type terminal struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	// joined are the ranks of a test. If it is nil, the environment decides.
	joined ranks.Group
}

// systemTerminal returns the terminal of the process. It calls end if the reader of standard output or error has gone.
func systemTerminal(end context.CancelCauseFunc) *terminal {
	return &terminal{in: os.Stdin, out: &pipe{File: os.Stdout, name: "standard output", end: end},
		err: &pipe{File: os.Stderr, name: "standard error", end: end}, getenv: os.Getenv}
}

// descriptor is a file, or a pipe around a file, that may be a terminal.
type descriptor interface{ Fd() uintptr }

// interactive reports whether w is a terminal.
func (t *terminal) interactive(w io.Writer) bool {
	f, ok := w.(descriptor)
	return ok && term.IsTerminal(int(f.Fd())) && t.getenv("TERM") != "dumb"
}

// width returns the number of columns of w, or 80 if it is no terminal.
func (t *terminal) width(w io.Writer) int {
	if f, ok := w.(descriptor); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return 80
}

// style is the number of an ANSI escape sequence.
type style string

const (
	bold style = "1"
	red  style = "31"
)

// paint colours text for w, but only on a terminal and without NO_COLOR (no-color.org).
func (t *terminal) paint(w io.Writer, s style, text string) string {
	if !t.interactive(w) || t.getenv("NO_COLOR") != "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// statusLine is a line of progress at the bottom of a terminal. Text written through it appears above the line.
// It is safe for concurrent use.
type statusLine struct {
	out   io.Writer
	mutex sync.Mutex
	shown bool
}

// Write clears the line and writes the text.
func (s *statusLine) Write(b []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.erase()
	return s.out.Write(b)
}

// show draws the line. It ignores errors, so that they do not stop the work.
func (s *statusLine) show(line string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	_, _ = io.WriteString(s.out, "\r"+line+"\x1b[K")
	s.shown = true
}

func (s *statusLine) clear() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.erase()
}

func (s *statusLine) erase() {
	if s.shown {
		_, _ = io.WriteString(s.out, "\r\x1b[K")
		s.shown = false
	}
}

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
