package vit

import (
	"bytes"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"nmn/format/safetensors"
	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/kernels"
	"nmn/model/param"
	"nmn/tools/conform"

	dense "gorgonia.org/tensor"
)

// tiny is a net of testdata for inputs of a size, on a backend.
func tiny(t testing.TB, backend kernels.Backend, name string, change func(*Config)) *Net {
	t.Helper()
	f := openWeights(t, filepath.Join("testdata", name))
	c, m, err := Recognise(f)
	expect.OK(t, err)
	c.Heads = tinyHeads
	if change != nil {
		change(&c)
	}
	return loaded(t, backend, c, f, m)
}

// at sets the size of the input.
func at(h, w int) func(*Config) { return func(c *Config) { c.Size = [2]int{h, w} } }

// noise draws pixels for this number of pictures.
func noise(c Config, pictures int) []uint8 {
	pixels, stream := make([]uint8, pictures*c.Size[0]*c.Size[1]*3), rng.New(3)
	for i := range pixels {
		pixels[i] = uint8(stream.Uint64())
	}
	return pixels
}

// A picture's features do not depend on the others of its batch, on the batches before, or on the number of threads.
func TestFeatures_OfAPictureAreItsOwn(t *testing.T) {
	for _, l := range []Layer{Class, Mean, ClassMean, Embedding} {
		n := tiny(t, conform.OpenCPU(t, 1), "hf_clip.safetensors", nil)
		other := tiny(t, conform.OpenCPU(t, 3), "hf_clip.safetensors", nil)
		c := n.Config()
		width, err := c.LayerWidth(l)
		expect.OK(t, err)
		pixels := noise(c, 5)
		one := len(pixels) / 5
		all := features(t, n, upload(t, n, pixels), l)
		for i := range 5 {
			want := all[i*width:][:width]
			if got := features(t, n, upload(t, n, pixels[i*one:][:one]), l); !slices.Equal(got, want) {
				t.Errorf("%s: picture %d alone is off by %.2g", l, i, farthest(got, want))
			}
		}
		if got := features(t, other, upload(t, other, pixels), l); !slices.Equal(got, all) {
			t.Errorf("%s: another number of threads is off by %.2g", l, farthest(got, all))
		}
	}
}

// Features does the same in one call.
func TestFeatures_InOneCall(t *testing.T) {
	n := tiny(t, conform.OpenCPU(t, 1), "hf_clip.safetensors", nil)
	pixels := noise(n.Config(), 2)
	p := upload(t, n, pixels)
	class, embedding := features(t, n, p, Class), features(t, n, p, Embedding)
	rows := [][]float32{make([]float32, len(embedding)), make([]float32, len(class))}
	host := dense.New(dense.WithShape(2, 16, 16, 3), dense.WithBacking(pixels))
	if err := n.Features(host, []Layer{Embedding, Class}, rows); err != nil || !slices.Equal(rows[0], embedding) ||
		!slices.Equal(rows[1], class) {
		t.Errorf("other numbers, %v", err)
	}
	if err := n.Features(host, []Layer{Class}, rows); err == nil {
		t.Error("layers without room")
	}
	if err := n.Features(dense.New(dense.WithShape(2, 8, 8, 3), dense.WithBacking(pixels[:2*8*8*3])), nil,
		nil); err == nil {
		t.Error("pictures of another size")
	}
}

// The class token comes before the mean of the patches.
func TestExtract_ClassBesideMean(t *testing.T) {
	for _, name := range []string{"timm.safetensors", "dinov2_reg4.safetensors"} {
		n := tiny(t, conform.OpenCPU(t, 1), name, nil)
		p := upload(t, n, noise(n.Config(), 2))
		class, mean, both := features(t, n, p, Class), features(t, n, p, Mean), features(t, n, p, ClassMean)
		want := slices.Concat(class[:24], mean[:24], class[24:], mean[24:])
		if !slices.Equal(both, want) {
			t.Errorf("%s: %v, want %v", name, both, want)
		}
	}
}

