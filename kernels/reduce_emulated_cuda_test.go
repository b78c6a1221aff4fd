//go:build cuda && emulate

package kernels_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nmn/cuda/cudnn"
	"nmn/cuda/nccl"
	"nmn/internal/expect"
	"nmn/kernels"
	"nmn/kernels/reduce"
	"nmn/kernels/tensor"
	"nmn/ranks"
	"nmn/ranks/local"
	"nmn/tools/conform"
	"nmn/tools/emulator"
)

// The ranks are goroutines, each with its own instance of the emulated card. Streams that delay their work as
// long as they may reveal a missing event between the computation and the sums or after the sums.
func TestCUDA_SumsOverRanks(t *testing.T) {
	for _, late := range []string{"", "first", "all"} {
		t.Run("late "+late, func(t *testing.T) {
			t.Setenv(emulator.LateVariable, late)
			conform.RunReduce(t, openCard)
		})
	}
}

// A wait between streams that does nothing gives wrong sums: the test above would notice one that is missing.
func TestCUDA_SumsShowAMissingEvent(t *testing.T) {
	t.Setenv(emulator.LateVariable, "first")
	for wait := 1; wait <= 2; wait++ { // before the sum, and after it
		// The late stream may catch up through the other rank's timing: the fault shows in about half of the
		// attempts.
		for sumOnce(t, "cuStreamWaitEvent "+fmt.Sprint(wait)+" -1") == nil {
		}
	}
	if err := sumOnce(t, ""); err != nil {
		t.Error(err)
	}
}

// sumOnce sums one tensor over two ranks. The driver of the first rank fails as planned.
func sumOnce(t *testing.T, plan string) error {
	t.Helper()
	var wrong error
	conform.EachRank(t, 2, openCard, func(g ranks.Group, b kernels.Backend) error {
		x, y, r, err := twoTensors(g, b, ranks.Float32, 1)
		if err != nil {
			return err
		}
		if g.Rank() == 0 { // plans are counted over all ranks: one at a time
			os.Setenv(emulator.FailVariable, plan)
		}
		err = errors.Join(b.Copy(x, y), inTurn(g, func() error {
			return errors.Join(r.Begin(0), r.Wait()) // the waits of rank 0 are the first and the second
		}), b.Copy(y, x), b.Sync())
		if g.Rank() == 0 {
			os.Setenv(emulator.FailVariable, "")
		}
		got := make([]float32, x.Len())
		err = errors.Join(err, b.Download(tensor.HostArray(tensor.Float32, got), y), r.Close())
		if _, e := g.Gather(nil); e != nil {
			return e
		}
		if g.Rank() == 0 && got[0] != 2 {
			wrong = fmt.Errorf("a sum of %v", got[0])
		}
		return err
	})
	return wrong
}

// inTurn runs f on rank 0 before it does on the others.
func inTurn(g ranks.Group, f func() error) error {
	var err error
	if g.Rank() == 0 {
		err = f()
	}
	if _, gathering := g.Gather(nil); gathering != nil || g.Rank() == 0 {
		return errors.Join(err, gathering)
	}
	return f()
}

// twoTensors are one of zeroes and one of ones, and the sum of the first or of both.
func twoTensors(g ranks.Group, b kernels.Backend, wire ranks.Wire, summed int) (x, y *tensor.Tensor, r reduce.Reducer,
	err error) {
	const n = 1 << 15
	x, err = b.Alloc(tensor.Float32, n)
	if err == nil {
		y, err = b.Alloc(tensor.Float32, n)
	}
	if err == nil {
		err = b.Upload(y, tensor.HostArray(tensor.Float32, slices.Repeat([]float32{1}, n)))
	}
	if err == nil {
		r, err = reduce.New(g, b, [][]*tensor.Tensor{{x}, {y}}[:summed], wire)
	}
	return x, y, r, err
}

