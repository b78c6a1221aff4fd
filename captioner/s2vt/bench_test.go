package s2vt

import (
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
)

// paperBatch is a batch of 32 clips of 26 frames with 1,000 concepts. The mean length of its captions is
// about the mean of MSR-VTT, 9.3 words.
func paperBatch(c Config) *Batch {
	stream, b := rng.New(4), &Batch{}
	for i := range 32 {
		features := make([]float32, c.Frames*c.Features)
		for j := range features {
			features[j] = float32(stream.Float64())
		}
		words := make([]int32, 5+(i*13)%10)
		for j := range words {
			words[j] = int32(Reserved + stream.Intn(c.Vocabulary-Reserved))
		}
		b.Features, b.Captions, b.Samples = append(b.Features, features), append(b.Captions, words),
			append(b.Samples, i)
	}
	return b
}

// A training step at the paper's sizes, without the optimizer.
func BenchmarkStep(b *testing.B) {
	c := Paper(1000, 23647)
	n, batch := newNet(b, openCPU(b, "", 0), c), paperBatch(c)
	run(b, n, batch, 0)
	b.ReportAllocs()
	for b.Loop() {
		run(b, n, batch, 9)
	}
	b.ReportMetric(float64(b.N*len(batch.Captions))/b.Elapsed().Seconds(), "captions/s")
}

// Captions of 8 clips by a beam of 5, of 12 words.
func BenchmarkBeam(b *testing.B) {
	c := Paper(1000, 23647)
	n := newNet(b, openCPU(b, "", 0), c)
	clips := paperBatch(c).Features[:8]
	for b.Loop() {
		_, err := n.Beam(clips, BeamOptions{Width: 5, MaxLength: 12, LengthPenalty: 1})
		expect.OK(b, err)
	}
	b.ReportMetric(float64(b.N*len(clips))/b.Elapsed().Seconds(), "clips/s")
}
