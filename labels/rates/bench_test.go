package rates

import (
	"fmt"
	"testing"
)

func BenchmarkEstimate(b *testing.B) {
	for _, size := range [][2]int{{5000, 20}, {80000, 1000}} {
		b.Run(fmt.Sprintf("bags=%d/classes=%d", size[0], size[1]), func(b *testing.B) {
			in := draw(1, size[0], size[1], -4, 2, always(.3), always(.02))
			for b.Loop() {
				if _, err := Estimate(b.Context(), in, DefaultOptions()); err != nil {
					b.Fatal(err)
				}
			}
			cells := float64(size[0]) * float64(size[1])
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/cells/200, "ns/cell/iteration")
		})
	}
}
