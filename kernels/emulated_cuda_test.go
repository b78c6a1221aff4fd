//go:build cuda && emulate

package kernels_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"nmn/cuda"
	"nmn/cuda/cublas"
	"nmn/cuda/cudnn"
	"nmn/cuda/nccl"
	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/tools/conform"
	"nmn/tools/emulator"
)

// emulated is the reason why there is no emulator, or nil if there is one.
var emulated error

// TestMain replaces the driver, cuDNN, cuBLASLt and NCCL by the host emulator with the kernels' own sources,
// unless the environment names one. All tests of graphics cards then run on it.
func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "emulator")
	if err == nil && os.Getenv(cuda.DriverVariable) == "" {
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
	return opened(t, b, err)
}

// cardCases picks the cases of a precision. Under -short the sizes of the real network are judged in float32 only, and
// without convolutions of many channels, which are plain loops of the emulator.
func cardCases(p tensor.Precision) func(c conform.Case) bool {
	return func(c conform.Case) bool {
		switch {
		case !c.Large || !testing.Short():
			return true
		case p != tensor.FP32:
			return false
		}
		return !strings.HasPrefix(c.Op, "Conv") || c.Op == "ConvGradBias" ||
			c.Op == "ConvGradDataBias" && strings.Contains(c.Name, ",c=3,")
	}
}

// The other tests run threads and blocks in ascending order, these in descending order: a race between
// them shows as a difference. tf32 runs no kernel that neither fp32 nor bf16 runs.
func TestCUDA_ReverseOrder(t *testing.T) {
	t.Setenv(emulator.OrderVariable, "reverse")
	o := cardOptions
	o.Choose = conform.Small
	for _, p := range []tensor.Precision{tensor.FP32, tensor.BF16} {
		t.Run("cases/"+string(p), func(t *testing.T) {
			conform.Run(t, func(t testing.TB) kernels.Backend { return openCardIn(t, p) }, o)
		})
	}
	t.Run("fixtures", func(t *testing.T) { conform.RunFixtures(t, openCard) })
	t.Run("bfloat16", TestCUDA_BFloat16)
	t.Run("replay", TestCUDA_ReplaysACapturedStep)
}
