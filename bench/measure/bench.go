// Package measure measures the speed of this machine: whole training steps and their operations on random pictures,
// loading of pictures, and the limits of the device.
//
// Every function returns figures. nmn bench --json prints their JSON form.
package measure

import (
	"cmp"
	"errors"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"nmn/kernels"
	"nmn/ranks"
	"nmn/run"
)

// Options are the settings of a measurement.
type Options struct {
	Repeats int // measured runs, at least 1; their median counts
	Warmup  int // runs before them, which do not count
	// Threads is the number of threads of the CPU backend, 0 for one for each processor. The figures include
	// it. The measured backend already has its threads.
	Threads int
	// Group are the ranks that Step measures together, with batches of all of them. Nil stands for this process alone.
	Group ranks.Group
}

// ErrRepeats is returned if nothing would be measured.
var ErrRepeats = errors.New("bench: at least one run is measured, after none or more")

func (o Options) validate() error {
	if o.Repeats < 1 || o.Warmup < 0 {
		return ErrRepeats
	}
	return nil
}

// Setting is the place and the settings of a measurement.
type Setting struct {
	Device     string    `json:"device"`
	Precision  string    `json:"precision"`
	Threads    int       `json:"threads"` // 0: one for each processor
	Processors int       `json:"processors"`
	Repeats    int       `json:"repeats"`
	Build      run.Build `json:"build"`
}

func settingOf(backend kernels.Backend, o Options) Setting {
	return Setting{Device: backend.Name(), Precision: string(backend.Precision()), Threads: o.Threads,
		Processors: runtime.GOMAXPROCS(0), Repeats: o.Repeats, Build: run.ThisBuild()}
}

// medianOf runs f, which enqueues work, and returns how long the middle one of the measured runs took. A
// graphics card takes the time itself, so that the host's calls are not counted.
func (o Options) medianOf(backend kernels.Backend, f func() error) (time.Duration, error) {
	durations := make([]time.Duration, 0, o.Repeats)
	card, _ := backend.(kernels.Card)
	for i := range o.Warmup + o.Repeats {
		took, err := timed(backend, card, f)
		if err != nil {
			return 0, err
		}
		if i >= o.Warmup {
			durations = append(durations, took)
		}
	}
	slices.Sort(durations)
	return middle(durations), nil
}

// timed is how long the device works on what f enqueues. card is nil for the host, which waits.
func timed(backend kernels.Backend, card kernels.Card, f func() error) (time.Duration, error) {
	if card == nil {
		began := time.Now()
		err := cmp.Or(f(), backend.Sync())
		return time.Since(began), err
	}
	begin, end := func() error { return card.Mark(0) }, func() error { return card.Mark(1) }
	for _, call := range []func() error{begin, f, end, backend.Sync} {
		if err := call(); err != nil {
			return 0, err
		}
	}
	return card.Between(0, 1)
}

func middle[T any](sorted []T) T { return sorted[len(sorted)/2] }

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1e3 }

func mebibytes(bytes uint64) float64 { return float64(bytes) / (1 << 20) }

// rate is work per second, or 0 if no time was measured.
func rate(work float64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return work / d.Seconds()
}

// allocations is how many pieces of memory Go has given out.
func allocations() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// peakMemory returns the largest resident size of the process in bytes if the system reports it, as Linux
// does, otherwise the memory that Go has taken.
func peakMemory() uint64 {
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		for line := range strings.Lines(string(status)) {
			fields := strings.Fields(line)
			if len(fields) == 3 && fields[0] == "VmHWM:" {
				if kib, err := strconv.ParseUint(fields[1], 10, 54); err == nil {
					return kib << 10
				}
			}
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys
}

// processorTime returns the time that this process has used on all processors, in hundredths of a second, if
// the system reports it, as Linux does, otherwise 0.
func processorTime() time.Duration {
	const user, system, tick = 11, 12, 10 * time.Millisecond // fields after the name
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) <= system {
		return 0
	}
	var ticks int64
	for _, i := range []int{user, system} {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * tick
}
