package noise

import (
	"fmt"
	"testing"

	"nmn/kernels/simd"
	"nmn/tools/optest"
)

// BenchmarkNoiseStep times the whole step with per-bag confidences and all gradients. B/s counts the
// logits read and their gradient written: BenchmarkCopy is the floor.
func BenchmarkNoiseStep(b *testing.B) {
	sizes := []struct{ bags, cells, classes int }{{32, 1, 1000}, {32, 16, 36}, {1, 3744, 36}, {1, 3744, 1000}}
	for _, s := range sizes {
		for _, mil := range []bool{true, false} {
			b.Run(fmt.Sprintf("bags=%d/cells=%d/classes=%d/mil=%t", s.bags, s.cells, s.classes, mil), func(b *testing.B) {
				c := newTestCPU(b, 0)
				in := drawStep(b, 1, s.bags, s.cells, s.classes)
				out := in.newOutput(b)
				out.Observed, out.Posterior, out.BagLogit = nil, nil, nil
				b.SetBytes(int64(2 * in.logits.Bytes()))
				b.ReportAllocs()
				for b.Loop() {
					if err := c.NoiseStep(out, in.logits, in.confidence, in.labels, nil, StepParams{MIL: mil, Scale: 1}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(in.logits.Len()), "ns/instance")
			})
		}
	}
}

// BenchmarkCopy copies the number of bytes that the largest step of BenchmarkNoiseStep reads.
func BenchmarkCopy(b *testing.B) {
	from, to := make([]float32, 3744*1000), make([]float32, 3744*1000)
	b.SetBytes(int64(8 * len(from)))
	for b.Loop() {
		copy(to, from)
	}
}

// newTestCPU computes at the level of the environment, the best one by default.
func newTestCPU(t testing.TB, threads int) *CPU {
	return newCPUAt(t, threads, optest.Level(t))
}

func newCPUAt(t testing.TB, threads int, level simd.Level) *CPU {
	return NewCPU(optest.Device(t, threads), level)
}
