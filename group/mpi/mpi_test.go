//go:build cgo && (mpi || mpich)

package mpi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nmn/group"
	"nmn/group/suite"
)

// caseVariable names what a rank that a test has started runs.
const caseVariable = "NMN_TEST_RANK_RUNS"

// shortly is the timeout of those ranks whose case it is to be late.
const shortly = 500 * time.Millisecond

func TestMain(m *testing.M) {
	name := os.Getenv(caseVariable)
	if name == "" {
		os.Exit(m.Run())
	}
	if err := runCase(name); err != nil {
		fmt.Fprintf(os.Stderr, "WRONG %s: %v\n", name, err)
		os.Exit(3)
	}
	fmt.Printf("a rank has ended %s\n", name)
}

// runCase is what a rank does.
func runCase(name string) error {
	timeout := time.Minute
	if name == "Late" || name == "Stopped" {
		timeout = shortly
	}
	g, err := Open(Options{Timeout: timeout})
	if err != nil {
		return err
	}
	for _, c := range suite.Endings() {
		if c.Name == name {
			return errors.Join(c.Run(g), g.Close())
		}
	}
	for _, c := range cases {
		if c.Name == name {
			return errors.Join(c.Run(g), g.Close())
		}
	}
	for name, wrong := range suite.Run(g) {
		err = errors.Join(err, fmt.Errorf("%s, rank %d of %d: %w", name, g.Rank(), g.Size(), wrong))
	}
	return errors.Join(err, g.Close())
}

// ran is what came of processes that were started together.
type ran struct {
	code   int
	output string
	took   time.Duration
}

// start runs a case on n ranks, and skips the test where mpirun is missing.
func start(t *testing.T, n int, name string) ran {
	t.Helper()
	mpirun, err := exec.LookPath("mpirun")
	if err != nil {
		t.Skip("mpirun is not installed")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	arguments := []string{"-n", strconv.Itoa(n), program}
	if openMPI(mpirun) {
		arguments = append([]string{"--oversubscribe"}, arguments...)
	}
	c := exec.CommandContext(ctx, mpirun, arguments...)
	c.Env = append(os.Environ(), caseVariable+"="+name, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	// What mpirun has started ends with it, whatever becomes of it.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 5 * time.Second
	var output bytes.Buffer
	c.Stdout, c.Stderr = &output, &output
	begun := time.Now()
	err = c.Run()
	if ctx.Err() != nil {
		t.Fatalf("%s on %d ranks has not ended:\n%s", name, n, output.String())
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return ran{c.ProcessState.ExitCode(), output.String(), time.Since(begun)}
}

func openMPI(mpirun string) bool {
	version, _ := exec.Command(mpirun, "--version").Output()
	return bytes.Contains(version, []byte("Open MPI"))
}

func TestMPI_KeepsTheContract(t *testing.T) {
	for n := 1; n <= 4; n++ {
		r := start(t, n, "Suite")
		if r.code != 0 || strings.Count(r.output, "a rank has ended Suite") != n {
			t.Errorf("%d ranks: exit code %d\n%s", n, r.code, r.output)
		}
		t.Logf("%d ranks: %v", n, r.took)
	}
}

// TestMPI_EndsAsTheContractSays runs what a group of processes lives to see; an abort and a late rank end them.
func TestMPI_EndsAsTheContractSays(t *testing.T) {
	for _, c := range suite.Endings() {
		r := start(t, 3, c.Name)
		if strings.Contains(r.output, "WRONG") {
			t.Errorf("%s: exit code %d\n%s", c.Name, r.code, r.output)
		}
		switch c.Name {
		case "Abort":
			if r.code == 0 || !strings.Contains(r.output, "nmn: rank 2 (") || !strings.Contains(r.output, suite.Cause) {
				t.Errorf("exit code %d\n%s", r.code, r.output)
			}
		case "Late":
			if r.code == 0 || !strings.Contains(r.output, "nmn: rank 2 (") ||
				!strings.Contains(r.output, group.ErrTimeout.Error()) {
				t.Errorf("exit code %d\n%s", r.code, r.output)
			}
		}
		t.Logf("%s: %v", c.Name, r.took)
	}
}

var cases = []suite.Case{}
