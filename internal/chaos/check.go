//go:build linux && (amd64 || arm64)

package main

import (
	"slices"
	"strings"
	"syscall"
)

// The exit codes of nmn: done, failed, called wrongly, interrupted and saved, and unheard.
var documented = []int{0, 1, 2, 130, 141}

// checkEnd holds the end of the disturbed command to what was done to it.
func (t *trial) checkEnd() {
	e := t.end
	if e.hung {
		return
	}
	if e.code >= 0 && !slices.Contains(documented, e.code) && t.f.Kind != killedRank {
		t.lose("%v, which is not documented: %s", e, e.stderr)
	}
	switch t.f.Kind {
	case killed, killedLate, changed, touched, damaged:
		if e.code < 0 && e.signal != syscall.SIGKILL {
			t.lose("ended by %v", e)
		}
	case signalled:
		if e.code < 0 || e.code == 1 || e.code == 2 {
			t.lose("on %v: %v, without having saved: %s", t.f.Signals, e, e.stderr)
		}
	case twice:
		if e.code < 0 && !slices.Contains(t.f.Signals, e.signal) {
			t.lose("ended by %v", e)
		}
	case unheard:
		// A run whose output nobody reads saves and ends; other commands may end at once.
		if e.code < 0 || e.code == 2 || len(t.s.runs) > 0 && e.code == 141 {
			t.lose("%v, since nobody reads what it says: %s", e, e.stderr)
		}
	case halved, delayed, clocked:
		if e.code != 0 {
			t.lose("%v: %s", e, e.stderr)
		}
	case failsOnce, failsOn, failsShort:
		t.checkFailure()
	}
	// Whoever says that all is well has written all of it.
	if e.code == 0 && !t.mixed && t.f.Kind != raced && t.f.Kind != unheard {
		if err := t.compare("after exit code 0"); err != nil {
			t.lose("%v", err)
		}
	}
}

// checkFailure is about calls that failed: the message says which error of the system it was.
func (t *trial) checkFailure() {
	e := t.end
	if e.code < 0 {
		t.lose("ended by %v", e)
		return
	}
	if e.code != 0 && t.judge.idle() {
		t.lose("%v, though nothing has failed: %s", e, e.stderr)
	} else if e.code != 0 && !strings.Contains(e.stderr, t.f.Errno.Error()) {
		t.lose("the message does not say %q: %s", t.f.Errno.Error(), e.stderr)
	}
}
