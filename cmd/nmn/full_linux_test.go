package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/run"
	"nmn/train"
)

// onSmallDisk is a script that runs a command line on a file system of 32 MiB and copies the run that it leaves.
// Arguments: where the file system goes, where the run is copied to, and the command line.
const onSmallDisk = `
mount -t tmpfs -o size=32m none "$1" || exit 77
cd "$1"; to=$2; shift 2
"$@"; code=$?
cp -r run "$to"
exit $code
`

// TestTrain_DiskThatWasFullForAMomentCostsNothing holds such a run to one on a disk with room: no step, no line and no
// exit code differs.
func TestTrain_DiskThatWasFullForAMomentCostsNothing(t *testing.T) {
	t.Parallel()
	skipShort(t, "fills disks")
	features, labels := featureRows(240)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "x.csv"), csvText("id,x1,x2", features...))
	write(t, filepath.Join(dir, "l.csv"), csvText("id,cat,dog", labels...))
	for name, data := range map[string]struct {
		args  []string
		until string // the first best checkpoint since step 10 has found no room by then
	}{
		"pictures": {tiny("train"), "msg=step step=14"},
		"features": {[]string{"train", filepath.Join(dir, "x.csv"), "--labels", filepath.Join(dir, "l.csv"),
			"--batch-size", "16", "--set", "net.hidden=[8]", "--set", "train.keep_best=1", "--device", "cpu", "--threads", "1"},
			"msg=step step=20"},
	} {
		args := func(dir string) []string {
			return slices.Concat(data.args, []string{"--arm", "baseline", "--epochs", "5", "--set", "train.checkpoint_steps=1",
				"--set", "train.log_steps=1", "--set", "run.tensorboard=true", "--set", "each_epoch=true", "--quiet", "-v",
				"--run-dir", dir})
		}
		whole := filepath.Join(t.TempDir(), "run")
		must(t, args(whole)...)
		removePrevious(t, whole)
		for when, e := range map[string]event{
			"in the middle": {At: "msg=step step=10", Do: fillsDisk, Until: data.until},
			"at the start":  {Do: fillsDisk, Until: "disk is full"},
		} {
			t.Run(name+" "+when, func(t *testing.T) { smallDiskEqualsWhole(t, e, args("run"), whole) })
		}
	}
}

// removePrevious removes the checkpoints before the last ones: their steps depend on what was not saved.
func removePrevious(t *testing.T, dir string) {
	t.Helper()
	expect.OK(t, os.Remove(filepath.Join(dir, train.PreviousName)))
	expect.OK(t, os.Remove(filepath.Join(dir, run.Stage1Folder, train.PreviousName)))
}

// smallDiskEqualsWhole trains on a file system that an event fills, and compares the run with a whole one.
func smallDiskEqualsWhole(t *testing.T, e event, args []string, whole string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "run")
	nmn, _, _ := asCommand(args...)
	cmd := exec.Command("unshare", append([]string{"--user", "--map-root-user", "--mount", "sh", "-c", onSmallDisk, "sh",
		t.TempDir(), out}, nmn.Args...)...)
	cmd.Env = append(nmn.Env, e.env())
	said, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); cmd.ProcessState == nil || code == 77 ||
		strings.Contains(string(said), "unshare") {
		t.Skipf("no file system of our own: %v: %s", err, said)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if !strings.Contains(string(said), "not saved") && !strings.Contains(string(said), "disk is full") {
		t.Errorf("nothing found the disk full: %s", said)
	}
	removePrevious(t, out)
	sameRuns(t, out, whole)
	for _, message := range []string{`"msg":"step"`, `"msg":"epoch"`, `"msg":"evaluation"`} {
		got := strings.Count(read(t, out, run.LogFile), message)
		if want := strings.Count(read(t, whole, run.LogFile), message); got != want {
			t.Errorf("%d lines of %s, want %d", got, message, want)
		}
	}
	if _, _, err := run.ReadCurve(filepath.Join(out, run.LogFile), "baseline"); err != nil {
		t.Error(err)
	}
}
