package ref

import (
	"math"
	"testing"
)

func TestLayerNorm_RowsHaveMeanAndDeviationOfTheirs(t *testing.T) {
	const d = 9
	x, gain, bias := wave(3*d, 0), make([]float64, d), make([]float64, d)
	for i := range gain {
		gain[i], bias[i] = 2, 5
	}
	y := LayerNorm(x, gain, bias, d, 0)
	for row := 0; row < len(y); row += d {
		mean, squares := 0.0, 0.0
		for _, v := range y[row : row+d] {
			mean += v / d
			squares += (v - 5) * (v - 5) / d
		}
		near(t, "mean", mean, 5, 1e-12)
		near(t, "variance", squares, 4, 1e-12)
	}
}

func TestGELU_KnownAnswers(t *testing.T) {
	for i, want := range []float64{-.15865525393145707, 0, .8413447460685429, 1.9544997361036416} {
		x := float64(i - 1)
		near(t, "exact", GELU([]float64{x})[0], want, 1e-14)
		near(t, "tanh", GELUTanh([]float64{x})[0], x*(1+math.Tanh(math.Sqrt(2/math.Pi)*(x+.044715*x*x*x)))/2, 1e-14)
		near(t, "quick", GELUQuick([]float64{x})[0], x/(1+math.Exp(-1.702*x)), 1e-14)
	}
}

// Two tokens and one head of one number: the weights are a sigmoid of the difference of the logits.
func TestAttention_OfTwoTokens(t *testing.T) {
	y := Attention([]float64{2, 1, 10, -1, 3, 20}, 1, 2, 1, 1)
	near(t, "first", y[0], 10+10*Sigmoid(2*3-2*1), 1e-13)
	near(t, "second", y[1], 10+10*Sigmoid(-1*3+1), 1e-13)
	scaled := Attention([]float64{2, 0, 0, 0, 1, 0, 0, 0, 10, 0, 0, 0, -1, 0, 0, 0, 3, 0, 0, 0, 20, 0, 0, 0}, 1, 2, 4, 1)
	near(t, "wider", scaled[0], 10+10*Sigmoid((2*3-2*1)/2.), 1e-13)
}

func TestPatchEmbed_IsAConvolutionOfEachPatch(t *testing.T) {
	const n, h, w, c, p, k = 2, 4, 6, 3, 2, 5
	x, filter, b := wave(n*h*w*c, 0), wave(k*p*p*c, 1), wave(k, 2)
	y := PatchEmbed(x, filter, b, n, h, w, c, p, k)
	every := Conv{N: n, H: h, W: w, C: c, K: k, R: p, S: p}
	full := every.Forward(x, filter, b)
	at := 0
	for bag := range n {
		for row := 0; row < h; row += p {
			for column := 0; column < w; column += p {
				for out := range k {
					near(t, "patch", y[at], full[index4(every.P(), every.Q(), k, bag, row, column, out)], 1e-13)
					at++
				}
			}
		}
	}
	if at != len(y) {
		t.Errorf("%d numbers, want %d", len(y), at)
	}
}
