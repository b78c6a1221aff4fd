package measure

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

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
