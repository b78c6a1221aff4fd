//go:build linux && (amd64 || arm64)

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"nmn/format/safetensors"
)

// mpi is the launcher of nmn with several ranks.
type mpi struct {
	mpirun, program string // program is nmn with the tag mpi
}

// withRanks builds nmn for scenarios on ranks. If it cannot, it reports that and leaves them out.
func withRanks(chosen []scenario, dir string) ([]scenario, mpi) {
	onRanks := func(s scenario) bool { return s.ranks > 0 }
	if !slices.ContainsFunc(chosen, onRanks) {
		return chosen, mpi{}
	}
	m, err := prepareRanks(dir)
	if err == nil {
		return chosen, m
	}
	for _, s := range chosen {
		if onRanks(s) {
			fmt.Printf("scenario %s is left out: %v\n", s.name, err)
		}
	}
	return slices.DeleteFunc(chosen, onRanks), mpi{}
}

func prepareRanks(dir string) (m mpi, err error) {
	if m.mpirun, err = exec.LookPath("mpirun"); err != nil {
		return m, err
	}
	m.program = filepath.Join(dir, "nmn-mpi")
	build := exec.Command("go", "build", "-tags", "mpi", "-o", m.program, "./cmd/nmn")
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		return m, fmt.Errorf("go build -tags mpi ./cmd/nmn: %w: %.200s", err, out)
	}
	return m, nil
}

// command runs nmn as a single process, or as this number of ranks.
func (l *lab) command(args []string, ranks int) *exec.Cmd {
	if ranks == 0 {
		return exec.Command(l.program, args...)
	}
	cmd := exec.Command(l.mpi.mpirun, append([]string{"--oversubscribe", "--bind-to", "none", "-n", strconv.Itoa(ranks),
		l.mpi.program}, args...)...)
	cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	return cmd
}

// started is the beginning of such a command line.
func started(ranks int) string {
	if ranks == 0 {
		return "nmn "
	}
	return fmt.Sprintf("mpirun -n %d nmn ", ranks)
}

// killRank kills a rank of a job. It returns false if the rank does not exist.
func killRank(mpirun, rank int) bool {
	list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", mpirun))
	pids := strings.Fields(string(list)) // in the order of the ranks
	if err != nil || rank >= len(pids) {
		return false
	}
	pid, err := strconv.Atoi(pids[rank])
	return err == nil && unix.Kill(pid, unix.SIGKILL) == nil
}

// mostRanks is the largest number of ranks that continues a run.
const mostRanks = 3

// killRanks runs the command some times, each time on another number of ranks, and kills one of them, or
// mpirun.
func (t *trial) killRanks() error {
	missed := true
	for i := range t.f.Times {
		if i > 0 {
			t.anotherNumber()
		}
		d := disturbance{victim: t.random.IntN(t.ranks+1) - 1,
			kill: time.Duration(t.random.Float64()*float64(t.ref.took)) + time.Millisecond}
		if err := t.run(t.s.command(), d); err != nil {
			return err
		}
		missed = missed && t.end.code == 0
		if t.end.code > 0 && d.victim >= 0 && !tellsOfLoss(t.end.stderr, d.victim) {
			t.lose("rank %d was killed, and is not named: %s", d.victim, t.end.stderr)
		}
	}
	t.Missed = missed
	t.anotherNumber()
	return nil
}

// tellsOfLoss reports whether a job's output reports the loss of a rank. mpirun names the rank, unless it
// first notices the others' end, which it has requested. The others name it too, if they had joined it. If
// the rank was killed before that, they can only report that they waited for it.
func tellsOfLoss(stderr string, rank int) bool {
	return strings.Contains(stderr, fmt.Sprintf("rank %d", rank)) ||
		strings.Contains(stderr, "waited for all ranks to start")
}

// anotherNumber draws the number of ranks that continue.
func (t *trial) anotherNumber() {
	t.ranks = 1 + t.random.IntN(mostRanks)
	t.mixed = t.mixed || t.ranks != t.s.ranks
}

// mostApart limits the distance of weights and momenta learned by different numbers of ranks, as a share of
// their norm. Sums are made in another order, and here and there another one of two nearly equal numbers is
// the larger one. This has put momenta of undisturbed runs .1 apart. A step that was left out, or made twice,
// changes momenta by as much as their norm.
const mostApart = .2

// compareMixed holds a run that different numbers of ranks have made to the reference: it has the same files, has made
// the same steps, and learned the same but for the order of sums.
func (t *trial) compareMixed() error {
	got, err := readTree(t.work())
	if err != nil {
		return err
	}
	names := func(of tree) tree {
		of = maps.Clone(of)
		for path := range of {
			of[path] = ""
		}
		return of
	}
	for _, line := range differences(names(got), names(t.ref.tree)) {
		t.lose("in the end: %s", line)
	}
	for _, run := range t.s.runs {
		ours, theirs := filepath.Join(t.work(), run), filepath.Join(t.lab.dir, "reference-"+t.s.name, "work", run)
		err := cmp.Or(sameSteps(ours, theirs), closeWeights(ours, theirs))
		if err != nil {
			t.lose("in the end: %s: %v", run, err)
		}
	}
	return nil
}

// sameSteps compares the steps in the logs of two runs.
func sameSteps(a, b string) error {
	x, err := stepsOf(a)
	y, err2 := stepsOf(b)
	if err = errors.Join(err, err2); err == nil && !slices.Equal(x, y) {
		err = fmt.Errorf("steps %v, want %v", x, y)
	}
	return err
}

func stepsOf(run string) (numbers []int, err error) {
	log, err := os.ReadFile(filepath.Join(run, "log.jsonl"))
	for line := range strings.Lines(string(steps(log))) {
		var step struct{ Step int }
		if err := json.Unmarshal([]byte(line), &step); err != nil {
			return nil, err
		}
		numbers = append(numbers, step.Step)
	}
	return numbers, err
}

// closeWeights reports if the last checkpoints of two runs are further apart than another order of sums
// explains.
func closeWeights(a, b string) error {
	x, err := safetensors.Open(filepath.Join(a, "last.safetensors"))
	if err != nil {
		return err
	}
	defer x.Close()
	y, err := safetensors.Open(filepath.Join(b, "last.safetensors"))
	if err != nil {
		return err
	}
	defer y.Close()
	if !slices.Equal(x.Names(), y.Names()) {
		return fmt.Errorf("tensors %v, want %v", x.Names(), y.Names())
	}
	for _, name := range y.Names() {
		ours, _, err := x.Float32(name)
		theirs, _, err2 := y.Float32(name)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		if apart := apart(ours, theirs); !(apart <= mostApart) {
			return fmt.Errorf("%s is off by %.2g of its norm", name, apart)
		}
	}
	return nil
}

// apart is the norm of the difference, as a share of the norm. It is NaN if the lengths differ.
func apart(a, b []float32) float64 {
	if len(a) != len(b) {
		return math.NaN()
	}
	norm, off := 0., 0.
	for i := range b {
		d := float64(a[i]) - float64(b[i])
		norm, off = norm+float64(b[i])*float64(b[i]), off+d*d
	}
	if off == 0 {
		return 0
	}
	return math.Sqrt(off / norm)
}
