//go:build linux && (amd64 || arm64)

package main

import (
	"path/filepath"
	"sync"
	"time"

	"nmn/internal/durable"
	"nmn/tools/chaos/inject"
)

// judge carries a fault out, call by call.
type judge struct {
	fault   fault
	started time.Time // start of a fault that lasts for a time
	saves   int       // of the checkpoint of the fault
	mutex   sync.Mutex
	n       int
	hits    int  // calls that were meddled with
	kept    bool // a file could not be removed
	torn    bool // half of a write was made
}

func (j *judge) verdict(c inject.Call) inject.Verdict {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.n = c.N
	f := j.fault
	if c.N < f.At {
		return inject.Verdict{}
	}
	v := inject.Verdict{}
	fails := canFail(f.Errno, c.Name, c.TakesSpace(), c.Syncs())
	half := f.Half && c.Writes()
	switch f.Kind {
	case killed, changed, touched, damaged:
		if c.N == f.At {
			v = inject.Verdict{Kill: true, Half: half}
		}
	case signalled:
		if c.N == f.At {
			v.Signals = f.Signals
		}
	case twice:
		if c.N == f.At || c.N == f.At+f.Over {
			v.Signals = f.Signals[:1]
		}
	case failsOnce:
		if j.hits == 0 && fails || j.hits == 1 && j.torn && c.Writes() {
			v = j.fail(half)
		}
	case failsOn:
		if fails {
			v = j.fail(half)
		}
	case failsShort:
		if j.started.IsZero() {
			j.started = time.Now()
		}
		if fails && time.Since(j.started) < f.For {
			v.Errno = f.Errno
		}
	case filled:
		if (c.Name == "openat" || c.Name == "linkat") && target(c.Path) == f.File {
			if j.saves++; j.saves == f.Times {
				j.started = time.Now()
			}
		}
		if fails && time.Since(j.started) < f.For {
			v.Errno = f.Errno
		}
	case halved:
		v.Half = c.Writes() && c.N <= f.At+f.Over
	case delayed:
		if c.N <= f.At+f.Over {
			v.Delay = 20 * time.Millisecond
		}
	}
	j.kept = j.kept || v.Errno != 0 && c.Name == "unlinkat"
	if v.Kill || v.Half || v.Errno != 0 || len(v.Signals) > 0 || v.Delay > 0 {
		j.hits++
	}
	return v
}

// target is the file that a file aside becomes.
func target(path string) string {
	base, aside := durable.Target(filepath.Base(path))
	if !aside {
		return path
	}
	return filepath.Join(filepath.Dir(path), base)
}

// fail makes a call fail. Of the first write, half is made before, and the next one fails, as on a disk that
// fills up.
func (j *judge) fail(half bool) inject.Verdict {
	if half && j.hits == 0 {
		j.torn = true
		return inject.Verdict{Half: true}
	}
	return inject.Verdict{Errno: j.fault.Errno}
}

func (j *judge) failed() bool {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	switch j.fault.Kind {
	case failsOnce, failsOn, failsShort, filled:
		return j.hits > 0
	}
	return false
}

// idle reports whether no call was disturbed. Like failed, it may be called while processes left by a trial
// still make calls.
func (j *judge) idle() bool {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	return j.hits == 0
}

// takeKept reports, once, whether a file could not be removed.
func (j *judge) takeKept() bool {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	kept := j.kept
	j.kept = false
	return kept
}
