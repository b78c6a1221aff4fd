//go:build cuda

package kernels_test

import (
	"testing"

	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/tools/conform"
)

// cardOptions leave out checks of the CPU that a card does not make.
var cardOptions = conform.Options{UncheckedValues: true}

// Every precision of the card, float32 first.
var cardPrecisions = []tensor.Precision{tensor.FP32, tensor.TF32, tensor.BF16}

// openCard opens the card in float32.
func openCard(t testing.TB) kernels.Backend { return openCardIn(t, tensor.FP32) }

// The card is judged by all cases in every precision.
func TestCUDA_Conforms(t *testing.T) {
	for _, p := range cardPrecisions {
		t.Run(string(p), func(t *testing.T) {
			o := cardOptions
			o.Choose = cardCases(p)
			conform.Run(t, func(t testing.TB) kernels.Backend { return openCardIn(t, p) }, o)
		})
	}
}

func TestCUDA_MeetsGoldenFixtures(t *testing.T) { conform.RunFixtures(t, openCard) }

// BenchmarkCUDA times the layers of the real network: op=…/shape
func BenchmarkCUDA(b *testing.B) { conform.Bench(b, openCard, cardOptions) }
