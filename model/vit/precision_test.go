package vit

import (
	"math"
	"path/filepath"
	"testing"

	"nmn/kernels/tensor"
	"nmn/tools/conform"
)

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