func TestExtract_RefusesWhatIsNotThere(t *testing.T) {
	n := tiny(t, conform.OpenCPU(t, 1), "timm.safetensors", nil)
	p := upload(t, n, noise(n.Config(), 2))
	for _, test := range []struct {
		rows  int
		layer Layer
		want  string
	}{{48, Embedding, "no projection"}, {48, "pool5", `layer "pool5"`}, {47, Class, "2×24"}} {
		err := n.Extract(make([]float32, test.rows), p, test.layer)
		expect.Refusal(t, err, test.want)
	}
}

// Each kind of interpolation gives features of its own, so that the tests against PyTorch distinguish them.
func TestResample_KindsDiffer(t *testing.T) {
	kinds := []Interpolation{Plain, Antialiased, Offset, Aligned}
	for _, size := range [][2]int{{24, 24}, {12, 8}} {
		var seen [][]float32
		for _, kind := range kinds {
			n := tiny(t, conform.OpenCPU(t, 1), "timm.safetensors", func(c *Config) { c.Size, c.Resampling = size, kind })
			got := features(t, n, upload(t, n, noise(n.Config(), 1)), Class)
			for i, other := range seen {
				if off := farthest(got, other); off < 1e-3 {
					t.Errorf("at %v %q and %q differ by %.2g alone", size, kind, kinds[i], off)
				}
			}
			seen = append(seen, got)
		}
	}
}

// A constant stays constant: the weights of each cell add up to 1.
func TestResample_KeepsAConstant(t *testing.T) {
	values := slices.Repeat([]float32{3, -2}, 5*5)
	for _, kind := range []Interpolation{Plain, Antialiased, Offset, Aligned} {
		for _, size := range [][2]int{{1, 1}, {2, 9}, {5, 4}, {37, 16}} {
			got := kind.resample(values, 5, size[0], size[1], 2)
			if want := slices.Repeat([]float32{3, -2}, size[0]*size[1]); farthest(got, want) > 1e-6 {
				t.Errorf("%s to %v: %v", kind, size, got)
			}
		}
		if got := kind.resample(values, 5, 5, 5, 2); !slices.Equal(got, values) {
			t.Errorf("%s changes a grid that fits", kind)
		}
	}
}

// The forms of GELU give features of their own.
func TestForward_GELUs(t *testing.T) {
	var seen [][]float32
	for _, kind := range []GELU{Exact, Tanh, Quick} {
		n := tiny(t, conform.OpenCPU(t, 1), "timm_clip.safetensors", func(c *Config) { c.GELU = kind })
		got := features(t, n, upload(t, n, noise(n.Config(), 1)), Class)
		for _, other := range seen {
			if off := farthest(got, other); off < 1e-5 {
				t.Errorf("%s is another form by %.2g alone", kind, off)
			}
		}
		seen = append(seen, got)
	}
}

func TestNew_RefusesSizesAndForms(t *testing.T) {
	backend := conform.OpenCPU(t, 1)
	base, _ := recognised(t, listing(t, "timm_dinov2.pth"))
	base.Heads = tinyHeads
	for _, test := range []struct {
		change func(*Config)
		want   string
	}{
		{at(30, 28), "patches of 7 pixels do not divide a height of 30 (28 or 35 would do)"},
		{at(28, 6), "a width of 6 pixels is smaller than a patch of 7"},
		{at(0, 28), "smaller than a patch"},
		{at(28, 7<<20), "at most 16384"},
		{func(c *Config) { c.Heads = 0 }, "net.backbone_heads"},
		{func(c *Config) { c.Heads = 5 }, "5 heads do not divide a width of 24"},
		{func(c *Config) { c.GELU = "swish" }, `gelu is "swish"`},
		{func(c *Config) { c.Epsilon = float32(math.NaN()) }, "epsilon"},
		{func(c *Config) { c.Pictures.Deviation[1] = 0 }, "deviation"},
		{func(c *Config) { c.Resampling = "linear" }, `"linear"`},
		{func(c *Config) { c.Depth = -1 }, "depth is -1"},
		{func(c *Config) { c.Positioned = 3 }, "3 of 1 tokens"},
	} {
		c := base
		test.change(&c)
		n, err := New(c, backend)
		if err == nil {
			err = errors.Join(n.Close(), errors.New("taken"))
		}
		expect.Refusal(t, err, test.want)
	}
	if c := base.WithSize(448); c.Size != [2]int{448, 448} || c.Pictures.Resize != 512 {
		t.Errorf("%v of %d pixels", c.Size, c.Pictures.Resize)
	}
}

