//go:build linux && cgo && (mpi || mpich)

package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fillAndResume runs a job whose rank 0 has its run folder on a file system of 32 MiB, which an event fills. Once the
// job has ended there is room again, and another job goes on. Arguments: where the file system goes, where the run is
// copied to. The event and the command lines are in EVENT, TRAIN and RESUME.
const fillAndResume = `
mount -t tmpfs -o size=32m none "$1" || exit 77
cd "$1"
env "$EVENT" $TRAIN 2>"$2.err"; code=$?
echo "ended with $code"
cat "$2.err"
rm fill
$RESUME >"$2.out" || exit
cp -r run "$2"
`

// Where the disk of rank 0 is full and stays so, all ranks end, once the stage is over and cannot be saved, with what
// rank 0 has to say. With room again the job goes on to what it would have been.
func TestMPI_FullDiskOfRankZero(t *testing.T) {
	whole, out := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	alone, want, stderr := underMPI(t, 3, onFour(whole)...)
	if err := alone.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	train, _, _ := underMPI(t, 3, append(onFour("run"), "-v")...)
	resume, _, _ := underMPI(t, 3, goOn("run", "-q")...)
	cmd := exec.Command("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", fillAndResume, "sh",
		t.TempDir(), out)
	cmd.Env = append(train.Env, "EVENT="+event{At: "msg=step step=10 ", Do: fillsDisk}.env(),
		"TRAIN="+strings.Join(train.Args, " "), "RESUME="+strings.Join(resume.Args, " "))
	text, err := cmd.CombinedOutput()
	said := string(text)
	if code := cmd.ProcessState.ExitCode(); cmd.ProcessState == nil || code == 77 || strings.Contains(said, "unshare") {
		t.Skipf("no file system of our own: %v: %s", err, said)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if want := fmt.Sprintf("ended with %d\n", exitFailure); !strings.Contains(said, want) {
		t.Fatalf("it has not %s: %s", want, said)
	}
	lines := slices.DeleteFunc(strings.Split(said, "\n"), func(line string) bool {
		return !strings.Contains(line, "nmn: ")
	})
	if len(lines) != 1 || !strings.HasPrefix(lines[0], "nmn: rank 0 (") || !strings.Contains(lines[0],
		"no space left on device") {
		t.Errorf("the errors are %q, want one, of rank 0, about its disk", lines)
	}
	sameRuns(t, out, whole)
	if got := read(t, out+".out"); got != want.String() {
		t.Errorf("the evaluation differs:\n%s\nundisturbed:\n%s", got, want)
	}
}
