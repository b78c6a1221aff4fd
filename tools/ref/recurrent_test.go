package ref

import (
	"math"
	"slices"
	"testing"
)

func TestLSTM_GradientsAreThoseOfForward(t *testing.T) {
	for _, l := range []LSTM{{T: 1, N: 1, H: 1}, {T: 3, N: 2, H: 3}, {T: 4, N: 1, H: 2}} {
		projected, wh := wave(l.T*l.N*4*l.H, 0), wave(4*l.H*l.H, 1)
		h0, c0 := wave(l.N*l.H, 2), wave(l.N*l.H, 3)
		dh, dcLast := wave(l.T*l.N*l.H, 4), wave(l.N*l.H, 5)
		loss := func() float64 {
			h, c, _ := l.Forward(projected, wh, h0, c0)
			return Dot(dh, h) + Dot(dcLast, c[(l.T-1)*l.N*l.H:])
		}
		_, c, gates := l.Forward(projected, wh, h0, c0)
		da, dh0, dc0 := l.Backward(gates, dh, c, wh, c0, dcLast)
		for what, g := range map[string]struct{ at, got []float64 }{"da": {projected, da}, "dh0": {h0, dh0},
			"dc0": {c0, dc0}} {
			for i := range g.got {
				near(t, what, g.got[i], Central(loss, g.at, i, 1e-4), 1e-7)
			}
		}
	}
}

func TestLSTM_NoStateIsZero(t *testing.T) {
	l := LSTM{T: 2, N: 2, H: 2}
	projected, wh, zero := wave(l.T*l.N*4*l.H, 0), wave(4*l.H*l.H, 1), make([]float64, l.N*l.H)
	h, c, gates := l.Forward(projected, wh, nil, nil)
	h1, c1, gates1 := l.Forward(projected, wh, zero, zero)
	if !slices.Equal(h, h1) || !slices.Equal(c, c1) || !slices.Equal(gates, gates1) {
		t.Error("a state of 0 and none differ")
	}
}

func TestEmbed_GradientIsThatOfForward(t *testing.T) {
	const v, d = 4, 3
	words := []int32{2, -1, 0, 2, 3}
	table, dy := wave(v*d, 0), wave(len(words)*d, 1)
	got := EmbedGrad(dy, words, v, d)
	for i := range got {
		near(t, "dtable", got[i], Central(func() float64 { return Dot(dy, Embed(table, words, d)) }, table, i, 1e-3), 1e-9)
	}
	if y := Embed(table, words, d); !slices.Equal(y[d:2*d], make([]float64, d)) || !slices.Equal(y[:d], table[2*d:3*d]) {
		t.Errorf("rows of words %v: %v", words, y)
	}
}

func TestEntropy_GradientsAreThoseOfTheLosses(t *testing.T) {
	e, targets, scale := Entropy{M: 4, V: 5, D: 3}, []int32{4, -1, 0, 2}, .7
	h, w, b := wave(e.M*e.D, 0), wave(e.V*e.D, 1), wave(e.V, 2)
	loss := func() float64 {
		sum := 0.0
		for _, l := range e.Losses(h, w, b, targets) {
			sum += scale * l
		}
		return sum
	}
	dh, dw, db := e.Gradients(h, w, b, targets, scale)
	for what, g := range map[string]struct{ at, got []float64 }{"dh": {h, dh}, "dw": {w, dw}, "db": {b, db}} {
		for i := range g.got {
			near(t, what, g.got[i], Central(loss, g.at, i, 1e-4), 1e-7)
		}
	}
}

func TestLogSoftmax_KnownAnswers(t *testing.T) {
	got := LogSoftmax([]float64{0, 0, 1e4, 1e4 - 800, math.Log(3), 0}, 2)
	for i, want := range []float64{-math.Ln2, -math.Ln2, 0, -800, math.Log(.75), math.Log(.25)} {
		near(t, "log-softmax", got[i], want, 1e-14)
	}
}
