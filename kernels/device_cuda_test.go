//go:build cuda && !emulate

package kernels_test

import (
	"errors"
	"os"
	"testing"

	"nmn/cuda"
	"nmn/cuda/cudnn"
	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/tools/conform"
)

// plansVariable is the environment variable that names a folder in which tests of a card keep plans of convolutions: to
// choose them takes most of their time. Empty for no folder.
const plansVariable = "NMN_TEST_PLANS"

// openCardIn opens the first graphics card. Without one it skips the test, unless NMN_REQUIRE names cuda.
func openCardIn(t testing.TB, p tensor.Precision) kernels.Backend {
	t.Helper()
	b, err := kernels.OpenCUDA(kernels.CUDAConfig{Precision: p,
		Plans: cudnn.Options{CacheFolder: os.Getenv(plansVariable)}})
	for _, absent := range []error{cuda.ErrNoDriver, cuda.ErrNoDevice, cuda.ErrOldDriver, cuda.ErrArchitecture,
		cudnn.ErrNoLibrary} {
		if errors.Is(err, absent) {
			conform.Skip(t, "cuda", err.Error())
		}
	}
	return opened(t, b, err)
}

// cardCases picks the usual cases of a precision.
func cardCases(tensor.Precision) func(c conform.Case) bool { return nil }
