package frames

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nmn/internal/expect"
)

// limitsEnv names a folder for the limits that fakes run under: the names of empty files, for they may not write.
const limitsEnv = "NMN_TEST_LIMITS"

func init() {
	awaitLimit = func() {
		var limit unix.Rlimit
		for unix.Getrlimit(unix.RLIMIT_AS, &limit) != nil || limit.Cur == unix.RLIM_INFINITY {
			time.Sleep(time.Millisecond) // it is set once the process is there
		}
		file, err := os.CreateTemp(os.Getenv(limitsEnv), fmt.Sprintf("%d-*", limit.Cur))
		if err == nil {
			file.Close()
		}
	}
}

// Every ffmpeg process that opens a clip has a memory limit: the minimum for any decoding, plus, for the
// decoder, an amount for the size of the frames.
func TestExtract_LimitsTheMemoryOfEveryCall(t *testing.T) {
	const gib, mib = 1 << 30, 1 << 20
	dir := t.TempDir()
	t.Setenv(limitsEnv, dir)
	c := config(4)
	c.Threads, c.Timeout = 3, 5*time.Minute // in which a fake without a limit is given up
	if _, err := fake(t, "awaits its limit").Extract(t.Context(), some(t), c); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	expect.OK(t, err)
	var got []string
	for _, f := range files {
		limit, _, _ := strings.Cut(f.Name(), "-")
		got = append(got, limit)
	}
	base, frames := uint64(4*gib+3*256*mib), uint64((64+3)*6*fakeWidth*fakeHeight)
	if want := []string{fmt.Sprint(base), fmt.Sprint(base + frames)}; !slices.Equal(got, want) {
		t.Errorf("limits %q of listing and decoding, want %q", got, want)
	}
}

// A child may take so much address space, and may write nothing.
func TestLimit_HoldsTheChild(t *testing.T) {
	const bytes uint64 = 5 << 30
	cmd := exec.Command("sleep", "3600")
	expect.OK(t, cmd.Start())
	defer func() {
		expect.OK(t, cmd.Process.Kill())
		_ = cmd.Wait() // it was killed
	}()
	limit(cmd.Process.Pid, bytes)
	limits, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(cmd.Process.Pid), "limits"))
	expect.OK(t, err)
	for name, want := range map[string]string{
		"Max address space":  fmt.Sprint(bytes),
		"Max file size":      "0",
		"Max core file size": "0",
	} {
		_, rest, _ := strings.Cut(string(limits), name)
		if fields := strings.Fields(rest); len(fields) < 2 || fields[0] != want || fields[1] != want {
			t.Errorf("%s is not %s:\n%s", name, want, limits)
		}
	}
}
