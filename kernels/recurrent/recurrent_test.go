package recurrent

import (
	"errors"
	"math"
	"strings"
	"testing"

	"nmn/internal/rng"
	"nmn/kernels/simd"
	"nmn/kernels/tensor"
	"nmn/tools/optest"
)

// problem is a layer and a softmax of some size, with everything that they compute.
type problem struct {
	h, cell, gates, wh, dh                *tensor.Tensor
	loss, dRows, dw, db, rows, w, bias, t *tensor.Tensor
}

func newProblem(t *testing.T, l Layer, e Lookup) problem {
	stream := rng.New(7)
	normal := func(shape ...int) *tensor.Tensor { return optest.Normal(t, &stream, .5, shape...) }
	targets := make([]int32, e.M)
	for m := range targets {
		targets[m] = int32(stream.Intn(e.V+e.V/4)) - int32(e.V/4) // some none
	}
	return problem{
		h: optest.Floats(t, nil, l.T, l.N, l.H), cell: optest.Floats(t, nil, l.T, l.N, l.H), gates: normal(l.T, l.N, 4*l.H),
		wh: normal(4*l.H, l.H), dh: normal(l.T, l.N, l.H),
		loss: optest.Floats(t, nil, e.M), dRows: optest.Floats(t, nil, e.M, e.D), dw: optest.Floats(t, nil, e.V, e.D),
		db: optest.Floats(t, nil, e.V), rows: normal(e.M, e.D), w: normal(e.V, e.D), bias: normal(e.V),
		t: optest.Ints(t, targets...),
	}
}

// results are all numbers that come out.
func (p problem) results(t *testing.T, c *CPU) (all []float32) {
	gates := append([]float32(nil), p.gates.Float32s()...)
	optest.Must(t, c.LSTM(p.h, p.cell, p.gates, p.wh, nil, nil), c.LSTMGrad(p.gates, p.dh, p.cell, p.wh, nil,
		nil, nil, nil),
		c.CrossEntropy(p.loss, p.dRows, p.dw, p.db, p.rows, p.w, p.bias, p.t, .5))
	for _, x := range []*tensor.Tensor{p.h, p.cell, p.gates, p.loss, p.dRows, p.dw, p.db} {
		all = append(all, x.Float32s()...)
	}
	copy(p.gates.Float32s(), gates)
	return all
}

func sameBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i, v := range want {
		if math.Float32bits(got[i]) != math.Float32bits(v) {
			t.Fatalf("%s: number %d is %g, want %g", what, i, got[i], v)
		}
	}
}

// Vocabularies of several groups of blocks are included. The last block is cut.
func TestCPU_ThreadsChangeNoBit(t *testing.T) {
	p := newProblem(t, Layer{T: 3, N: 5, H: 37}, Lookup{M: 70, V: 30_011, D: 19})
	var first []float32
	var of simd.Level
	optest.EachHost(func(level simd.Level, threads int) {
		got := p.results(t, NewCPU(optest.Device(t, threads), level))
		if first == nil || of != level {
			first, of = got, level
		}
		sameBits(t, level.String(), got, first)
	})
}

// Scratch memory is kept from call to call. The rest of a larger or smaller problem must not show.
func TestCPU_ForgetsEarlierCalls(t *testing.T) {
	small := newProblem(t, Layer{T: 2, N: 3, H: 5}, Lookup{M: 4, V: 50, D: 6})
	wide := newProblem(t, Layer{T: 2, N: 40, H: 6}, Lookup{M: 90, V: 20, D: 7})
	large := newProblem(t, Layer{T: 4, N: 13, H: 40}, Lookup{M: 33, V: 5000, D: 33})
	for _, level := range simd.Levels() {
		c := NewCPU(optest.Device(t, 2), level)
		for _, p := range []problem{small, large, wide, small, wide, large, small} {
			sameBits(t, level.String(), p.results(t, c), p.results(t, NewCPU(optest.Device(t, 2), level)))
		}
	}
}

func TestCPU_NamesTheWordThatIsNotThere(t *testing.T) {
	c := NewCPU(optest.Device(t, 1), optest.Level(t))
	p := newProblem(t, Layer{T: 1, N: 1, H: 1}, Lookup{M: 3, V: 5, D: 2})
	before := append([]float32(nil), p.w.Float32s()...)
	words := optest.Ints(t, 0, -1, 5)
	for name, err := range map[string]error{
		"embedding":                 c.Embed(p.rows, p.w, words),
		"gradient of the embedding": c.EmbedGrad(p.w, p.rows, words),
		"softmax cross-entropy":     c.CrossEntropy(p.loss, nil, nil, nil, p.rows, p.w, p.bias, words, 1),
	} {
		if !errors.Is(err, ErrWord) || !strings.Contains(err.Error(), name+": row 2 has word 5 of a vocabulary of 5") {
			t.Errorf("%s: %v", name, err)
		}
	}
	sameBits(t, "the table", p.w.Float32s(), before)
}

// Rows without a target are left out, and change no bit of the others.
func TestCrossEntropy_RowsWithoutATargetDoNotMatter(t *testing.T) {
	const v, d = 301, 9
	stream := rng.New(3)
	w, bias := optest.Normal(t, &stream, 1, v, d), optest.Normal(t, &stream, 1, v)
	rows := optest.Normal(t, &stream, 1, 4, d)
	run := func(h *tensor.Tensor, targets ...int32) (loss, dh, dw []float32) {
		m := len(targets)
		l, g, gw, gb := optest.Floats(t, nil, m), optest.Floats(t, nil, m, d), optest.Floats(t, nil, v, d),
			optest.Floats(t, nil, v)
		optest.Must(t, NewCPU(optest.Device(t, 2), optest.Level(t)).CrossEntropy(l, g, gw, gb, h, w, bias,
			optest.Ints(t, targets...), 1))
		return l.Float32s(), g.Float32s(), gw.Float32s()
	}
	loss, dh, dw := run(rows, 7, -1, -1, 300)
	alone := optest.Floats(t, append(append([]float32(nil), rows.Float32s()[:d]...), rows.Float32s()[3*d:]...), 2, d)
	fewLoss, fewDH, fewDW := run(alone, 7, 300)
	sameBits(t, "loss", []float32{loss[0], loss[3]}, fewLoss)
	sameBits(t, "dh", append(append([]float32(nil), dh[:d]...), dh[3*d:]...), fewDH)
	sameBits(t, "dw", dw, fewDW)
	sameBits(t, "without a target", append(loss[1:3], dh[d:3*d]...), make([]float32, 2+2*d))
}

// Sums of several tasks. The last one is cut.
func TestAdd_AllElements(t *testing.T) {
	const n = 2*addLength + 5
	dst, src := make([]float32, n), make([]float32, n)
	for i := range n {
		dst[i], src[i] = float32(i), float32(2*i)
	}
	optest.Must(t, NewCPU(optest.Device(t, 3), optest.Level(t)).Add(optest.Vector(t, dst...), optest.Vector(t, src...)))
	for i, v := range dst {
		if v != float32(3*i) {
			t.Fatalf("element %d is %g", i, v)
		}
	}
}
