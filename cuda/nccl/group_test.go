//go:build cuda

package nccl_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"nmn/cuda/nccl"
	"nmn/ranks"
	"nmn/tools/emulator"
	"nmn/tools/ranksuite"
)

// grouped runs f for each rank of a group that has NCCL alone.
func grouped(t *testing.T, size int, timeout time.Duration, f func(g ranks.Group) error) []error {
	t.Helper()
	needEmulator(t)
	id, err := nccl.NewID()
	if err != nil {
		t.Fatal(err)
	}
	errs := make([]error, size)
	var all sync.WaitGroup
	for rank := range size {
		all.Go(func() {
			g, err := nccl.OpenGroup(nccl.GroupOptions{Rank: rank, Ranks: size, ID: &id, Timeout: timeout})
			if err == nil {
				err = errors.Join(f(g), g.Close())
			}
			errs[rank] = err
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(10 * time.Minute):
		t.Fatal("the ranks hang")
	}
	return errs
}

func TestGroup_Conforms(t *testing.T) {
	for late, sizes := range map[string][]int{"": {1, 3}, "all": {2, 4}} {
		t.Setenv(emulator.LateVariable, late)
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%d ranks, late %q", size, late), func(t *testing.T) {
				want(t, grouped(t, size, 0, func(g ranks.Group) error {
					var wrong error
					for name, err := range ranksuite.Run(g) {
						wrong = errors.Join(wrong, fmt.Errorf("%s: %w", name, err))
					}
					return wrong
				}))
			})
		}
	}
}

func TestGroup_Endings(t *testing.T) {
	for _, c := range ranksuite.Endings() {
		t.Run(c.Name, func(t *testing.T) {
			errs := grouped(t, 3, 0, func(g ranks.Group) error {
				if c.Name == "Late" {
					nccl.SetTimeout(g, 100*time.Millisecond)
				}
				return c.Run(g)
			})
			if c.Name != "Late" {
				want(t, errs)
				return
			}
			// NCCL does not report which rank is missing.
			for rank, err := range errs[:2] {
				if err == nil || !strings.Contains(err.Error(), "not rank 2 is blamed") {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
		})
	}
}

func TestGroup_NothingIsLeft(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	t.Setenv(emulator.LogVariable, log)
	want(t, grouped(t, 2, 0, func(g ranks.Group) error { return g.Sum([]float32{1}, ranks.Float32) }))
	count := calls(t, log)
	for made, freed := range map[string]string{
		"ncclCommInitRank": "ncclCommDestroy", "cuStreamCreate": "cuStreamDestroy", "cuEventCreate": "cuEventDestroy",
		"cuMemAlloc": "cuMemFree", "cuMemHostAlloc": "cuMemFreeHost",
	} {
		if count[made] == 0 || count[made] != count[freed] {
			t.Errorf("%s %d times, %s %d times", made, count[made], freed, count[freed])
		}
	}
}

// port is the last one at which ranks met: one that was given up still waits at its own.
var port atomic.Int32

func init() { port.Store(29499) }

// Ranks that share an address meet there, as those that torchrun has started.
func TestGroup_MeetsAtAnAddress(t *testing.T) {
	needEmulator(t)
	address := func() string { return fmt.Sprintf("127.0.0.1:%d", port.Add(1)) }
	first := address()
	g, err := nccl.OpenGroup(nccl.GroupOptions{Ranks: 1, Address: first})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	two := nccl.GroupOptions{Ranks: 2, Rank: 1, Address: first, Timeout: time.Millisecond}
	if g, err := nccl.OpenGroup(two); err == nil {
		g.Close()
		t.Error("one rank of two continues")
	}
	started := map[string]string{"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": fmt.Sprint(port.Add(1))}
	if g, err := nccl.OpenStarted(func(name string) string { return started[name] }, 0, 1, -1, time.Minute); err != nil {
		t.Error(err)
	} else if err := g.Close(); err != nil {
		t.Error(err)
	}
	if _, err := nccl.OpenStarted(func(string) string { return "" }, 0, 1, -1, time.Minute); err == nil {
		t.Error("ranks without an address meet")
	}
	// A rank that sees one card alone takes it, whatever its number.
	if g, err := nccl.OpenGroup(nccl.GroupOptions{Ranks: 1, Card: 7, Address: address()}); err != nil {
		t.Error(err)
	} else if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// Other waits for the ranks of a group should take as long.
func TestGroup_SaysHowLongItWaits(t *testing.T) {
	for given, says := range map[time.Duration]time.Duration{
		0: nccl.DefaultTimeout, 7 * time.Second: 7 * time.Second, nccl.Forever: 0,
	} {
		want(t, grouped(t, 2, given, func(g ranks.Group) error {
			if got := g.Timeout(); got != says {
				return fmt.Errorf("%v, want %v", got, says)
			}
			return nil
		}))
	}
}
