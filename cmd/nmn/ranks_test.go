package main

import (
	"bytes"
	"context"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nmn/format/safetensors"
	"nmn/internal/expect"
	ranks "nmn/ranks"
	"nmn/ranks/local"
	"nmn/recipe"
	"nmn/run"
	"nmn/train"
)

// rankPatience is how long a rank of a test waits for another one. No busy machine takes as long.
const rankPatience = 5 * time.Minute

// callOnRanks runs a command line on n ranks, in goroutines that stand for processes.
func callOnRanks(t *testing.T, n int, args ...string) []called {
	t.Helper()
	return callRanks(t.Context(), local.New(n, rankPatience), func(int) []string { return args })
}

// callRanks runs a command line on each rank of a group.
func callRanks(ctx context.Context, group []ranks.Group, args func(rank int) []string) []called {
	results := make([]called, len(group))
	var all sync.WaitGroup
	for rank, g := range group {
		all.Go(func() {
			var out, err bytes.Buffer
			code := execute(ctx, args(rank), &terminal{in: strings.NewReader(""), out: &out, err: &err,
				getenv: func(string) string { return "" }, joined: g})
			results[rank] = called{code, out.String(), err.String()}
		})
	}
	all.Wait()
	return results
}

// mustOnRanks runs a command line that succeeds on all ranks. Only rank 0 prints.
func mustOnRanks(t *testing.T, n int, args ...string) string {
	t.Helper()
	results := callOnRanks(t, n, args...)
	for rank, c := range results {
		if c.code != exitOK || rank > 0 && c.out != "" {
			t.Fatalf("nmn %s: rank %d: exit code %d: %s", strings.Join(args, " "), rank, c.code, c.err)
		}
	}
	return results[0].out
}

// refusedOnRanks checks that all ranks refuse a command line. Only rank 0 says why.
func refusedOnRanks(t *testing.T, results []called, parts ...string) {
	t.Helper()
	wantUsage(t, results[0], parts...)
	for rank, c := range results[1:] {
		if c.code != exitUsage || c.err != "" {
			t.Errorf("rank %d: exit code %d, %q", rank+1, c.code, c.err)
		}
	}
}

// filesOf lists the files of a folder, and of those in it.
func filesOf(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			name, _ := filepath.Rel(dir, path)
			names = append(names, name)
		}
		return err
	})
	expect.OK(t, err)
	return names
}

// onSomeSeed compares what runs have learned whose sums were made in another order, on seeds until one shows them equal
// within rounding. A seed alone proves nothing when it does not: where two inputs of a maximum lie within rounding of
// each other, or a sum within rounding of 0, another order sends a whole gradient another way (one seed in six, by up
// to 3 % of a bias of a net as small as these). Numbers that are further off than that are wrong on any seed. Measures
// of so few pictures, which jump where two scores change places, are not compared.
func onSomeSeed(t *testing.T, what string, compare func(seed string) (got, want string)) {
	t.Helper()
	for _, seed := range []string{"1", "2", "3", "4"} {
		got, want := compare(seed)
		if t.Failed() {
			return
		}
		name, off := farthestWeights(t, what, got, want)
		switch {
		case off <= 1e-4:
			return
		case !(off <= .1):
			t.Fatalf("%s: %s is off by %.2g of its largest number", what, name, off)
		}
		t.Logf("%s, seed %s: %s is off by %.2g of its largest number: another seed", what, seed, name, off)
	}
	t.Errorf("%s: no seed of four shows the same weights", what)
}

