//go:build unix

package conv

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"nmn/internal/expect"
	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// resnet50 are the shapes of convolutions of ResNet-50 at 224 pixels, and how often it has each. Those that end a
// block add its shortcut.
var resnet50 = []struct {
	name  string
	times int
	add   bool
	shape
}{
	{"stem", 1, false, shape{8, 224, 224, 3, 64, 7, 7, 3, 2}},
	{"1_reduce_first", 1, false, shape{8, 56, 56, 64, 64, 1, 1, 0, 1}},
	{"1_reduce", 2, false, shape{8, 56, 56, 256, 64, 1, 1, 0, 1}},
	{"1_3x3", 3, false, shape{8, 56, 56, 64, 64, 3, 3, 1, 1}},
	{"1_expand", 3, true, shape{8, 56, 56, 64, 256, 1, 1, 0, 1}},
	{"1_project", 1, false, shape{8, 56, 56, 64, 256, 1, 1, 0, 1}},
	{"2_reduce_first", 1, false, shape{8, 56, 56, 256, 128, 1, 1, 0, 1}},
	{"2_3x3_stride", 1, false, shape{8, 56, 56, 128, 128, 3, 3, 1, 2}},
	{"2_project", 1, false, shape{8, 56, 56, 256, 512, 1, 1, 0, 2}},
	{"2_reduce", 3, false, shape{8, 28, 28, 512, 128, 1, 1, 0, 1}},
	{"2_3x3", 3, false, shape{8, 28, 28, 128, 128, 3, 3, 1, 1}},
	{"2_expand", 4, true, shape{8, 28, 28, 128, 512, 1, 1, 0, 1}},
	{"3_reduce_first", 1, false, shape{8, 28, 28, 512, 256, 1, 1, 0, 1}},
	{"3_3x3_stride", 1, false, shape{8, 28, 28, 256, 256, 3, 3, 1, 2}},
	{"3_project", 1, false, shape{8, 28, 28, 512, 1024, 1, 1, 0, 2}},
	{"3_reduce", 5, false, shape{8, 14, 14, 1024, 256, 1, 1, 0, 1}},
	{"3_3x3", 5, false, shape{8, 14, 14, 256, 256, 3, 3, 1, 1}},
	{"3_expand", 6, true, shape{8, 14, 14, 256, 1024, 1, 1, 0, 1}},
	{"4_reduce_first", 1, false, shape{8, 14, 14, 1024, 512, 1, 1, 0, 1}},
	{"4_3x3_stride", 1, false, shape{8, 14, 14, 512, 512, 3, 3, 1, 2}},
	{"4_project", 1, false, shape{8, 14, 14, 1024, 2048, 1, 1, 0, 2}},
	{"4_reduce", 2, false, shape{8, 7, 7, 2048, 512, 1, 1, 0, 1}},
	{"4_3x3", 2, false, shape{8, 7, 7, 512, 512, 3, 3, 1, 1}},
	{"4_expand", 3, true, shape{8, 7, 7, 512, 2048, 1, 1, 0, 1}},
}

// processors is the time that processors have spent on this program.
func processors(b *testing.B) time.Duration {
	var usage syscall.Rusage
	expect.OK(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkResNet50 measures the convolutions of ResNet-50 one by one on two threads, for 8 pictures.
// bench/resnet_convs.py times the same in PyTorch.
func BenchmarkResNet50(b *testing.B) {
	for _, l := range resnet50 {
		for _, pass := range []string{"forward", "data", "filter"} {
			b.Run(fmt.Sprintf("layer=%s/times=%d/pass=%s", l.name, l.times, pass), func(b *testing.B) {
				if l.C == 3 && pass == "data" {
					b.Skip("pictures get no gradient")
				}
				dev := tensor.NewCPU(2, "best")
				defer dev.Close()
				levels := simd.Levels()
				c := NewCPU(dev, levels[len(levels)-1], false)
				x, w, bias, y := newProblem(l.shape).tensors(b)
				dx, dw := of(b, make([]float32, x.Len()), x.Shape()...), of(b, make([]float32, w.Len()), w.Shape()...)
				p := Params{Pad: l.Pad, Stride: l.Stride, ReLU: true}
				op := func() error { return c.Conv(y, x, w, bias, p) }
				switch {
				case pass == "data":
					p.Accumulate = strings.Contains(l.name, "reduce") // to the gradient of the shortcut
					op = func() error { return c.ConvGradData(dx, y, w, x, p) }
				case pass == "filter":
					op = func() error { return c.ConvGradFilter(dw, x, y, p) }
				case l.add:
					shortcut := of(b, make([]float32, y.Len()), y.Shape()...)
					op = func() error { return c.ConvAdd(y, x, w, bias, shortcut, p) }
				}
				expect.OK(b, op())
				began, least := processors(b), time.Hour
				for b.Loop() {
					before := processors(b)
					expect.OK(b, op())
					least = min(least, processors(b)-before)
				}
				flop := 2 * float64(y.Len()) * float64(l.R*l.S*l.C)
				busy := (processors(b) - began).Seconds() / float64(b.N)
				b.ReportMetric(1e3*least.Seconds(), "least-busy-ms/op")
				b.ReportMetric(flop*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
				b.ReportMetric(1e3*busy, "busy-ms/op")
				b.ReportMetric(flop/busy/1e9, "GFLOP/busy-s")
			})
		}
	}
}
