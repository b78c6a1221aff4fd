package measure

import (
	"errors"
	"testing"

	"nmn/model/vit"
	"nmn/run"
)

// The number of weights equals that of the nets with these names.
func TestTransformers_AreTheNetsOfTheirNames(t *testing.T) {
	for name, want := range map[run.NetName]struct {
		net     string
		layout  vit.Layout
		size, b int
	}{
		ViTS14: {"ViT-S/14", vit.TimmDINOv2, 224, 22_056_192}, ViTB16: {"ViT-B/16", vit.Timm, 224, 85_798_656},
		ViTL14: {"ViT-L/14", vit.TimmDINOv2, 224, 304_367_616},
	} {
		w := newRandomWeights(name)
		c, mapping, err := Transformer{Name: name}.recognise(w)
		check(t, err)
		if c.Name() != want.net || c.Layout != want.layout || c.Size != [2]int{want.size, want.size} ||
			len(mapping.Unused) != 0 {
			t.Errorf("%s is %s (%s) for %v pixels, without %v", name, c.Name(), c.Layout, c.Size, mapping.Unused)
		}
		numbers := 0
		for _, shape := range w.shapes {
			n := 1
			for _, d := range shape {
				n *= d
			}
			numbers += n
		}
		if numbers != want.b {
			t.Errorf("%s has %d parameters, want %d", name, numbers, want.b)
		}
	}
	if err := (Transformer{Name: ViTS14, Batch: 1, Size: 225}).Validate(); !errors.Is(err, vit.ErrSize) {
		t.Errorf("225 pixels: %v", err)
	}
	if _, _, err := newRandomWeights(ViTS14).Info("head.weight"); err == nil {
		t.Error("a tensor that is not there has a shape")
	}
}
