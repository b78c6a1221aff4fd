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

// kind is a kind of faults.
type kind string

// The kinds of faults, as tables name them.
const (
	killed     kind = "killed at one system call, with half of a write made or none"
	killedLate kind = "killed at a random time"
	signalled  kind = "interrupt, hangup, termination or a scheduler's warning"
	twice      kind = "two signals, one soon after the other"
	unheard    kind = "standard output or standard error is closed"
	failsOnce  kind = "one call fails (disk full, input/output error, quota, read-only, too many files)"
	failsShort kind = "calls fail for a moment"
	failsOn    kind = "calls fail until the end"
	filled     kind = "the disk is full for a moment while a checkpoint is saved"
	halved     kind = "writes take half of what they are given"
	delayed    kind = "a slow disk"
	raced      kind = "two processes do the same at once"
	changed    kind = "killed, and data changed before it goes on"
	touched    kind = "killed, and the times of data files changed"
	damaged    kind = "killed, and the last checkpoint cut or a bit of it flipped"
)

// fault is an event that happens to a command, and its time.
type fault struct {
	Kind kind
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
	Times int    // the save of the checkpoint that a full disk begins with
	File  string // the checkpoint
	// Other means the other one of two ways: standard error for unheard, a bit for damaged, a file that is older for
	// touched.
	Other bool
}

// source makes the random numbers of fault number n of a scenario.
func source(seed uint64, scenario string, n int) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprint(h, scenario)
	return rand.New(rand.NewPCG(seed^h.Sum64(), uint64(n)))
}

// draw chooses a fault for a command that makes a number of calls, and saves each checkpoint a number of times.
func (s scenario) draw(r *rand.Rand, calls int, saves map[string]int) fault {
	kinds := []kind{killed, killed, killed, killedLate, signalled, signalled, twice, unheard, failsOnce, failsOnce,
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

func drawKind(r *rand.Rand, of kind, calls int) fault {
	f := fault{Kind: of, At: 1 + r.IntN(max(1, calls)), Over: 1 + r.IntN(20), Share: r.Float64(), Other: r.IntN(2) == 0,
		For: time.Duration(10+r.IntN(400)) * time.Millisecond}
	f.Errno = []unix.Errno{unix.ENOSPC, unix.ENOSPC, unix.EIO, unix.EDQUOT, unix.EROFS, unix.EMFILE}[r.IntN(6)]
	signals := []unix.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGUSR1}
	f.Signals = []unix.Signal{signals[r.IntN(len(signals))]}
	half := r.IntN(2) == 0
	switch of {
	case killed, failsOnce, failsOn:
		f.Half = half
	case twice:
		f.Signals = append(f.Signals, f.Signals[0])
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
