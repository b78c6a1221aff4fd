package model

import (
	"math"
	"testing"

	"nmn/internal/expect"
	"nmn/kernels/tensor"
	"nmn/tools/conform"
	"nmn/tools/ref"
)

// extracted downloads the output of a layer for the bags of a plan.
func extracted(t *testing.T, n *Net, p *Plan, l Layer) []float32 {
	t.Helper()
	width, err := n.config.LayerWidth(l)
	expect.OK(t, err)
	arena := tensor.NewArena(n.backend)
	defer arena.Close()
	room, err := arena.Alloc(tensor.Float32, p.Bags, width)
	expect.OK(t, err)
	rows, err := n.Extract(room, p, l)
	expect.OK(t, err)
	got := values(t, n, rows)
	if len(got) != p.Bags*width {
		t.Fatalf("%s: %d values for %d bags of %d", l, len(got), p.Bags, width)
	}
	return got
}

// plainMean is the mean of a map over the cells of all frames of each bag.
func plainMean(t *testing.T, n *Net, m *tensor.Tensor, offsets []int) []float64 {
	t.Helper()
	shape := ref.Map{T: m.Dim(0), H: m.Dim(1), W: m.Dim(2), C: m.Dim(3)}
	return ref.BagMean(shape, widen(values(t, n, m)), offsets)
}

func checkNear(t *testing.T, name string, got []float32, want []float64) {
	t.Helper()
	some := false
	for i, w := range want {
		if math.Abs(float64(got[i])-w) > 1e-5*(1+math.Abs(w)) {
			t.Fatalf("%s: value %d is %v, want %v", name, i, got[i], w)
		}
		some = some || w != 0
	}
	if !some {
		t.Errorf("%s is 0 everywhere, which tests nothing", name)
	}
}

func TestExtract_IsTheMeanOfTheLayerWhateverTheNoiseModelPools(t *testing.T) {
	params, f := conform.LoadFixture(t, "tiny_net_params"), conform.LoadFixture(t, "tiny_net")
	for _, noise := range []NoiseMode{NoNoise, FeatureDependent} {
		n, p := tiny(t, params, params.Input("x"), params.Input("z"), func(c *Config) {
			c.Noise, c.NoisePool = noise, "max"
		})
		expect.OK(t, n.Forward(p, false))
		f.Expected("g").Check(t, extracted(t, n, p, Pool5))
		f.Expected("p").Check(t, extracted(t, n, p, Probabilities))
		offsets := make([]int, p.Bags+1)
		for i := range offsets {
			offsets[i] = i
		}
		checkNear(t, "fc7", extracted(t, n, p, FC7), plainMean(t, n, p.chunks[0].hidden[1].y, offsets))
	}
}

func TestExtract_JoinsTheFramesOfABag(t *testing.T) {
	params := conform.LoadFixture(t, "tiny_net_params")
	x := params.Input("x")
	n, whole := tiny(t, params, x, params.Input("z"), func(*Config) {})
	p := plan(t, n, whole.Frames, 1)
	conform.Put(t, n.backend, p.X, x.NHWC().Float32s())
	put(t, n, p.Offsets, []int32{0, int32(p.Frames)})
	expect.OK(t, n.Forward(p, false))
	offsets := []int{0, p.Frames}
	checkNear(t, "pool5", extracted(t, n, p, Pool5), plainMean(t, n, p.Features, offsets))
	checkNear(t, "fc7", extracted(t, n, p, FC7), plainMean(t, n, p.chunks[0].hidden[1].y, offsets))
}

func TestExtract_RefusesNetsOnFeaturesAndUnknownLayers(t *testing.T) {
	expect.Refusal(t, expect.ErrorOf(MLP(8, 3, []int{4}).LayerWidth(FC7)), "8 features")
	expect.Refusal(t, expect.ErrorOf(Scenes(3, false).LayerWidth("pool9")), "pool9")
}
