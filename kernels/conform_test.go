package kernels_test

import (
	"cmp"
	"errors"
	"os"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/kernels"
	"nmn/kernels/simd"
	"nmn/kernels/tensor"
	"nmn/tools/conform"
)

func openCPU(t testing.TB, threads int, level string) kernels.Backend {
	t.Helper()
	return openCPUIn(t, threads, level, tensor.FP32)
}

func openCPUIn(t testing.TB, threads int, level string, p tensor.Precision) kernels.Backend {
	t.Helper()
	b, err := kernels.OpenCPU(kernels.CPUConfig{Threads: threads, SIMD: level, Precision: p})
	return opened(t, b, err)
}

// levels are the SIMD levels that are tested: all of this machine, or the one that NMN_SIMD names. Levels that this
// machine lacks are skipped, unless NMN_REQUIRE names them.
func levels(t *testing.T) (names []string) {
	t.Helper()
	for _, level := range []simd.Level{simd.Generic, simd.NEON, simd.AVX2, simd.AVX512} {
		if named := os.Getenv(simd.Environment); named != "" && named != level.String() {
			continue
		}
		if _, err := simd.Select(level.String()); errors.Is(err, simd.ErrLevel) {
			t.Run(level.String(), func(t *testing.T) { conform.Skip(t, level.String(), err.Error()) })
			continue
		}
		names = append(names, level.String())
	}
	return names
}

// Each level is judged with one thread and with three, whose results must not differ, and with exact convolutions.
func TestCPU_Conforms(t *testing.T) {
	var devices []conform.Device
	for _, level := range levels(t) {
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
				return opened(t, b, err)
			},
			Options: conform.Options{Choose: func(c conform.Case) bool {
				return conform.Small(c) && chosen(c) && strings.HasPrefix(c.Op, "Conv")
			}},
		})
	}
	conform.RunAll(t, devices...)
}

// Linear layers in bfloat16 are judged at the level that has instructions for it. The reference rounds their operands
// too, so that results are as near as float32's.
func TestCPU_ConformsInBFloat16(t *testing.T) {
	level, err := simd.Select(simd.AVX512.String())
	if err = cmp.Or(err, level.BFloat16()); err != nil {
		conform.Skip(t, string(tensor.BF16), err.Error())
	}
	conform.RunAll(t, conform.Device{
		Open: func(t testing.TB) kernels.Backend { return openCPUIn(t, 1, level.String(), tensor.BF16) },
		Options: conform.Options{
			Other:      func(t testing.TB) kernels.Backend { return openCPUIn(t, 3, level.String(), tensor.BF16) },
			ZeroAllocs: true,
			Choose: func(c conform.Case) bool {
				return strings.HasSuffix(c.Op, "Linear") && (!testing.Short() || !c.Large)
			},
		},
	})
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
	for _, level := range levels(t) {
		t.Run(level, func(t *testing.T) {
			conform.RunFixtures(t, func(t testing.TB) kernels.Backend { return openCPU(t, 2, level) })
		})
	}
}

// opened is a backend that is closed when the test ends.
func opened(t testing.TB, b kernels.Backend, err error) kernels.Backend {
	t.Helper()
	expect.OK(t, err)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}
