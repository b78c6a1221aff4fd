package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nmn/run"
	"nmn/train"
)

// fillFirst is fillAndFree with a file system that is full from before the training begins until it has said so.
const fillFirst = `
mount -t tmpfs -o size=32m none "$1" || exit 77
cd "$1"; to=$2; shift 2
cat /dev/zero >fill 2>/dev/null
"$@" 2>"$to.err" & nmn=$!
until grep -q "disk is full" "$to.err"; do kill -0 $nmn || break; sleep .002; done
rm fill
wait $nmn; code=$?
cat "$to.err" >&2
cp -r run "$to"
exit $code
`

// fillAndFree runs a training on a file system of 32 MiB, which is full from some step on until the training has said
// that it cannot save, and then is free again. Arguments: where the file system goes, where the run is copied to, and
// the command line.
const fillAndFree = `
mount -t tmpfs -o size=32m none "$1" || exit 77
cd "$1"; to=$2; shift 2
"$@" 2>"$to.err" & nmn=$!
until grep -qs '"step":10,' run/log.jsonl; do kill -0 $nmn || exit 1; sleep .002; done
cat /dev/zero >fill 2>/dev/null
until grep -q "not saved" "$to.err"; do kill -0 $nmn || exit 2; sleep .002; done
rm fill
wait $nmn; code=$?
cat "$to.err" >&2
cp -r run "$to"
exit $code
`

// TestTrain_DiskThatWasFullForAMomentCostsNothing holds such a run to one on a disk with room: no step, no line and no
// exit code differs.
func TestTrain_DiskThatWasFullForAMomentCostsNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	args := func(dir string) []string {
		return tiny("train", "--arm", "star", "--epochs", "10", "--checkpoint-steps", "1", "--log-interval", "1",
			"--tensorboard", "--each-epoch", "--quiet", "--run-dir", dir)
	}
	whole := filepath.Join(t.TempDir(), "run")
	must(t, args(whole)...)
	removeFile(t, filepath.Join(whole, train.PreviousName)) // it is of the save before the last one, whenever that was
	for name, script := range map[string]string{"in the middle": fillAndFree, "at the start": fillFirst} {
		t.Run(name, func(t *testing.T) { onSmallDisk(t, script, args("run"), whole) })
	}
}

// onSmallDisk trains on a file system of its own, which a script fills for a moment, and holds the run to a whole one.
func onSmallDisk(t *testing.T, script string, args []string, whole string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "run")
	nmn, _, _ := asCommand(args...)
	cmd := exec.Command("unshare", append([]string{"--user", "--map-root-user", "--mount", "sh", "-c", script, "sh",
		t.TempDir(), out}, nmn.Args...)...)
	cmd.Env = nmn.Env
	said, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); cmd.ProcessState == nil || code == 77 ||
		strings.Contains(string(said), "unshare") {
		t.Skipf("no file system of our own: %v: %s", err, said)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	removeFile(t, filepath.Join(out, train.PreviousName))
	sameRuns(t, out, whole)
	for _, message := range []string{`"msg":"step"`, `"msg":"epoch"`, `"msg":"evaluation"`} {
		got := strings.Count(string(readFile(t, out, run.LogFile)), message)
		if want := strings.Count(string(readFile(t, whole, run.LogFile)), message); got != want {
			t.Errorf("%d lines of %s, want %d", got, message, want)
		}
	}
	if _, _, err := run.ReadCurve(filepath.Join(out, run.LogFile), "star"); err != nil {
		t.Error(err)
	}
}
