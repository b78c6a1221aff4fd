//go:build cuda && emulate

package train

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"nmn/cuda"
	"nmn/cuda/cudnn"
	"nmn/cuda/nccl"
	"nmn/tools/emulator"
)

// TestMain replaces the driver, cuDNN and NCCL by the host emulator, unless the environment names
// one: without a C++ compiler the tests of graphics cards are skipped.
func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "emulator")
	if err == nil && os.Getenv(cuda.DriverVariable) == "" {
		err = emulator.Install(folder, "../kernels", cuda.DriverVariable, cudnn.LibraryVariable,
			nccl.LibraryVariable)
	}
	code := 1
	if err == nil || errors.Is(err, emulator.ErrCompiler) {
		code, err = m.Run(), nil
	}
	if err := errors.Join(err, os.RemoveAll(folder)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
