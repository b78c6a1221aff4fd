package memory

import (
	"math"
	"testing"
)

// If the kernel does not report free memory, nothing may be refused: unknown is not 0 bytes.
func TestFreeOf_UnknownWhereTheKernelDoesNotSay(t *testing.T) {
	for name, info := range map[string]string{
		"an old kernel":   "MemTotal: 9000 kB\nMemFree: 1 kB\n",
		"no number":       "MemAvailable: many kB\n",
		"nothing":         "",
		"an empty field":  "MemAvailable:\n",
		"a negative size": "MemAvailable: -5 kB\n",
	} {
		if bytes, known := freeOf(files(map[string]string{"proc/meminfo": info})); known || bytes != 0 {
			t.Errorf("%s: %d bytes, %t", name, bytes, known)
		}
	}
}

// A limit that cannot be read is none.
func TestFreeOf_LimitsThatSayNothing(t *testing.T) {
	for _, limit := range []string{"", "\n", "max\n", "much\n", "-1\n"} {
		bytes, known := freeOf(files(map[string]string{"proc/meminfo": available, "proc/self/cgroup": "0::/a\n",
			"sys/fs/cgroup/a/memory.max": limit, "sys/fs/cgroup/a/memory.current": "400\n"}))
		if bytes != 8000*1024 || !known {
			t.Errorf("%q: %d bytes, %t; want what the machine has", limit, bytes, known)
		}
	}
}

func TestSize_ThreeDigitsOfTheUnitThatSuits(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0 kB", 500: "0.5 kB", 999_499: "999 kB", 999_500: "1 MB",
		23_449_000_000: "23.4 GB", 999_600_000_000: "1 TB", math.MaxInt64: "9.22e+06 TB"} {
		if got := Size(bytes); got != want {
			t.Errorf("%d bytes are %q, want %q", bytes, got, want)
		}
	}
}
