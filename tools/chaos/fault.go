//go:build linux && (amd64 || arm64)

package main

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// The kinds of faults.
const (
	killed     = "kill"      // SIGKILL at a call, a write half made or not at all
	killedLate = "kill-time" // SIGKILL at a random time
	signalled  = "signal"    // SIGINT, SIGTERM, SIGHUP or SIGUSR1
	twice      = "signals"   // two of them
	unheard    = "pipe"      // standard output or standard error is closed
	failsOnce  = "once"      // one call fails
	failsShort = "passing"   // calls fail for some milliseconds
	failsOn    = "lasting"   // calls fail until the program ends
	filled     = "full"      // the disk is full for some milliseconds, from a save of a checkpoint on
	halved     = "short"     // writes take half of what they are given
	delayed    = "delay"     // calls are slow
	raced      = "two"       // a second process does the same
	changed    = "changed"   // killed, then an input is another one
	touched    = "touched"   // killed, then files claim another age
	damaged    = "damaged"   // killed, then a checkpoint is cut, or a bit of it flips
	killedRank = "rank"      // one of several ranks is killed, or mpirun, once or more; other numbers of ranks go on
)

// fault is an event that happens to a command, and its time.
type fault struct {
	Kind string
	At   int           // call
	Over int           // further calls, for a lasting fault
	For  time.Duration // for a fault that lasts for a time
	// Signals are those sent.
	Signals []unix.Signal
	// Errno is the error of calls, if such a call can fail so.
	Errno unix.Errno
	// Half cuts the write that a fault hits.
	Half bool
	// Share of the time of the undisturbed run, or of a file, from 0 to 1.
	Share float64
	// Times is how often something is killed, or which save of a checkpoint it is.
	Times int
	File  string // the checkpoint
	// Other means the other one of two ways: standard error for unheard, a bit for damaged, a file that is older for
	// touched.
	Other bool
}

func (f fault) String() string {
	s := fmt.Sprintf("%s at call %d", f.Kind, f.At)
	switch f.Kind {
	case killedLate, raced:
		s = fmt.Sprintf("%s after %.0f %% of the time", f.Kind, 100*f.Share)
	case signalled, twice:
		s += fmt.Sprintf(", %v", f.Signals)
	case killedRank:
		s = fmt.Sprintf("%s or mpirun killed, %d times", f.Kind, f.Times)
	case unheard:
		s = fmt.Sprintf("%s: %s is closed", f.Kind, map[bool]string{false: "stdout", true: "stderr"}[f.Other])
	case failsOnce, failsOn:
		s += ", " + unix.ErrnoName(f.Errno)
	case filled:
		s = fmt.Sprintf("%s, %s for %v, from save %d of %s on", f.Kind, unix.ErrnoName(f.Errno), f.For, f.Times, f.File)
	case failsShort:
		s += fmt.Sprintf(", %s for %v", unix.ErrnoName(f.Errno), f.For)
	case halved, delayed:
		s += fmt.Sprintf(" and the %d after it", f.Over)
	case damaged:
		s += fmt.Sprintf(", then %s", map[bool]string{false: "cut", true: "a bit flips"}[f.Other])
	}
	if f.Half {
		s += ", half of a write is made"
	}
	return s
}

// source makes the random numbers of fault number n of a scenario.
func source(seed uint64, scenario string, n int) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprint(h, scenario)
	return rand.New(rand.NewPCG(seed^h.Sum64(), uint64(n)))
}

// draw chooses a fault for a command that makes a number of calls, and saves each checkpoint a number of times.
func (s scenario) draw(r *rand.Rand, calls int, saves map[string]int) fault {
	if s.ranks > 0 {
		return drawKind(r, killedRank, calls)
	}
	kinds := []string{killed, killed, killed, killedLate, signalled, signalled, twice, unheard, failsOnce, failsOnce,
		failsShort, failsShort, failsOn, failsOn, halved, delayed, raced}
	if len(s.data) > 0 {
		kinds = append(kinds, changed, changed, touched)
	}
	if len(s.runs) > 0 {
		kinds = append(kinds, damaged, damaged)
	}
	if len(saves) > 0 {
		kinds = append(kinds, filled, filled)
	}
	f := drawKind(r, kinds[r.IntN(len(kinds))], calls)
	if f.Kind == filled {
		f.Errno = []unix.Errno{unix.ENOSPC, unix.EDQUOT}[r.IntN(2)]
		f.File = slices.Sorted(maps.Keys(saves))[r.IntN(len(saves))]
		f.At, f.Times = 1, 1+r.IntN(saves[f.File])
	}
	return f
}

func drawKind(r *rand.Rand, kind string, calls int) fault {
	f := fault{Kind: kind, At: 1 + r.IntN(max(1, calls)), Over: 1 + r.IntN(20), Share: r.Float64(), Other: r.IntN(2) == 0,
		For: time.Duration(10+r.IntN(400)) * time.Millisecond}
	f.Errno = []unix.Errno{unix.ENOSPC, unix.ENOSPC, unix.EIO, unix.EDQUOT, unix.EROFS, unix.EMFILE}[r.IntN(6)]
	signals := []unix.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGUSR1}
	f.Signals = []unix.Signal{signals[r.IntN(len(signals))]}
	half := r.IntN(2) == 0
	switch kind {
	case killed, failsOnce, failsOn:
		f.Half = half
	case twice:
		f.Signals = append(f.Signals, f.Signals[0])
	case killedRank:
		f.Times = 1 + r.IntN(3)
	case changed, touched, damaged:
		// late, so that there is something to damage; or after the end
		f.At = calls/2 + r.IntN(max(1, calls/2+calls/10))
	}
	return f
}

// canFail reports whether a call can fail so.
func canFail(errno unix.Errno, name string, takesSpace, syncs bool) bool {
	switch errno {
	case unix.ENOSPC, unix.EDQUOT:
		return takesSpace
	case unix.EIO:
		return takesSpace || syncs
	case unix.EROFS:
		return !syncs && !slices.Contains([]string{"write", "pwrite64", "writev", "ftruncate"}, name)
	case unix.EMFILE:
		return name == "openat"
	}
	return false
}

// meaning describes each kind of fault.
var meaning = map[string]string{
	killed:     "killed at one system call, with half of a write made or none",
	killedLate: "killed at a random time",
	signalled:  "interrupt, hangup, termination or a scheduler's warning",
	twice:      "two signals, one soon after the other",
	unheard:    "standard output or standard error is closed",
	failsOnce:  "one call fails (disk full, input/output error, quota, read-only, too many files)",
	failsShort: "calls fail for a moment",
	failsOn:    "calls fail until the end",
	filled:     "the disk is full for a moment while a checkpoint is saved",
	halved:     "writes take half of what they are given",
	delayed:    "a slow disk",
	raced:      "two processes do the same at once",
	changed:    "killed, and data changed before it goes on",
	touched:    "killed, and the times of data files changed",
	killedRank: "a rank of MPI or mpirun killed, and another number of ranks goes on",
	damaged:    "killed, and the last checkpoint cut or a bit of it flipped",
}