// After the first steps a sum allocates nothing on the host, and makes nothing on the card.
func TestCUDA_SumsOverRanksAllocateNothing(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	const steps = 100
	var mallocs uint64
	conform.EachRank(t, 2, openCard, func(g ranks.Group, b kernels.Backend) error {
		_, _, r, err := twoTensors(g, b, ranks.BFloat16, 2)
		if err != nil {
			return err
		}
		var before, after runtime.MemStats
		if _, err := g.Gather(nil); err != nil {
			return err
		}
		if g.Rank() == 0 {
			os.Setenv(emulator.LogVariable, log)
		}
		runtime.ReadMemStats(&before)
		for range steps {
			if err := errors.Join(r.Begin(1), r.Begin(0), r.Wait()); err != nil {
				return err
			}
		}
		if g.Rank() == 0 {
			runtime.ReadMemStats(&after)
			mallocs = after.Mallocs - before.Mallocs
		}
		if _, err := g.Gather(nil); err != nil {
			return err
		}
		os.Unsetenv(emulator.LogVariable)
		return errors.Join(b.Sync(), r.Close())
	})
	if mallocs > steps/2 { // allocations of other goroutines
		t.Errorf("%d allocations in %d steps", mallocs, steps)
	}
	text, err := os.ReadFile(log)
	expect.OK(t, err)
	for _, call := range []string{"cuMemAlloc", "cuEventCreate", "cuStreamSynchronize", "cuEventSynchronize"} {
		if strings.Contains(string(text), call+"\n") {
			t.Errorf("a step calls %s", call)
		}
	}
}

// A failure on one rank's card ends all ranks, and the group too: no rank uses a failed sum.
func TestCUDA_AFailedSumEndsAllRanks(t *testing.T) {
	ended := make([]error, 3)
	conform.EachRank(t, 3, openCard, func(g ranks.Group, b kernels.Backend) error {
		_, _, r, err := twoTensors(g, b, ranks.Float32, 1)
		if err != nil {
			return err
		}
		if _, err := g.Gather(nil); err != nil {
			return err
		}
		if g.Rank() == 1 {
			os.Setenv(emulator.FailVariable, "ncclCommGetAsyncError 1 3")
			defer os.Unsetenv(emulator.FailVariable)
		} else if err := r.Begin(0); err != nil {
			return err
		}
		for err == nil { // until the test's own deadline
			if g.Rank() != 1 {
				_ = b.Sync() // ends, though rank 1 never comes
			}
			_, err = g.Gather(nil)
		}
		ended[g.Rank()] = err
		_ = r.Close()
		return nil
	})
	for rank, err := range ended {
		var lost *ranks.LostError
		if !errors.As(err, &lost) || !strings.Contains(err.Error(), "nccl: ") {
			t.Errorf("rank %d: %v, want the rank that failed and why", rank, err)
		}
	}
}

// Sums on cards wait for a rank as long as its group does, and no ten minutes.
func TestCUDA_SumsWaitAsLongAsTheGroup(t *testing.T) {
	const limit = 2 * time.Second
	errs := make([]error, 2)
	came := make(chan struct{})
	var all sync.WaitGroup
	for rank, g := range local.New(2, limit) {
		b := openCard(t)
		all.Go(func() {
			errs[rank] = func() error {
				_, _, r, err := twoTensors(g, b, ranks.Float32, 1)
				if err != nil {
					return err
				}
				defer func() { _ = r.Close() }()
				if rank == 1 { // which never begins
					<-came
					return nil
				}
				defer close(came)
				err = errors.Join(r.Begin(0), r.Wait())
				for err == nil { // until the test's own deadline
					_ = b.Sync()
					err = r.Wait()
				}
				return err
			}()
		})
	}
	all.Wait()
	if !errors.Is(errs[0], nccl.ErrTimeout) || !strings.Contains(errs[0].Error(), limit.String()) {
		t.Errorf("rank 0: %v, want the %v of the group", errs[0], limit)
	}
	if errs[1] != nil {
		t.Errorf("rank 1: %v", errs[1])
	}
}

// Without NCCL the host computes equal sums. The library is opened once in a process, so this test runs in
// its own process.
func TestCUDA_SumsOverRanksWithoutNCCL(t *testing.T) {
	const variable = "NMN_TEST_WITHOUT_NCCL"
	if os.Getenv(variable) == "" {
		command := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
		command.Env = append(os.Environ(), variable+"=1")
		if out, err := command.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	t.Setenv(nccl.LibraryVariable, filepath.Join(t.TempDir(), "nothing"))
	var log bytes.Buffer
	conform.RunReduce(t, func(t testing.TB) kernels.Backend {
		b, err := kernels.OpenCUDA(kernels.CUDAConfig{Plans: cudnn.Options{
			Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})),
		}})
		expect.OK(t, err)
		t.Cleanup(func() { b.Close() })
		return b
	})
	if nccl.Version() != 0 || !strings.Contains(log.String(), "there is no NCCL") {
		t.Errorf("NCCL is %d; the log: %s", nccl.Version(), log.String())
	}
}
