//go:build cgo && (mpi || mpich)

package mpi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nmn/ranks"
	"nmn/tools/ranksuite"
)

// caseVariable names what a rank that a test has started runs.
const caseVariable = "NMN_TEST_RANK_RUNS"

// shortly is the timeout of those ranks whose case it is to be late. It begins when all have opened the group and the
// others come to the same call at once: only what keeps one of them from it for so long is taken for the late rank.
const shortly = 2 * time.Second

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
	o := Options{Timeout: time.Minute, piece: 100003}
	if strings.HasSuffix(name, "Late") || strings.HasPrefix(name, "Stopped") {
		o.soon = shortly
	}
	g, err := Open(o)
	if err != nil {
		return err
	}
	for _, c := range ranksuite.Endings() {
		if c.Name == name {
			return errors.Join(c.Run(g), g.Close())
		}
	}
	for _, c := range cases {
		if c.Name == name {
			return errors.Join(c.Run(g), g.Close())
		}
	}
	for name, wrong := range ranksuite.Run(g) {
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

// endedByMPI reports whether a job was ended for a rank that has gone, before another one had waited in vain.
func (r ran) endedByMPI() bool {
	return r.code != 0 && !strings.Contains(r.output, "WRONG") && !strings.Contains(r.output, ranks.ErrTimeout.Error())
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
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	arguments := []string{"-n", strconv.Itoa(n), program}
	if openMPI(mpirun) {
		arguments = append([]string{"--oversubscribe"}, arguments...)
	}
	c := exec.CommandContext(ctx, mpirun, arguments...)
	// Two mpirun that begin and end at once make and remove the same folder, unless each has its own.
	folder, err := os.MkdirTemp("", "mpi")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	c.Env = append(os.Environ(), caseVariable+"="+name, "TMPDIR="+folder, "OMPI_ALLOW_RUN_AS_ROOT=1",
		"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	// Processes that mpirun has started end with it, in any case.
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
	t.Parallel()
	for _, c := range ranksuite.Endings() {
		r := start(t, 3, c.Name)
		if strings.Contains(r.output, "WRONG") {
			t.Errorf("%s: exit code %d\n%s", c.Name, r.code, r.output)
		}
		switch c.Name {
		case "Abort":
			if r.code == 0 || !strings.Contains(r.output, "nmn: rank 2 (") || !strings.Contains(r.output, ranksuite.Cause) {
				t.Errorf("exit code %d\n%s", r.code, r.output)
			}
		case "Late":
			if r.code == 0 || !strings.Contains(r.output, "nmn: rank 2 (") ||
				!strings.Contains(r.output, ranks.ErrTimeout.Error()) || !strings.Contains(r.output, "its process runs") {
				t.Errorf("exit code %d\n%s", r.code, r.output)
			}
		}
		t.Logf("%s: %v", c.Name, r.took)
	}
}

// cases are programs of ranks that only processes can run.
var cases = []ranksuite.Case{
	{Name: "Killed", Run: func(g ranks.Group) error { return strike(g, syscall.SIGKILL) }, Ends: true},
	{Name: "Stopped", Run: func(g ranks.Group) error { return strike(g, syscall.SIGSTOP) }, Ends: true},
	{Name: "StoppedInASum", Run: stoppedInASum, Ends: true},
	{Name: "Leaves", Run: leaves, Ends: true},
	{Name: "ClosesLate", Run: closesLate, Ends: true},
	{Name: "Panics", Run: panics},
	{Name: "Twice", Run: twice},
	{Name: "Steady", Run: steady},
}

// strike has a signal strike rank 1 while the others sum.
func strike(g ranks.Group, s syscall.Signal) error {
	x := make([]float32, 1<<18)
	for i := range 100 {
		if g.Rank() == 1 && i == 50 {
			if err := syscall.Kill(os.Getpid(), s); err != nil {
				return err
			}
		}
		if err := errors.Join(g.Sum(x, ranks.Float32), g.Wait()); err != nil {
			return err
		}
	}
	return errors.New("the others go on")
}

func TestMPI_ARankThatIsKilledEndsTheJob(t *testing.T) {
	r := start(t, 3, "Killed")
	// MPICH's mpirun names the process instead of the rank.
	named := strings.Contains(r.output, "rank 1") || strings.Contains(r.output, "PID")
	if !named || !r.endedByMPI() {
		t.Errorf("exit code %d after %v\n%s", r.code, r.took, r.output)
	}
}

func TestMPI_ARankThatHangsIsNamed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Stopped", "StoppedInASum"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, 3, name)
			// The first rank to notice ends the job, for which Open MPI wakes a process that was stopped: it
			// may still answer the other one, which then reports that it runs, or blames the network.
			blamed := regexp.MustCompile(`nmn: rank (\d) \([^)]*\): (.*)`).FindAllStringSubmatch(r.output, -1)
			named := false
			for _, b := range blamed {
				switch rank, why := b[1], b[2]; {
				case rank == "1" && strings.Contains(why, ranks.ErrTimeout.Error()) && strings.HasSuffix(why, "does not answer"):
					named = true
				case rank == "1" && strings.HasSuffix(why, "its process runs"), strings.HasSuffix(why, "the network may hang"):
				default:
					t.Errorf("rank %s is blamed: %s", rank, why)
				}
			}
			if r.code == 0 || !named || strings.Contains(r.output, "WRONG") {
				t.Errorf("exit code %d after %v\n%s", r.code, r.took, r.output)
			}
		})
	}
}

