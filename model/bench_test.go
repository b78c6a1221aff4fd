package model

import (
	"fmt"
	"testing"
)

// A training step of the whole net, without loading and without the optimizer.
func BenchmarkStep(b *testing.B) {
	for _, c := range []struct {
		name  string
		batch int
		net   Config
	}{
		{"scenes", 32, Scenes(36, false)},
		{"scenes-mil", 32, Scenes(36, true)},
		{"vgg16-quarter", 4, VGG16(1000, false).Narrow(.25)},
	} {
		c.net.Noise = FeatureDependent
		b.Run(fmt.Sprintf("net=%s/batch=%d", c.name, c.batch), func(b *testing.B) {
			n := newNet(b, openCPU(b, 0), c.net)
			p := plan(b, n, c.batch, c.batch)
			fill(b, n, p, 0)
			flop := 0.0
			for _, l := range n.config.Layers() {
				flop += l.TrainFLOP
			}
			b.ReportAllocs()
			for b.Loop() {
				step(b, n, p, StepOptions{Scale: 1 / float32(c.batch), DropoutSeed: 9})
			}
			seconds := b.Elapsed().Seconds()
			b.ReportMetric(float64(b.N*c.batch)/seconds, "images/s")
			b.ReportMetric(flop*float64(b.N*c.batch)/seconds/1e9, "GFLOP/s")
		})
	}
}
