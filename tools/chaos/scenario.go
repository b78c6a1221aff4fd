//go:build linux && (amd64 || arm64)

package main

import (
	"strings"
)

// scenario is a command that writes, with its inputs and its possible faults.
type scenario struct {
	name string
	args string // arguments of nmn, separated by spaces; files are relative to the folder of a trial
	// needs are the inputs, from those that a workshop makes: files or folders.
	needs []string
	// fresh is a folder that must be empty at the beginning. If a message requires it, it is emptied.
	fresh string
	// outputs are single files that replace earlier ones.
	outputs []string
	// runs are folders with checkpoints.
	runs []string
	// data are inputs that a run has learned from: when they change, it must not continue.
	data []string
	// ranks is how many ranks of MPI run the command together; 0 for a single process.
	ranks int
	// program is another program that the command starts.
	program string
	// appended are files that grow by lines. The last line of an interrupted one may be cut.
	appended []string
}

func (s scenario) command() []string { return strings.Fields(s.args) }

// outlives reports whether a command trains nets and waits when the disk is full. Table 4 is not counted: it also
// writes features row by row, and these writes do not wait.
func (s scenario) outlives() bool {
	return len(s.runs) > 0 || strings.HasPrefix(s.args, "experiment --")
}
