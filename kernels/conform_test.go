package kernels_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"nmn/internal/rng"
	"nmn/kernels"
	"nmn/kernels/simd"
	"nmn/tools/conform"
)

func openCPU(t testing.TB, threads int, level string) kernels.Backend {
	t.Helper()
	b, err := kernels.OpenCPU(kernels.CPUConfig{Threads: threads, SIMD: level})
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

// eachLevel runs a test on the CPU with every SIMD level, or with the level that NMN_SIMD names. It skips
// levels that this machine lacks, unless NMN_REQUIRE names them.
func eachLevel(t *testing.T, run func(t *testing.T, level string)) {
	t.Helper()
	for _, level := range []simd.Level{simd.Generic, simd.NEON, simd.AVX2, simd.AVX512} {
		if named := os.Getenv(simd.Environment); named != "" && named != level.String() {
			continue
		}
		t.Run(level.String(), func(t *testing.T) {
			if _, err := simd.Select(level.String()); errors.Is(err, simd.ErrLevel) {
				conform.Skip(t, level.String(), err.Error())
			}
			run(t, level.String())
		})
	}
}

// Each level is judged with one thread and with three, whose results must not differ, and with exact convolutions.
func TestCPU_Conforms(t *testing.T) {
	var devices []conform.Device
	eachLevel(t, func(_ *testing.T, level string) {
		devices = append(devices, conform.Device{
			Name: level,
			Open: func(t testing.TB) kernels.Backend { return openCPU(t, 1, level) },
			Options: conform.Options{
				Other:      func(t testing.TB) kernels.Backend { return openCPU(t, 3, level) },
				ZeroAllocs: true,
				Choose:     chosen,
			},
		}, conform.Device{
			Name: level + "_exact",
			Open: func(t testing.TB) kernels.Backend {
				b, err := kernels.OpenCPU(kernels.CPUConfig{Threads: 2, SIMD: level, ConvExact: true})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = b.Close() })
				return b
			},
			Options: conform.Options{Choose: func(c conform.Case) bool {
				return conform.Small(c) && chosen(c) && strings.HasPrefix(c.Op, "Conv")
			}},
		})
	})
	conform.RunAll(t, devices...)
}

// chosen picks all cases, under -short a quarter of the small ones and all refusals.
func chosen(c conform.Case) bool {
	return !testing.Short() || c.Refuse || conform.Small(c) && rng.Derive(1, c.Op+c.Name)%4 == 0
}

// BenchmarkCPU times the layers of the real network: op=…/shape/simd=…
func BenchmarkCPU(b *testing.B) {
	conform.Bench(b, func(t testing.TB) kernels.Backend { return openCPU(t, 0, "") }, conform.Options{})
}

func TestCPU_MeetsGoldenFixtures(t *testing.T) {
	eachLevel(t, func(t *testing.T, level string) {
		conform.RunFixtures(t, func(t testing.TB) kernels.Backend { return openCPU(t, 2, level) })
	})
}