// farthestWeights returns the parameter that differs most between two runs, relative to its largest number.
func farthestWeights(t *testing.T, what, got, want string) (farthest string, worst float64) {
	t.Helper()
	a, b := openWeights(t, got), openWeights(t, want)
	if names := b.Names(); !slices.Equal(a.Names(), names) {
		t.Fatalf("%s: tensors %v, want %v", what, a.Names(), names)
	}
	for _, name := range b.Names() {
		if strings.HasPrefix(name, "optimizer.") {
			continue
		}
		x, _, err := a.Float32(name)
		y, _, err2 := b.Float32(name)
		if err != nil || err2 != nil || len(x) != len(y) {
			t.Fatalf("%s: %s: %v, %v", what, name, err, err2)
		}
		largest, off := 0.0, 0.0
		for i := range y {
			largest = max(largest, math.Abs(float64(y[i])))
			off = max(off, math.Abs(float64(x[i]-y[i])))
		}
		if !(off <= worst*largest) {
			farthest, worst = name, off/largest
		}
	}
	return farthest, worst
}

func openWeights(t *testing.T, dir string) *safetensors.File {
	t.Helper()
	f, err := safetensors.Open(filepath.Join(dir, train.LastName))
	expect.OK(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestRanks_TrainWhatOneProcessTrains(t *testing.T) {
	t.Parallel()
	skipShort(t, "trains every arm on ranks")
	arms := slices.DeleteFunc(recipe.Names(), func(arm recipe.Name) bool {
		e, _ := arm.Arm()
		loss := train.LossConfig{Kind: e.Loss}
		return loss.Large() // which are refused
	})
	for i, arm := range arms {
		ranks := []int{2 + i%2}
		if arm == recipe.FD {
			ranks = []int{2, 3}
		}
		args := func(dir, seed string) []string {
			return tiny("train", "--arm", string(arm), "--run-dir", dir, "--batch-size", "7", "--set", "train.optimizer=sgd",
				"-q", "--seed", seed, "--set", "net.width=0.25", "--set", "data.train_size=64")
		}
		for _, n := range ranks {
			one := filepath.Join(t.TempDir(), "run")
			c := call(t, args(one, "1")...)
			if c.code != exitOK { // an arm that this data set is too small for
				for rank, r := range callOnRanks(t, n, args(filepath.Join(t.TempDir(), "run"), "1")...) {
					if r.code != c.code || (r.err != "") != (rank == 0) || rank == 0 && r.err != c.err {
						t.Errorf("%s, rank %d of %d: exit code %d, %s, want %d, %s", arm, rank, n, r.code, r.err, c.code, c.err)
					}
				}
				continue
			}
			onSomeSeed(t, string(arm), func(seed string) (got, want string) {
				if seed != "1" {
					one = filepath.Join(t.TempDir(), "run")
					must(t, args(one, seed)...)
				}
				dir := filepath.Join(t.TempDir(), "run")
				mustOnRanks(t, n, args(dir, seed)...)
				if got, want := filesOf(t, dir), filesOf(t, one); !slices.Equal(got, want) {
					t.Errorf("%s: %d ranks leave %v, one process %v", arm, n, got, want)
				}
				return dir, one
			})
		}
	}
}

// A stage has few steps, because sums in another order may differ at each of them, as onSomeSeed explains. The
// step of the interrupt varies from run to run.
func TestRanks_GoOnWithAnyNumber(t *testing.T) {
	t.Parallel()
	skipShort(t, "trains on ranks")
	onSomeSeed(t, "interrupted", func(seed string) (got, want string) {
		args := func(dir string) []string {
			return tiny("train", "--arm", "nmn-fd", "--run-dir", dir, "--batch-size", "7", "--set", "train.optimizer=sgd", "-q",
				"--epochs", "2", "--set", "train.log_steps=1", "--set", "train.max_steps=8", "--seed", seed)
		}
		one := filepath.Join(t.TempDir(), "run")
		must(t, args(one)...)
		dir := filepath.Join(t.TempDir(), "run")
		interrupt := func(n int, stage string, args ...string) {
			t.Helper()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			for rank, c := range interruptedOnRanks(ctx, cancel, n, filepath.Join(dir, stage), args...) {
				if c.code != exitInterrupted || (rank == 0) != strings.Contains(c.err, "run the same command again to continue") {
					t.Fatalf("rank %d of %d: exit code %d, %s", rank, n, c.code, c.err)
				}
			}
		}
		interrupt(3, run.Stage1Folder, args(dir)...)
		interrupt(2, "", goOn(dir, "-q")...)
		must(t, goOn(dir, "-q")...)
		return dir, one
	})
}

// interruptedOnRanks ends only the context of the last rank once the log of a folder has a step.
func interruptedOnRanks(ctx context.Context, cancel func(), n int, dir string, args ...string) []called {
	results := make([]called, n)
	var all sync.WaitGroup
	for rank, g := range local.New(n, rankPatience) {
		all.Go(func() {
			ctx := ctx
			if rank < n-1 {
				ctx = context.WithoutCancel(ctx)
			}
			var out bytes.Buffer
			err := watched{watch: func([]byte) {
				if logged(dir) > 0 {
					cancel()
				}
			}}
			own := args
			if rank == 0 {
				own = append(slices.Clone(args), "-v")
			}
			code := execute(ctx, own, &terminal{in: strings.NewReader(""), out: &out, err: &err,
				getenv: func(string) string { return "" }, joined: g})
			results[rank] = called{code, out.String(), err.String()}
		})
	}
	all.Wait()
	return results
}

func TestRanks_RefuseToWorkOnDifferentThings(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	group := local.New(3, rankPatience)
	refusedOnRanks(t, callRanks(t.Context(), group, func(rank int) []string {
		args := tiny("train", "--arm", "baseline", "--run-dir", dir, "-q")
		if rank == 2 {
			args = append(args, "--learning-rate", "0.5")
		}
		return args
	}), "rank 2 (goroutine 2) differs from rank 0 (goroutine 0)")
}

// Only trainings and their steps join ranks. All other commands are refused, with what is to be done instead.
func TestRanks_OtherCommandsRunInOneProcess(t *testing.T) {
	t.Parallel()
	for line, cure := range map[string]string{
		"doctor --preset scenes":                   "without mpirun",
		"eval runs/fd":                             "without mpirun",
		"caption train --features x.npy":           "without mpirun",
		"experiment --preset scenes":               "--tasks",
		"reproduce":                                "--tasks",
		"predict runs/fd pictures":                 "--shard i/n",
		"extract runs/fd --output x.npy":           "--shard i/n",
		"frames clips --output frames":             "--shard i/n",
		"bench ops":                                "without mpirun",
		"train --arm ll-r --preset scenes":         "largest losses",
		"train --backbone x --set data.manifest=y": "--shard",
	} {
		refusedOnRanks(t, callOnRanks(t, 2, strings.Fields(line)...), cure)
	}
	mustOnRanks(t, 2, "version")
}

// Every rank must see the run folder of rank 0.
func TestRanks_SeeOneFolder(t *testing.T) {
	first, other := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	refusedOnRanks(t, callRanks(t.Context(), local.New(2, rankPatience), func(rank int) []string {
		return tiny("train", "--arm", "stage1", "-q", "--run-dir", []string{first, other}[rank])
	}), "--run-dir must lie on a file system that all ranks see", "rank 1 (")
}

// The precision of gradients is a setting of the run like others: a configuration has it, and the same command compares
// it.
func TestRanks_GoOnWithThePrecisionOfTheRun(t *testing.T) {
	skipShort(t, "trains on ranks")
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	args := func(more ...string) []string {
		return tiny("train", append(more, "--arm", "stage1", "--run-dir", dir, "-q")...)
	}
	mustOnRanks(t, 2, args("--set", "run.gradients=bf16")...)
	mustOnRanks(t, 2, goOn(dir, "-q", "--epochs", "2")...)
	if c, err := run.ReadConfig(dir); err != nil || c.Run.Gradients != run.GradientsBF16 {
		t.Errorf("went on with gradients in %q (%v)", c.Run.Gradients, err)
	}
	mustOnRanks(t, 2, args("--set", "run.gradients=bf16")...)
	refusedOnRanks(t, callOnRanks(t, 2, args()...), "its run.gradients is bf16, this one's fp32")
}
