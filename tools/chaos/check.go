//go:build linux && (amd64 || arm64)

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"nmn/format/safetensors"
)

// The exit codes of nmn: done, failed, called wrongly, interrupted and saved, and unheard.
var documented = []int{0, 1, 2, 130, 141}

// checkEnd compares the end of the disturbed command with its disturbance.
func (t *trial) checkEnd() {
	e := t.end
	if e.hung {
		return
	}
	if e.code >= 0 && !slices.Contains(documented, e.code) {
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
		// A run whose output has no reader saves and ends. Other commands may end at once.
		if e.code < 0 || e.code == 2 || len(t.s.runs) > 0 && e.code == 141 {
			t.lose("%v, since its output has no reader: %s", e, e.stderr)
		}
	case halved, delayed:
		if e.code != 0 {
			t.lose("%v: %s", e, e.stderr)
		}
	case failsOnce, failsOn, failsShort, filled:
		t.checkFailure()
	}
	if e.code == 130 {
		t.checkSaved()
	}
	// A command that reports success has written everything.
	if e.code == 0 && t.f.Kind != raced && t.f.Kind != unheard {
		if err := t.compare("after exit code 0"); err != nil {
			t.lose("%v", err)
		}
	}
}

// checkSaved checks a run that reports a save against its log: its last checkpoint has all the steps that it
// has made.
func (t *trial) checkSaved() {
	if len(t.Commands) > 1 {
		return // the log may hold steps of a process that was killed before
	}
	for _, run := range t.s.runs {
		folder := filepath.Join(t.work(), run)
		log, err := os.ReadFile(filepath.Join(folder, "log.jsonl"))
		if err != nil {
			continue // it had not begun
		}
		made := 0
		for line := range bytes.Lines(steps(log)) {
			var at position
			if err := json.Unmarshal(line, &at); err == nil {
				made = at.Step
			}
		}
		if saved := savedStep(filepath.Join(folder, "last.safetensors")); saved < made {
			t.lose("%v, and the last checkpoint of %s has step %d of %d", t.end, run, saved, made)
		}
	}
}

// position is the progress of a training.
type position struct {
	Step int `json:"step"`
}

// savedStep returns the step of a checkpoint, or 0 if there is none.
func savedStep(path string) int {
	file, err := safetensors.Open(path)
	if err != nil {
		return 0
	}
	defer file.Close()
	var about struct {
		Position position `json:"position"`
	}
	for _, text := range file.Metadata {
		_ = json.Unmarshal([]byte(text), &about)
	}
	return about.Position.Step
}

// checkFailure checks calls that failed. A training survives a disk that is full for a moment. Otherwise the
// last line names the system's error that ended the command.
func (t *trial) checkFailure() {
	e := t.end
	said := strings.TrimSpace(e.stderr)
	last := said[strings.LastIndexByte(said, '\n')+1:]
	switch {
	case e.code < 0:
		t.lose("ended by %v", e)
	case e.code == 0:
	case t.judge.idle():
		t.lose("%v, though nothing has failed: %s", e, e.stderr)
	case t.passes():
		t.lose("a disk that was full for a moment has ended the training: %v: %s", e, e.stderr)
	case !strings.Contains(last, t.f.Errno.Error()):
		t.lose("the last line does not contain %q: %s", t.f.Errno.Error(), e.stderr)
	}
}

// passes reports whether the fault is a full disk that has room again within a moment, and the command a training.
func (t *trial) passes() bool {
	full := t.f.Errno == syscall.ENOSPC || t.f.Errno == syscall.EDQUOT
	return full && t.f.Kind != failsOn && t.s.outlives()
}
