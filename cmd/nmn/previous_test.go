package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/run"
	"nmn/train"
)

// TestResume_FromTheCheckpointBefore damages the last checkpoint of runs, does what the message says, and holds what
// comes out to the run as it was: its log too, which goes back to the step of the checkpoint before.
func TestResume_FromTheCheckpointBefore(t *testing.T) {
	skipShort(t, "interrupts runs and trains them again")
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("runs a POSIX shell")
	}
	whole := filepath.Join(t.TempDir(), "run")
	must(t, tiny("train", "--arm", "baseline", "--epochs", "3", "--set", "train.log_steps=1", "--run-dir", whole)...)
	for name, complete := range map[string]bool{"a complete run": true, "an interrupted run": false} {
		dir := filepath.Join(t.TempDir(), name)
		expect.OK(t, os.CopyFS(dir, os.DirFS(whole)))
		if !complete {
			expect.OK(t, os.Remove(filepath.Join(dir, run.ResultFile)))
		}
		last := filepath.Join(dir, train.LastName)
		expect.OK(t, os.Truncate(last, 1000))
		c := call(t, "predict", dir, whole)
		if !complete {
			c = call(t, goOn(dir)...)
		}
		_, command, found := strings.Cut(strings.TrimSpace(c.err), "resume: ")
		if c.code != exitFailure || !found || strings.Count(c.err, "\n") != 1 {
			t.Fatalf("%s: exit code %d, %q", name, c.code, c.err)
		}
		if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", command, err, out)
		}
		must(t, goOn(dir)...)
		sameRuns(t, dir, whole)
		log, want := readBytes(t, dir, run.LogFile), readBytes(t, whole, run.LogFile)
		if got, want := bytes.Count(log, []byte(`"msg":"step"`)), bytes.Count(want, []byte(`"msg":"step"`)); got != want {
			t.Errorf("%s: %d steps in the log, want %d", name, got, want)
		}
	}
}

// TestResume_BeginsAnewWithoutACheckpointBefore damages the only checkpoint of a run, or of its first stage, and
// follows the message to the end.
func TestResume_BeginsAnewWithoutACheckpointBefore(t *testing.T) {
	t.Parallel()
	skipShort(t, "interrupts runs and trains them again")
	if runtime.GOOS == "windows" {
		t.Skip("runs a POSIX shell")
	}
	arm := func(dir string) []string { return tiny("train", "--arm", "nmn-fd", "--epochs", "1", "--run-dir", dir) }
	whole := filepath.Join(t.TempDir(), "run")
	must(t, arm(whole)...)
	for _, stage := range []string{".", run.Stage1Folder} {
		dir := filepath.Join(t.TempDir(), "broken")
		expect.OK(t, os.CopyFS(dir, os.DirFS(whole)))
		expect.OK(t, os.Remove(filepath.Join(dir, run.ResultFile)))
		if stage != "." { // the second stage has not begun
			expect.OK(t, os.Remove(filepath.Join(dir, train.LastName)))
			expect.OK(t, os.Remove(filepath.Join(dir, stage, run.ResultFile)))
		}
		last := filepath.Join(dir, stage, train.LastName)
		expect.OK(t, os.Truncate(last, 1000))
		expect.OK(t, os.RemoveAll(filepath.Join(dir, stage, train.PreviousName)))
		c := call(t, arm(dir)...)
		_, command, found := strings.Cut(strings.TrimSpace(c.err), "To start over, remove it and resume: ")
		if c.code != exitFailure || !found || !strings.Contains(command, last) {
			t.Fatalf("stage %s: exit code %d, %q", stage, c.code, c.err)
		}
		if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
			t.Fatalf("stage %s: %s: %v: %s", stage, command, err, out)
		}
		must(t, arm(dir)...)
		sameRuns(t, dir, whole)
	}
}
