package main

import (
	"context"
	"io"
	"os"
	"sync"

	"golang.org/x/term"

	ranks "nmn/ranks"
)

// terminal is what a command may talk to. Results go to out and nothing else does; progress,
// messages and errors go to err.
type terminal struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	// joined are the ranks of a test; nil where the environment says whether there are any.
	joined ranks.Group
}

// systemTerminal is that of the process. end is called when the reader of standard output or standard error has gone.
func systemTerminal(end context.CancelCauseFunc) *terminal {
	return &terminal{in: os.Stdin, out: &pipe{File: os.Stdout, name: "standard output", end: end},
		err: &pipe{File: os.Stderr, name: "standard error", end: end}, getenv: os.Getenv}
}

// descriptor is what can be asked whether it is a terminal: a file, or a pipe around one.
type descriptor interface{ Fd() uintptr }

// interactive reports whether a person watches w.
func (t *terminal) interactive(w io.Writer) bool {
	f, ok := w.(descriptor)
	return ok && term.IsTerminal(int(f.Fd())) && t.getenv("TERM") != "dumb"
}

// width is the number of columns of w, 80 where it has none.
func (t *terminal) width(w io.Writer) int {
	if f, ok := w.(descriptor); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return 80
}

// style is a way of writing text, as the number of an ANSI escape sequence.
type style string

const (
	bold style = "1"
	red  style = "31"
)

// paint colours text for w: only on a terminal, and not where NO_COLOR is set (no-color.org).
func (t *terminal) paint(w io.Writer, s style, text string) string {
	if !t.interactive(w) || t.getenv("NO_COLOR") != "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// statusLine is the last line of a terminal, which is drawn again and again. What is written through
// it appears above the line. It is safe for use by several goroutines.
type statusLine struct {
	out   io.Writer
	mutex sync.Mutex
	shown bool
}

// Write takes the line away and writes below what was there before.
func (s *statusLine) Write(b []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.erase()
	return s.out.Write(b)
}

// show draws the line anew. A line that cannot be drawn must not stop the work.
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
