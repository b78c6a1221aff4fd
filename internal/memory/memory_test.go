package memory

import (
	"errors"
	"math"
	"runtime"
	"testing"
	"testing/fstest"
)

func files(of map[string]string) fstest.MapFS {
	root := fstest.MapFS{}
	for name, text := range of {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return root
}

const available = "MemTotal: 9000 kB\nMemFree: 1 kB\nMemAvailable:    8000 kB\n"

func TestFreeOf(t *testing.T) {
	const v1, v2 = "sys/fs/cgroup/memory/", "sys/fs/cgroup/"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64 // -1 for unknown
	}{
		"no files":  {nil, -1},
		"a machine": {map[string]string{"proc/meminfo": available}, 8000 * 1024},
		"version 2, the group around it is fuller": {map[string]string{"proc/meminfo": available,
			"proc/self/cgroup": "0::/a/b\n", v2 + "a/memory.max": "5000000\n", v2 + "a/memory.current": "4000000\n",
			v2 + "a/memory.stat":  "anon 1\ninactive_file 300\nactive_file 40\n",
			v2 + "a/b/memory.max": "3000000\n", v2 + "a/b/memory.current": "1000000\n"}, 1000340},
		"version 2 without a limit": {map[string]string{"proc/meminfo": available, "proc/self/cgroup": "0::/a\n",
			v2 + "a/memory.max": "max\n", v2 + "a/memory.current": "4000000\n"}, 8000 * 1024},
		"version 1": {map[string]string{"proc/meminfo": available,
			"proc/self/cgroup": "5:cpu,memory:/a\n2:pids:/b\n0::/\n", v1 + "a/memory.limit_in_bytes": "900\n",
			v1 + "a/memory.usage_in_bytes": "400\n", v1 + "a/memory.stat": "inactive_file 1\ntotal_inactive_file 20\n"}, 520},
		"version 1 in a container that shows its own group as the outermost": {map[string]string{
			"proc/meminfo": available, "proc/self/cgroup": "4:memory:/docker/5ab\n",
			v1 + "memory.limit_in_bytes": "900\n", v1 + "memory.usage_in_bytes": "400\n"}, 500},
		"version 1 without a limit": {map[string]string{"proc/meminfo": available, "proc/self/cgroup": "4:memory:/\n",
			v1 + "memory.limit_in_bytes": "9223372036854771712\n", v1 + "memory.usage_in_bytes": "400\n"}, 8000 * 1024},
		"ulimit -v": {map[string]string{"proc/meminfo": available, "proc/self/status": "VmPeak: 9 kB\nVmSize:    3000 kB\n",
			"proc/self/limits": "Max resident set  unlimited  unlimited  bytes\nMax address space  5120000  unlimited  bytes\n"},
			2000 * 1024},
		"no ulimit -v": {map[string]string{"proc/meminfo": available, "proc/self/status": "VmSize:    3000 kB\n",
			"proc/self/limits": "Max address space  unlimited  unlimited  bytes\n"}, 8000 * 1024},
		"beyond the limit": {map[string]string{"proc/meminfo": available, "proc/self/cgroup": "0::/../..\n",
			v2 + "memory.max": "100\n", v2 + "memory.current": "400\n"}, 0},
	} {
		if bytes, known := freeOf(files(c.files)); bytes != max(c.want, 0) || known != (c.want >= 0) {
			t.Errorf("%s: %d bytes, %t, want %d", name, bytes, known, c.want)
		}
	}
}

func FuzzFreeOf(f *testing.F) {
	f.Add(available, "0::/a\n4:memory:/../b", "77\n", "7")
	f.Fuzz(func(t *testing.T, info, groups, limit, used string) {
		bytes, known := freeOf(files(map[string]string{"proc/meminfo": info, "proc/self/cgroup": groups,
			"sys/fs/cgroup/memory.max": limit, "sys/fs/cgroup/memory.current": used}))
		if bytes < 0 || !known && bytes > 0 {
			t.Fatal(bytes, known)
		}
	})
}

func TestCheck(t *testing.T) {
	if err := Check("two numbers", 16); err != nil {
		t.Error(err)
	}
	err := Check("all numbers", math.MaxInt64)
	if runtime.GOOS == "linux" && !errors.Is(err, ErrFull) {
		t.Error(err)
	}
	want := "4 batches need 23.4 GB of memory and 800 MB are free"
	if got := (&Error{"4 batches", 23_400_000_000, 800_000_000}).Error(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

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
