//go:build cuda && emulate

package kernels_test

import (
	"errors"
	"path/filepath"
	"testing"

	"nmn/cuda"
	"nmn/cuda/cudnn"
	"nmn/kernels"
	"nmn/kernels/conform"
	"nmn/kernels/emulator"
)

// emulate puts the host emulator, with all kernels, in the place of the driver.
func emulate(t *testing.T) {
	t.Helper()
	sources, err := filepath.Glob("*/*.cu")
	if err != nil || len(sources) == 0 {
		t.Fatal("no CUDA sources", err)
	}
	library, err := emulator.Build(t.TempDir(), sources...)
	if errors.Is(err, emulator.ErrCompiler) {
		conform.Skip(t, "emulate", err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(cuda.DriverVariable, library)
	t.Setenv(cudnn.LibraryVariable, library)
}

func openEmulated(t testing.TB) kernels.Backend {
	t.Helper()
	b, err := kernels.OpenCUDA(kernels.CUDAConfig{Device: cuda.Options{SyncLaunches: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// The real sources of the kernels, and the Go code that launches them, by all cases and fixtures, with
// threads and blocks in ascending and in descending order: a race between them shows as a difference.
// Cases of the real network's size run in one order.
func TestCUDA_ConformsOnTheEmulator(t *testing.T) {
	emulate(t)
	for _, order := range emulator.Orders {
		t.Run(order, func(t *testing.T) {
			t.Setenv(emulator.OrderVariable, order)
			o := conform.Options{UncheckedBags: true}
			if order != emulator.Orders[0] {
				o.Large = conform.Never
			}
			t.Run("cases", func(t *testing.T) { conform.Run(t, openEmulated, o) })
			t.Run("fixtures", func(t *testing.T) { conform.RunFixtures(t, openEmulated) })
		})
	}
}
