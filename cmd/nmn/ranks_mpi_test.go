//go:build linux && cgo && (mpi || mpich)

package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nmn/internal/durable"
	"nmn/run"
)

// share is some ranks of a job that are started alike.
type share struct {
	n       int
	dir     string // where they work; empty for where the test does
	program string // empty for this one
	env     string // an additional NAME=VALUE; empty for none
	args    []string
}

// underMPI is mpirun with n processes of nmn.
func underMPI(t *testing.T, n int, args ...string) (cmd *exec.Cmd, out, stderr *output) {
	t.Helper()
	return jobOf(t, share{n: n, args: args})
}

// trainedUnderMPI runs n processes of nmn to their end and returns what they print.
func trainedUnderMPI(t *testing.T, n int, args ...string) string {
	t.Helper()
	cmd, out, stderr := underMPI(t, n, args...)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	return out.String()
}

// jobOf is mpirun with ranks that are started in different ways.
func jobOf(t *testing.T, shares ...share) (cmd *exec.Cmd, out, stderr *output) {
	t.Helper()
	mpirun, err := exec.LookPath("mpirun")
	if err != nil {
		t.Skip("no mpirun: ", err)
	}
	args := []string{"--oversubscribe"}
	for i, s := range shares {
		if i > 0 {
			args = append(args, ":")
		}
		args = append(args, "-n", strconv.Itoa(s.n))
		if s.dir != "" {
			args = append(args, "-wdir", s.dir)
		}
		if s.env != "" {
			args = append(args, "-x", s.env)
		}
		args = append(append(args, cmp.Or(s.program, os.Args[0])), s.args...)
	}
	cmd = exec.Command(mpirun, args...)
	cmd.Env = ofMPI(t)
	out, stderr = new(output), new(output)
	cmd.Stdout, cmd.Stderr = out, stderr
	return cmd, out, stderr
}

// ofMPI is the environment of mpirun.
func ofMPI(t *testing.T) []string {
	return append(os.Environ(), "NMN_TEST_AS_COMMAND=1", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
		"TMPDIR="+t.TempDir())
}

