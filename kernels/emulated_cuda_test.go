//go:build cuda && emulate

package kernels_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"nmn/cuda"
	"nmn/cuda/cublas"
	"nmn/cuda/cudnn"
	"nmn/cuda/nccl"
	"nmn/kernels"
	"nmn/kernels/conform"
	"nmn/kernels/emulator"
	"nmn/kernels/tensor"
)

// emulated is why there is no emulator, nil where there is one.
var emulated error

// TestMain puts the host emulator, with the kernels' own sources, in the place of the driver, of cuDNN, of
// cuBLASLt and of NCCL: all tests of graphics cards then run on it.
func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "emulator")
	if err == nil {
		emulated = emulator.Install(folder, ".", cuda.DriverVariable, cudnn.LibraryVariable, cublas.LibraryVariable,
			nccl.LibraryVariable)
	}
	code := m.Run()
	if err := errors.Join(err, os.RemoveAll(folder)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// openCardIn opens the emulated card. Without a C++ compiler the test is skipped.
func openCardIn(t testing.TB, p tensor.Precision) kernels.Backend {
	t.Helper()
	if errors.Is(emulated, emulator.ErrCompiler) {
		conform.Skip(t, "emulate", emulated.Error())
	}
	if emulated != nil {
		t.Fatal(emulated)
	}
	b, err := kernels.OpenCUDA(kernels.CUDAConfig{Precision: p})
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

// The other tests run threads and blocks in ascending order, these in descending order: a race between
// them shows as a difference.
func TestCUDA_ReverseOrder(t *testing.T) {
	t.Setenv(emulator.OrderVariable, "reverse")
	o := cardOptions
	o.Large = conform.Never
	t.Run("cases", func(t *testing.T) { eachPrecision(t, o) })
	t.Run("fixtures", func(t *testing.T) { conform.RunFixtures(t, openCard) })
	t.Run("bfloat16", TestCUDA_BFloat16)
	t.Run("replay", TestCUDA_ReplaysACapturedStep)
}
