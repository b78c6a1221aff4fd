package recurrent

import (
	"testing"

	"nmn/internal/rng"
	"nmn/kernels/tensor"
	"nmn/tools/optest"
)

// The paper's sizes: 47 steps of 32 captions, and their 330 words.
const (
	steps, batch, hidden = 47, 32, 700
	wordRows, vocabulary = 330, 23647
)

func newBenchCPU(b *testing.B) *CPU { return NewCPU(optest.Device(b, 0), optest.Level(b)) }

// timed runs an operation and reports its arithmetic.
func timed(b *testing.B, flop float64, f func() error) {
	b.Helper()
	optest.Must(b, f())
	b.ReportAllocs()
	for b.Loop() {
		if err := f(); err != nil {
			b.Fatal(err)
		}
	}
	if flop > 0 {
		b.ReportMetric(flop*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
	}
}

func BenchmarkLSTM(b *testing.B) {
	c, stream := newBenchCPU(b), rng.New(1)
	normal := func(deviation float64, shape ...int) *tensor.Tensor {
		return optest.Normal(b, &stream, deviation, shape...)
	}
	gates, wh := normal(1, steps, batch, 4*hidden), normal(.03, 4*hidden, hidden)
	h, cell, dh := normal(1, steps, batch, hidden), normal(1, steps, batch, hidden), normal(1, steps, batch, hidden)
	flop := 8. * hidden * hidden * batch * (steps - 1)
	b.Run("pass=forward", func(b *testing.B) {
		timed(b, flop, func() error { return c.LSTM(h, cell, gates, wh, nil, nil) })
	})
	b.Run("pass=backward", func(b *testing.B) {
		timed(b, flop, func() error { return c.LSTMGrad(gates, dh, cell, wh, nil, nil, nil, nil) })
	})
}

func BenchmarkCrossEntropy(b *testing.B) {
	c, stream := newBenchCPU(b), rng.New(2)
	normal := func(deviation float64, shape ...int) *tensor.Tensor {
		return optest.Normal(b, &stream, deviation, shape...)
	}
	h, w, bias := normal(1, wordRows, hidden), normal(.03, vocabulary, hidden), normal(1, vocabulary)
	loss, dh, dw, db := normal(1, wordRows), normal(1, wordRows, hidden), normal(1, vocabulary, hidden),
		normal(1, vocabulary)
	words := make([]int32, wordRows)
	for i := range words {
		words[i] = int32(stream.Intn(vocabulary))
	}
	targets := optest.Ints(b, words...)
	const flop = 2. * wordRows * hidden * vocabulary
	b.Run("gradients=false", func(b *testing.B) {
		timed(b, flop, func() error { return c.CrossEntropy(loss, nil, nil, nil, h, w, bias, targets, 1) })
	})
	b.Run("gradients=true", func(b *testing.B) { // the logits are computed twice, and counted once
		timed(b, 3*flop, func() error { return c.CrossEntropy(loss, dh, dw, db, h, w, bias, targets, 1) })
	})
}

func BenchmarkEmbed(b *testing.B) {
	c, stream := newBenchCPU(b), rng.New(3)
	table, rows := optest.Normal(b, &stream, 1, vocabulary, 300), optest.Normal(b, &stream, 1, wordRows, 300)
	words := make([]int32, wordRows)
	for i := range words {
		words[i] = int32(stream.Intn(vocabulary))
	}
	ids := optest.Ints(b, words...)
	b.Run("pass=forward", func(b *testing.B) { timed(b, 0, func() error { return c.Embed(rows, table, ids) }) })
	b.Run("pass=backward", func(b *testing.B) { timed(b, 0, func() error { return c.EmbedGrad(table, rows, ids) }) })
}

func BenchmarkLogSoftmax(b *testing.B) {
	c, stream := newBenchCPU(b), rng.New(4)
	x := optest.Normal(b, &stream, 1, batch, vocabulary)
	b.SetBytes(int64(2 * x.Bytes()))
	timed(b, 0, func() error { return c.LogSoftmax(x) })
}