// ranksOf are the processes that mpirun has started, in the order of their ranks.
func ranksOf(mpirun int) (pids []int) {
	list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", mpirun))
	if err != nil {
		return nil
	}
	for field := range strings.FieldsSeq(string(list)) {
		if pid, err := strconv.Atoi(field); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// onFour is a training that four ranks do in about a second.
func onFour(dir string) []string {
	return tiny("train", "--arm", "nmn-fd", "--set", "train.stage1_epochs=4", "--set", "train.stage2_epochs=4",
		"--batch-size", "12", "-q", "--set", "train.checkpoint_steps=2", "--set", "train.log_steps=1", "--run-dir", dir)
}

// A rank that dies ends the job, and the same command continues to the exact numbers of an undisturbed job.
func TestMPI_KilledTwentyTimes(t *testing.T) {
	kills := 20
	if testing.Short() {
		kills = 8
	}
	whole, broken := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	want := trainedUnderMPI(t, 4, onFour(whole)...)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range kills {
		killRank(t, broken, i%4, min(60, 3*i), time.Duration(random.IntN(20_000_000)))
	}
	if got := trainedUnderMPI(t, 4, onFour(broken)...); got != want {
		t.Errorf("the evaluation differs:\n%s\nundisturbed:\n%s", got, want)
	}
	sameRuns(t, broken, whole)
}

// killRank starts a job and kills one of its ranks some time after the given number of logged steps. Any moment will
// do: the job may be complete by then. mpirun names the rank only if it learns of the kill before the other ranks end.
func killRank(t *testing.T, dir string, rank, target int, after time.Duration) {
	t.Helper()
	cmd, _, stderr := underMPI(t, 4, onFour(dir)...)
	job := start(t, cmd)
	complete := false
	job.until(fmt.Sprintf("step %d", target), func() bool {
		complete = job.hasEnded() && job.err == nil
		return complete || len(ranksOf(cmd.Process.Pid)) == 4 && steps(dir) >= target
	})
	time.Sleep(after)
	killed := false
	if pids := ranksOf(cmd.Process.Pid); len(pids) > rank {
		killed = syscall.Kill(pids[rank], syscall.SIGKILL) == nil
	}
	if err := job.wait(); err != nil && (!killed || stderr.String() == "") {
		t.Errorf("rank %d, killed: %t: %v: %q", rank, killed, err, stderr)
	}
}

// Each rank may be asked to end: all save and end with it, and any number of ranks goes on.
func TestMPI_SignalOnAnyRankSavesAndEndsAll(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	for _, rank := range []int{0, 3} {
		before := steps(dir)
		cmd, out, stderr := underMPI(t, 4, slices.Concat(onFour(dir), []string{"--set", "train.stage1_epochs=100000"})...)
		job := start(t, cmd)
		job.until("three steps", func() bool { return steps(dir) >= before+3 })
		_ = syscall.Kill(ranksOf(cmd.Process.Pid)[rank], syscall.SIGTERM)
		_ = job.wait()
		if cmd.ProcessState.ExitCode() != exitInterrupted || !strings.Contains(stderr.String(), "run the same command again to continue") ||
			out.String() != "" {
			t.Errorf("signal to rank %d: exit code %d, %s", rank, cmd.ProcessState.ExitCode(), stderr)
		}
		if !durable.Exists(filepath.Join(dir, run.Stage1Folder, "last.safetensors")) {
			t.Errorf("signal to rank %d: nothing was saved", rank)
		}
	}
}

// What schedulers send before a job's time is over: mpirun passes it on to all ranks, which have the time that they
// need.
func TestMPI_WarningOfTheJobSavesAndEndsAll(t *testing.T) {
	whole, dir := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	want := trainedUnderMPI(t, 4, onFour(whole)...)
	const step = "msg=step step=3 "
	cmd, out, stderr := underMPI(t, 4, append(onFour(dir), "-v")...)
	cmd.Env = append(cmd.Env, event{At: step, Do: awaitsEnd}.env())
	job := start(t, cmd)
	job.until("step 3", func() bool { return strings.Contains(stderr.String(), step) })
	_ = cmd.Process.Signal(syscall.SIGUSR1)
	_ = job.wait()
	if cmd.ProcessState.ExitCode() != exitInterrupted || !strings.Contains(stderr.String(), "run the same command again to continue") ||
		out.String() != "" {
		t.Errorf("exit code %d, %s", cmd.ProcessState.ExitCode(), stderr)
	}
	if !durable.Exists(filepath.Join(dir, run.Stage1Folder, "last.safetensors")) {
		t.Error("nothing was saved")
	}
	if got := trainedUnderMPI(t, 4, goOn(dir, "-q")...); got != want {
		t.Errorf("the evaluation is\n%s\nundisturbed:\n%s", got, want)
	}
	sameRuns(t, dir, whole)
}

// MPI waits for all ranks to start. When one of them dies before, mpirun ends the others, and may not say why.
func TestMPI_InterruptedWhileRanksStart(t *testing.T) {
	cmd, _, stderr := jobOf(t, share{n: 1, program: "sleep", args: []string{"600"}},
		share{n: 1, args: onFour(filepath.Join(t.TempDir(), "run"))})
	job := start(t, cmd)
	var pids []int
	job.until("rank 1 has begun to open MPI", func() bool {
		pids = ranksOf(cmd.Process.Pid)
		return len(pids) == 2 && hasOwnSocket(pids[1])
	})
	_ = syscall.Kill(pids[1], syscall.SIGTERM)
	_ = job.wait()
	if !strings.Contains(stderr.String(), "nmn: interrupted while rank 1 of 2 waited for all ranks to start: signal: "+
		"terminated") {
		t.Errorf("%v: %s", job.err, stderr)
	}
}

// hasOwnSocket reports whether a process is this program and has opened a socket itself, as MPI does to talk to mpirun.
// Before that it is a copy of mpirun, with mpirun's sockets, and a signal ends it without a word. File descriptors up
// to 2 are its standard streams, which mpirun may have made sockets.
func hasOwnSocket(pid int) bool {
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	own, ownErr := os.Readlink("/proc/self/exe")
	if err != nil || ownErr != nil || program != own {
		return false
	}
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	return slices.ContainsFunc(links, func(link string) bool {
		number, _ := strconv.Atoi(filepath.Base(link))
		to, err := os.Readlink(link)
		return err == nil && number > 2 && strings.HasPrefix(to, "socket:")
	})
}

func TestMPI_HangingRankIsNamed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	cmd, _, stderr := underMPI(t, 3, slices.Concat(onFour(dir), []string{"--set", "train.stage1_epochs=100000",
		"--rank-timeout", "30s"})...)
	job := start(t, cmd)
	job.until("three steps", func() bool { return steps(dir) >= 3 })
	_ = syscall.Kill(ranksOf(cmd.Process.Pid)[1], syscall.SIGSTOP)
	if err := job.wait(); err == nil || !strings.Contains(stderr.String(), "rank 1 (") ||
		!strings.Contains(stderr.String(), "in time") {
		t.Errorf("%v: %s", err, stderr)
	}
}