// A number that is none is an error with the name of its tensor.
func TestLoad_RefusesNaN(t *testing.T) {
	f, err := safetensors.Open(filepath.Join("testdata", "hf_clip.safetensors"))
	expect.OK(t, err)
	t.Cleanup(func() { _ = f.Close() })
	for _, name := range []string{"vision_model.encoder.layers.1.self_attn.k_proj.bias",
		"vision_model.embeddings.position_embedding.weight", "visual_projection.weight"} {
		var all []safetensors.Tensor
		for _, n := range f.Names() {
			values, shape, err := f.Float32(n)
			if err != nil {
				continue // integers
			}
			if n == name {
				values[7] = float32(math.Inf(-1))
			}
			all = append(all, safetensors.Tensor{Name: n, Shape: shape, Data: values})
		}
		var b bytes.Buffer
		expect.OK(t, safetensors.Write(&b, nil, all))
		broken, err := safetensors.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
		expect.OK(t, err)
		c, m := recognised(t, broken)
		c.Heads = tinyHeads
		n, err := New(c, conform.OpenCPU(t, 1))
		expect.OK(t, err)
		err = n.Load(broken, m)
		expect.Refusal(t, err, "element 7 of "+name, param.ErrNumber)
		expect.OK(t, n.Close())
	}
}

// The mapping of a file of another net does not pass.
func TestLoad_RefusesAnothersMapping(t *testing.T) {
	f, other := listing(t, "timm.safetensors"), listing(t, "timm_dinov2.pth")
	_, m := recognised(t, other)
	c, own := recognised(t, f)
	c.Heads = tinyHeads
	short := *own
	short.Taken = slices.DeleteFunc(slices.Clone(own.Taken), func(m Match) bool { return m.Param == "blocks.1.fc2.bias" })
	pathless := *own
	pathless.Taken = slices.DeleteFunc(slices.Clone(own.Taken), func(m Match) bool { return m.Param == "position" })
	for i, mapping := range []*Mapping{m, &short, &pathless} {
		n, err := New(c, conform.OpenCPU(t, 1))
		expect.OK(t, err)
		from := Source(f)
		if i == 0 {
			from = other
		}
		expect.Refusal(t, n.Load(from, mapping), "", ErrWeights)
		expect.OK(t, n.Close())
	}
}

// Batches of known sizes allocate nothing, and a smaller one fits in the memory of a larger one.
func TestPlan_TakesMemoryOnce(t *testing.T) {
	n := tiny(t, conform.OpenCPU(t, 2), "hf_clip.safetensors", nil)
	if _, err := n.Plan(0); err == nil {
		t.Error("a batch of nothing")
	}
	pixels := noise(n.Config(), 4)
	p := upload(t, n, pixels)
	bytes := n.Bytes()
	if buffers := n.PlanBytes(4); buffers != n.buffers.Bytes() {
		t.Errorf("%d bytes are foretold, %d taken", buffers, n.buffers.Bytes())
	}
	small, err := n.Plan(3)
	if err != nil || n.Bytes() != bytes {
		t.Fatalf("a smaller batch moves %d to %d bytes, %v", bytes, n.Bytes(), err)
	}
	rows := make([]float32, 4*24)
	step := func() {
		for _, p := range []*Plan{p, small} {
			if again, err := n.Plan(p.N); err != nil || again != p {
				t.Fatal(err)
			}
			expect.OK(t, errors.Join(n.Forward(p), n.Extract(rows[:p.N*24], p, Class)))
		}
	}
	step()
	if allocations := testing.AllocsPerRun(5, step); allocations > 0 {
		t.Errorf("%v allocations for two batches", allocations)
	}
	if _, err := n.Plan(min(1<<40, math.MaxInt)); err == nil {
		t.Error("a batch that no memory holds")
	}
}
