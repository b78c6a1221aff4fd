//go:build cuda

package kernels_test

import (
	"testing"

	"nmn/kernels/conform"
)

// What a device does not promise that the CPU does.
var cardOptions = conform.Options{UncheckedBags: true}

func TestCUDA_Conforms(t *testing.T) { conform.Run(t, openCard, cardOptions) }

func TestCUDA_MeetsGoldenFixtures(t *testing.T) { conform.RunFixtures(t, openCard) }

// BenchmarkCUDA times the layers of the real network: op=…/shape
func BenchmarkCUDA(b *testing.B) { conform.Bench(b, openCard, cardOptions) }
