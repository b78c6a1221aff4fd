package vit

import (
	"math"
	"path/filepath"
	"testing"

	"nmn/kernels/tensor"
	"nmn/tools/conform"
)

// If a device rounds the operands of linear layers alone, features differ from PyTorch's in float32 by less than a
// hundredth of their spread, as the root of the mean square.
func TestTinyNet_RoundedProductsKeepFeatures(t *testing.T) {
	backend := conform.OpenForFeatures(t, 2, tensor.BF16)
	if backend.Formats().Maps != tensor.Float32 {
		t.Skip("the device rounds the activations too")
	}
	for _, fixture := range fixtures {
		for _, o := range outcomes(t, outPath(filepath.Join("testdata", fixture.name))) {
			n := tiny(t, backend, fixture.name, at(o.size[0], o.size[1]))
			p := upload(t, n, o.pixels)
			for l, want := range o.layers {
				got, off := features(t, n, p, l), make([]float32, len(want))
				for i := range off {
					off[i] = got[i] - want[i]
				}
				mean, worst := spread(off)/spread(want), farthest(got, want)/spread(want)
				if cosine := cosine(got, want); !(mean > 1e-5 && mean < 1e-2 && worst < 2e-2 && cosine > .9999) {
					t.Errorf("%s of %s at %v: off by %.2g of the spread, at worst %.2g, cosine %.7f", l, fixture.name, o.size,
						mean, worst, cosine)
				}
			}
		}
	}
}

// spread is the standard deviation of numbers.
func spread(numbers []float32) float64 {
	sum, squares, n := 0., 0., float64(len(numbers))
	for _, v := range numbers {
		sum, squares = sum+float64(v), squares+float64(v)*float64(v)
	}
	return math.Sqrt(squares/n - sum/n*sum/n)
}

func cosine(a, b []float32) float64 {
	aa, bb, ab := 0., 0., 0.
	for i, v := range a {
		x, y := float64(v), float64(b[i])
		aa, bb, ab = aa+x*x, bb+y*y, ab+x*y
	}
	return ab / math.Sqrt(aa*bb)
}

// Features in other precisions differ by a few roundings of its number format, and are float32.
func TestTinyNet_FeaturesInTF32AndBF16(t *testing.T) {
	for precision, rounding := range map[tensor.Precision]float64{tensor.TF32: 0x1p-11, tensor.BF16: 0x1p-9} {
		t.Run(string(precision), func(t *testing.T) {
			backend := conform.OpenForFeatures(t, 2, precision)
			for _, name := range []string{"timm_dinov2_reg4.safetensors", "hf_clip.safetensors"} {
				path := filepath.Join("testdata", name)
				o := outcomes(t, outPath(path))[0]
				n := tiny(t, backend, name, at(o.size[0], o.size[1]))
				p := upload(t, n, o.pixels)
				for l, want := range o.layers {
					off, norm := 0., 0.
					for i, v := range features(t, n, p, l) {
						d := float64(v) - float64(want[i])
						off, norm = off+d*d, norm+float64(want[i])*float64(want[i])
					}
					if off = math.Sqrt(off / norm); !(off < 8*rounding && off > rounding/256) {
						t.Errorf("%s of %s: off by %.2g of the norm, want up to %.2g", l, name, off, 8*rounding)
					}
				}
			}
		})
	}
}
