package backbone

import (
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/model"
	"nmn/tools/conform"

	dense "gorgonia.org/tensor"
)

// Options set properties that tensors do not show, and change the net's output.
func TestOpen_Options(t *testing.T) {
	backend, path := conform.OpenCPU(t, 2), smallTransformer(t)
	pixels, stream := make([]uint8, 32*32*3), rng.New(1)
	for i := range pixels {
		pixels[i] = uint8(stream.Uint64())
	}
	features := func(o Options) ([]float32, *Info) {
		t.Helper()
		net, err := Open(path, o, backend)
		if err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		defer net.Close()
		row := make([]float32, 64)
		host := dense.New(dense.WithShape(1, 32, 32, 3), dense.WithBacking(pixels))
		expect.OK(t, net.Features(host, []model.Layer{"mean"}, [][]float32{row}))
		return row, net.Info()
	}
	plain, info := features(Options{})
	if info.GELU != "exact" || info.Heads != 1 || !strings.Contains(info.String(), "1 heads, GELU exact") {
		t.Errorf("%s", info)
	}
	half, third := []float32{.5, .5, .5}, []float32{.3, .3, .3}
	for name, o := range map[string]Options{
		"GELU": {GELU: "quick"}, "heads": {Heads: 4}, "mean": {Mean: third}, "deviation": {Deviation: third},
	} {
		if row, _ := features(o); slices.Equal(row, plain) {
			t.Errorf("the %s changes no feature", name)
		}
	}
	row, info := features(Options{GELU: "exact", Heads: 1, Mean: half, Deviation: half, Resize: 40})
	if !slices.Equal(row, plain) || info.Pictures.Resize != 40 || info.Pictures.Crop != 32 {
		t.Errorf("what the layout has, said again, gives other features, or not those pictures: %s", info)
	}
}

func TestOptions_OutOfRange(t *testing.T) {
	backend, path := conform.OpenCPU(t, 2), smallTransformer(t)
	nan := float32(0)
	nan /= nan
	for want, o := range map[string]Options{
		"`net.input_size`":         {Size: -1},
		"`net.backbone_resize`":    {Resize: 1 << 20},
		"cannot be cut out":        {Resize: 8},
		"of red, green and blue":   {Mean: []float32{.5}},
		"from 0 to 1":              {Deviation: []float32{58, 57, 57}},
		"`net.backbone_deviation`": {Deviation: []float32{.2, 0, .2}},
		"`net.backbone_mean`":      {Mean: []float32{.5, nan, .5}},
		"`net.backbone_gelu`":      {GELU: "swish"},
		"`net.backbone_heads`":     {Heads: -2},
		"do not divide a width":    {Heads: 7},
	} {
		expect.Refusal(t, expect.ErrorOf(Recognise(path, o, backend)), want)
	}
	none := Options{GELU: "quick"}
	expect.Refusal(t, none.convolutions("VGG16"), "has no GELU")
	if none = (Options{Heads: 3}); none.convolutions("VGG16") == nil {
		t.Error("a net of convolutions has heads")
	}
}
