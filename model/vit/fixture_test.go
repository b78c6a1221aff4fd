package vit

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/format/safetensors"
	"nmn/internal/expect"
	"nmn/kernels"
	"nmn/tools/conform"

	dense "gorgonia.org/tensor"
)

// loaded is a net of a configuration with the weights of a file.
func loaded(t testing.TB, backend kernels.Backend, c Config, f Source, m *Mapping) *Net {
	t.Helper()
	n, err := New(c, backend)
	expect.OK(t, err)
	t.Cleanup(func() { expect.OK(t, n.Close()) })
	for range 2 { // a second pass must leave the same result
		expect.OK(t, n.Load(f, m))
	}
	return n
}

// upload puts pixels into a plan for their number of pictures.
func upload(t testing.TB, n *Net, pixels []uint8) *Plan {
	t.Helper()
	c := n.Config()
	p, err := n.Plan(len(pixels) / (c.Size[0] * c.Size[1] * 3))
	expect.OK(t, err)
	expect.OK(t, n.backend.Upload(p.Pixels, dense.New(dense.WithShape(len(pixels)), dense.WithBacking(pixels))))
	return p
}

// features returns the features of a layer after Forward.
func features(t testing.TB, n *Net, p *Plan, l Layer) []float32 {
	t.Helper()
	width, err := n.Config().LayerWidth(l)
	expect.OK(t, err)
	expect.OK(t, n.Forward(p))
	rows := make([]float32, p.N*width)
	expect.OK(t, n.Extract(rows, p, l))
	return rows
}

// outcome is the result of another program with a net: pixels and features for some sizes of the input.
type outcome struct {
	size   [2]int
	pixels []uint8
	layers map[Layer][]float32
}

func outcomes(t testing.TB, path string) (all []outcome) {
	t.Helper()
	f, err := safetensors.Open(path)
	expect.OK(t, err)
	defer func() { expect.OK(t, f.Close()) }()
	for _, name := range f.Names() {
		size, ok := strings.CutSuffix(name, ".pixels")
		if !ok {
			continue
		}
		o := outcome{layers: map[Layer][]float32{}}
		expect.OK(t, expect.ErrorOf(fmt.Sscanf(size, "%dx%d", &o.size[0], &o.size[1])))
		stored, err := f.Bytes(name)
		expect.OK(t, err)
		if o.pixels, err = io.ReadAll(stored); err != nil {
			t.Fatal(err)
		}
		for _, l := range []Layer{Class, Mean, Embedding} {
			if name := size + "." + string(l); f.Has(name) {
				if o.layers[l], _, err = f.Float32(name); err != nil {
					t.Fatal(err)
				}
			}
		}
		all = append(all, o)
	}
	if len(all) == 0 {
		t.Fatalf("%s has no pictures", path)
	}
	slices.SortFunc(all, func(a, b outcome) int { return a.size[0]*a.size[1] - b.size[0]*b.size[1] })
	return all
}

// outPath is the path of the outcome for a file of weights.
func outPath(path string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + "_out.safetensors"
}

// farthest is the largest difference.
func farthest(got, want []float32) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	most := 0.
	for i, v := range got {
		if d := math.Abs(float64(v) - float64(want[i])); !(d <= most) {
			most = d
		}
	}
	return most
}

// compare compares features of a file of weights with the outcome of its program. heads 0 leaves them as
// recognised.
func compare(t *testing.T, backend kernels.Backend, path string, heads int, most float64) {
	t.Helper()
	f := openWeights(t, path)
	c, m, err := Recognise(f)
	expect.OK(t, err)
	if heads > 0 {
		c.Heads = heads
	}
	for _, o := range outcomes(t, outPath(path)) {
		c.Size = o.size
		n := loaded(t, backend, c, f, m)
		p := upload(t, n, o.pixels)
		for l, want := range o.layers {
			if off := farthest(features(t, n, p, l), want); !(off <= most) {
				t.Errorf("%s of %v: off by %.2g, at most %.2g", l, o.size, off, most)
			} else {
				t.Logf("%s of %v: off by %.2g", l, o.size, off)
			}
		}
	}
}

// Features equal the results of torchvision, timm, transformers and the original programs, at the size of the
// training and at others.
func TestTinyNet_FeaturesAreThoseOfPyTorch(t *testing.T) {
	backend := conform.OpenDevice(t, 2)
	for _, fixture := range fixtures {
		t.Run(fixture.name, func(t *testing.T) {
			compare(t, backend, filepath.Join("testdata", fixture.name), tinyHeads, 1e-5)
		})
	}
}
