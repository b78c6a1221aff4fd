package kernels_test

import (
	"testing"

	"nmn/kernels"
	"nmn/tools/conform"
)

func TestCPU_SumsOverRanks(t *testing.T) {
	conform.RunReduce(t, func(t testing.TB) kernels.Backend {
		b, err := kernels.OpenCPU(kernels.CPUConfig{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		return b
	})
}
