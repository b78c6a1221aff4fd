package kernels_test

import (
	"testing"

	"nmn/kernels"
	"nmn/tools/conform"
)

func TestCPU_SumsOverRanks(t *testing.T) {
	conform.RunReduce(t, func(t testing.TB) kernels.Backend { return conform.OpenCPU(t, 1) })
}
