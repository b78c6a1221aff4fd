//go:build linux && cgo && (mpi || mpich)

package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// fillAndResume runs a job whose rank 0 has its run folder on a file system of 32 MiB, which is full from some step on.
// Once the job has ended there is room again, and another job goes on. Arguments: where the file system goes, where the
// run is copied to. The command lines are in TRAIN and RESUME.
const fillAndResume = `
mount -t tmpfs -o size=32m none "$1" || exit 77
cd "$1"
$TRAIN 2>"$2.err" & job=$!
until grep -qs '"step":10,' run/stage1/log.jsonl; do kill -0 $job || exit 3; sleep .002; done
cat /dev/zero >fill 2>/dev/null
full=$(date +%s%N)
wait $job; code=$?
echo "ended with $code after $((($(date +%s%N) - full) / 1000000)) ms"
cat "$2.err"
rm fill
$RESUME >"$2.out" || exit
cp -r run "$2"
`

// Where the disk of rank 0 is full and stays so, all ranks end, once the stage is over and cannot be saved, with what rank
// 0 has to say. With room again the job goes on to what it would have been.
func TestMPI_FullDiskOfRankZero(t *testing.T) {
	whole, out := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	alone, want, stderr := underMPI(t, 3, onFour(whole)...)
	if err := alone.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	train, _, _ := underMPI(t, 3, onFour("run")...)
	resume, _, _ := underMPI(t, 3, "train", "--resume", "run", "-q")
	cmd := exec.Command("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", fillAndResume, "sh", t.TempDir(), out)
	cmd.Env = append(train.Env, "TRAIN="+strings.Join(train.Args, " "), "RESUME="+strings.Join(resume.Args, " "))
	text, err := cmd.CombinedOutput()
	said := string(text)
	if code := cmd.ProcessState.ExitCode(); cmd.ProcessState == nil || code == 77 || strings.Contains(said, "unshare") {
		t.Skipf("no file system of our own: %v: %s", err, said)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	end := regexp.MustCompile(`ended with (\d+) after (\d+) ms`).FindStringSubmatch(said)
	if end == nil || end[1] != strconv.Itoa(exitFailure) {
		t.Fatalf("it does not end with exit code %d: %s", exitFailure, said)
	}
	if ms, _ := strconv.Atoi(end[2]); ms > 30_000 { // five seconds of new attempts, and the rest of the stage
		t.Errorf("it goes on for %d ms with a full disk", ms)
	}
	lines := slices.DeleteFunc(strings.Split(said, "\n"), func(line string) bool { return !strings.Contains(line, "nmn: ") })
	if len(lines) != 1 || !strings.HasPrefix(lines[0], "nmn: rank 0 (") || !strings.Contains(lines[0], "no space left on device") {
		t.Errorf("the errors are %q, want one, of rank 0, about its disk", lines)
	}
	sameRuns(t, out, whole)
	if got := read(t, out+".out"); got != want.String() {
		t.Errorf("the evaluation differs:\n%s\nundisturbed:\n%s", got, want)
	}
	t.Logf("ended %s ms after the disk was full", end[2])
}
