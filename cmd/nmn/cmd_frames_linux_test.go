package main

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"nmn/internal/expect"
)

// limitEnv is set in the test process whose files may not grow.
const limitEnv = "NMN_TEST_FRAMES_LIMIT"

// A limit on the size of files stands for a full disk; it holds for a whole process, so the test runs
// itself in another one.
func TestFrames_DiskFull(t *testing.T) {
	if folders, is := os.LookupEnv(limitEnv); is {
		framesOnFullDisk(t, folders)
		return
	}
	source, out, whole := clipFolder(t, 4), filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "whole")
	writeNoise(t, filepath.Join(source, "02.y4m"), 384, 256, 4, 2) // beyond the limit by itself
	must(t, fullDiskArgs(source, whole)...)
	command := exec.Command(os.Args[0], "-test.run=^TestFrames_DiskFull$", "-test.v")
	command.Env = append(os.Environ(), limitEnv+"="+source+"\n"+out)
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	wantParts(t, string(output), "exit code 1", "frames-000002.tar", out, "nmn frames goes on", syscall.EFBIG.Error())
	if got := clipNames(t, out); !slices.Equal(got, []string{"00.y4m", "01.y4m"}) {
		t.Errorf("the clips %q are finished, want those before the large one", got)
	}
	must(t, "frames", "--check", "--output", out)
	must(t, fullDiskArgs(source, out)...)
	if got, want := frameContents(t, out), frameContents(t, whole); !slices.Equal(got, want) || len(want) != 16 {
		t.Errorf("%d frames, and they differ from the %d of a run in one piece", len(got), len(want))
	}
}

func fullDiskArgs(source, out string) []string {
	return []string{"frames", source, "--output", out, "--frames", "4", "--shard-size", "0.03", "--workers", "2"}
}

func framesOnFullDisk(t *testing.T, folders string) {
	source, out, _ := strings.Cut(folders, "\n")
	signal.Ignore(syscall.SIGXFSZ)
	limit := syscall.Rlimit{Cur: 1 << 16, Max: 1 << 16}
	expect.OK(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	c := call(t, fullDiskArgs(source, out)...)
	t.Logf("exit code %d: %s", c.code, c.err)
}
