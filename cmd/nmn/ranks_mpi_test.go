//go:build linux && cgo && (mpi || mpich)

package main

import (
	"bytes"
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
	env     string // NAME=VALUE that they have besides; empty for none
	args    []string
}

// underMPI is mpirun with n processes of nmn.
func underMPI(t *testing.T, n int, args ...string) (cmd *exec.Cmd, out, stderr *bytes.Buffer) {
	t.Helper()
	return jobOf(t, share{n: n, args: args})
}

// jobOf is mpirun with ranks that are started in different ways.
func jobOf(t *testing.T, shares ...share) (cmd *exec.Cmd, out, stderr *bytes.Buffer) {
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
	cmd.Env = append(os.Environ(), "NMN_TEST_AS_COMMAND=1", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
		"TMPDIR="+t.TempDir())
	out, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, stderr
	return cmd, out, stderr
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
	return tiny("train", "--arm", "nmn-fd", "--stage1-epochs", "4", "--stage2-epochs", "4", "--batch-size", "12", "-q",
		"--checkpoint-steps", "2", "--log-interval", "1", "--continue", "--run-dir", dir)
}

// A rank that dies ends the job, and the same command goes on to the very numbers of a job that nobody disturbed.
func TestMPI_KilledTwentyTimes(t *testing.T) {
	kills := 20
	if testing.Short() {
		kills = 8
	}
	whole, broken := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	cmd, want, stderr := underMPI(t, 4, onFour(whole)...)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	k := killer{dir: broken, random: random}
	slowest := time.Duration(0)
	for i := range kills {
		rank := i % 4
		took := k.killRank(t, rank, min(60, 3*i), onFour(broken)...)
		slowest = max(slowest, took)
	}
	// mpirun names who was killed, but where it learns first, on a busy machine, that the others have ended.
	if k.unnamed > kills/4 {
		t.Errorf("%d of %d ranks that were killed are not named", k.unnamed, kills)
	}
	cmd, got, stderr := underMPI(t, 4, onFour(broken)...)
	if err := cmd.Run(); err != nil {
		t.Fatalf("after %d kills: %v: %s", kills, err, stderr)
	}
	if got.String() != want.String() {
		t.Errorf("the evaluation differs:\n%s\nundisturbed:\n%s", got, want)
	}
	sameRuns(t, broken, whole)
	t.Logf("killed %d times; the longest that a job went on behind it was %v", kills, slowest)
}

// killRank starts a job and kills one of its ranks once so many steps have been logged. It returns how long the job went
// on.
func (k *killer) killRank(t *testing.T, rank, target int, args ...string) time.Duration {
	t.Helper()
	cmd, _, stderr := underMPI(t, 4, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	deadline := time.After(time.Minute)
	for pids := []int(nil); len(pids) < 4 || k.steps() < target; pids = ranksOf(cmd.Process.Pid) {
		select {
		case err := <-ended:
			if err == nil { // the run is complete
				return 0
			}
			t.Fatalf("the job has ended after %d steps: %v: %s", k.steps(), err, stderr)
		case <-deadline:
			_ = cmd.Process.Kill()
			t.Fatalf("no step %d within a minute: %s", target, stderr)
		case <-time.After(time.Millisecond):
		}
	}
	time.Sleep(time.Duration(k.random.IntN(20_000)) * time.Microsecond)
	pids := ranksOf(cmd.Process.Pid)
	if len(pids) <= rank { // it has just ended by itself
		<-ended
		return 0
	}
	_ = syscall.Kill(pids[rank], syscall.SIGKILL)
	began := time.Now()
	select {
	case err := <-ended:
		if err != nil && !strings.Contains(stderr.String(), fmt.Sprintf("rank %d", rank)) {
			k.unnamed++
			t.Logf("rank %d is not named: %s", rank, stderr)
		}
	case <-time.After(30 * time.Second):
		_ = cmd.Process.Kill()
		t.Fatalf("the job goes on without rank %d: %s", rank, stderr)
	}
	return time.Since(began)
}

// wait waits until so many steps have been logged, and kills a job that makes none.
func (k *killer) wait(t *testing.T, steps int, job *os.Process, stderr fmt.Stringer) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); k.steps() < steps; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			_ = job.Kill()
			t.Fatalf("no step %d within a minute: %s", steps, stderr)
		}
	}
}

// Each rank may be asked to end: all save and end with it, and any number of ranks goes on.
func TestMPI_SignalOnAnyRankSavesAndEndsAll(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	k := killer{dir: dir}
	for _, rank := range []int{0, 3} {
		before := k.steps()
		cmd, out, stderr := underMPI(t, 4, slices.Concat(onFour(dir), []string{"--stage1-epochs", "400"})...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		k.wait(t, before+3, cmd.Process, stderr)
		_ = syscall.Kill(ranksOf(cmd.Process.Pid)[rank], syscall.SIGTERM)
		_ = cmd.Wait()
		if cmd.ProcessState.ExitCode() != exitInterrupted || !strings.Contains(stderr.String(), "--resume "+dir) ||
			out.Len() > 0 {
			t.Errorf("signal to rank %d: exit code %d, %s", rank, cmd.ProcessState.ExitCode(), stderr)
		}
		if !durable.Exists(filepath.Join(dir, run.Stage1Folder, "last.safetensors")) {
			t.Errorf("signal to rank %d: nothing was saved", rank)
		}
	}
}

// What schedulers send before a job's time is over: mpirun passes it on to all ranks, which have the time that they need.
func TestMPI_WarningOfTheJobSavesAndEndsAll(t *testing.T) {
	args := func(dir string) []string { return append(onFour(dir), "--stage1-epochs", "12") }
	whole, dir := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	cmd, want, stderr := underMPI(t, 4, args(whole)...)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	k := killer{dir: dir}
	cmd, out, stderr := underMPI(t, 4, args(dir)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	k.wait(t, 3, cmd.Process, stderr)
	_ = cmd.Process.Signal(syscall.SIGUSR1)
	_ = cmd.Wait()
	if cmd.ProcessState.ExitCode() != exitInterrupted || !strings.Contains(stderr.String(), "--resume "+dir) ||
		out.Len() > 0 {
		t.Errorf("exit code %d, %s", cmd.ProcessState.ExitCode(), stderr)
	}
	if !durable.Exists(filepath.Join(dir, run.Stage1Folder, "last.safetensors")) {
		t.Error("nothing was saved")
	}
	cmd, out, stderr = underMPI(t, 4, "train", "--resume", dir, "-q")
	if err := cmd.Run(); err != nil || out.String() != want.String() {
		t.Errorf("%v: %s, the evaluation is\n%s\nundisturbed:\n%s", err, stderr, out, want)
	}
	sameRuns(t, dir, whole)
}

func TestMPI_HangingRankIsNamed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	k := killer{dir: dir}
	cmd, _, stderr := underMPI(t, 3, slices.Concat(onFour(dir), []string{"--stage1-epochs", "400", "--rank-timeout", "5s"})...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	k.wait(t, 3, cmd.Process, stderr)
	_ = syscall.Kill(ranksOf(cmd.Process.Pid)[1], syscall.SIGSTOP)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(stderr.String(), "rank 1 (") || !strings.Contains(stderr.String(), "in time") {
			t.Errorf("%v: %s", err, stderr)
		}
	case <-time.After(40 * time.Second):
		_ = cmd.Process.Kill()
		t.Fatalf("the job hangs: %s", stderr)
	}
}