// stoppedInASum stops rank 1 while numbers move.
func stoppedInASum(g ranks.Group) error {
	if g.Rank() == 1 {
		time.AfterFunc(50*time.Millisecond, func() { syscall.Kill(os.Getpid(), syscall.SIGSTOP) })
	}
	x := make([]float32, 30<<20)
	for range 1000 {
		if err := errors.Join(g.Sum(x, ranks.Float32), g.Wait()); err != nil {
			return err
		}
	}
	return errors.New("the others go on")
}

// leaves has rank 1 exit without a word, as a program does that forgets Abort and Close.
func leaves(g ranks.Group) error {
	if g.Rank() == 1 {
		os.Exit(5)
	}
	_, err := g.Gather(nil)
	return errors.Join(errors.New("the others go on"), err)
}

// closesLate wants the ranks that close the group not to wait for ever for one that does not.
func closesLate(g ranks.Group) error {
	if g.Rank() == 1 {
		time.Sleep(time.Hour)
	}
	var lost *ranks.LostError
	if err := g.Close(); !errors.As(err, &lost) || lost.Rank != 1 {
		return fmt.Errorf("closed: %w", err)
	}
	os.Exit(6)
	return nil
}

func TestMPI_ARankThatLeavesEndsTheJob(t *testing.T) {
	if r := start(t, 3, "Leaves"); !r.endedByMPI() {
		t.Errorf("exit code %d after %v\n%s", r.code, r.took, r.output)
	}
}

func TestMPI_ARankThatDoesNotCloseIsWaitedForNoLongerThanOthers(t *testing.T) {
	t.Parallel()
	r := start(t, 3, "ClosesLate")
	if r.code == 0 || strings.Contains(r.output, "WRONG") {
		t.Errorf("exit code %d after %v\n%s", r.code, r.took, r.output)
	}
}

// panics wants Go to have its signals still: MPI installs handlers of its own.
func panics(ranks.Group) (err error) {
	defer func() {
		if recover() == nil {
			err = errors.New("no panic")
		}
	}()
	var nothing *rank
	nothing.timeout = 1
	return nil
}

// twice wants a second group to be refused.
func twice(ranks.Group) error {
	if _, err := Open(Options{}); err == nil || !strings.Contains(err.Error(), "before") {
		return fmt.Errorf("opened twice: %v", err)
	}
	return nil
}

// steady wants a step's sums and gathering to allocate nothing.
func steady(g ranks.Group) error {
	x, own := make([]float32, 12000), make([]byte, 48)
	var wrong error
	n := testing.AllocsPerRun(100, func() {
		for i := range 12 {
			wrong = errors.Join(wrong, g.Sum(x[i*1000:(i+1)*1000], ranks.Wire(i%2)))
		}
		_, err := g.Gather(own)
		if wrong == nil {
			wrong = err
		}
		if err := g.Wait(); wrong == nil {
			wrong = err
		}
	})
	if n != 0 {
		wrong = errors.Join(wrong, fmt.Errorf("%v allocations a step", n))
	}
	return wrong
}

func TestMPI_LeavesSignalsToGoAndMemoryAlone(t *testing.T) {
	for _, name := range []string{"Panics", "Twice", "Steady"} {
		if r := start(t, 2, name); r.code != 0 {
			t.Errorf("%s: exit code %d\n%s", name, r.code, r.output)
		}
	}
}
