package vit

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/format/safetensors"
	"nmn/format/weights"
	"nmn/internal/expect"
	"nmn/kernels/tensor"
	"nmn/loader/picture"
)

// fixtures are the nets of testdata, as testdata/make.py has written them.
var fixtures = []struct {
	name   string
	layout Layout
}{
	{"torchvision.pth", Torchvision},
	{"timm.safetensors", Timm},
	{"timm_dinov2.pth", TimmDINOv2},
	{"timm_dinov2_reg4.safetensors", TimmDINOv2},
	{"timm_clip.safetensors", TimmCLIP},
	{"dinov2.safetensors", DINOv2},
	{"dinov2_reg4.safetensors", DINOv2},
	{"hf_dinov2.safetensors", HFDINOv2},
	{"hf_dinov2_reg4.safetensors", HFDINOv2},
	{"hf_clip.safetensors", HFCLIP},
	{"openai.safetensors", OpenAI},
}

// tinyHeads is the number of heads of the nets of testdata: no layout determines it for a width of 24.
const tinyHeads = 3

func openWeights(t testing.TB, path string) *weights.File {
	t.Helper()
	f, err := weights.Open(path)
	expect.OK(t, err)
	t.Cleanup(func() { expect.OK(t, f.Close()) })
	return f
}

// listed is a file with names and shapes alone. All elements are 0.
type listed struct {
	names  []string
	dtypes map[string]safetensors.DType
	shapes map[string][]int
}

func list() *listed {
	return &listed{dtypes: map[string]safetensors.DType{}, shapes: map[string][]int{}}
}

func (l *listed) add(dtype safetensors.DType, name string, shape ...int) {
	if l.shapes[name] == nil {
		l.names = append(l.names, name)
	}
	l.dtypes[name], l.shapes[name] = dtype, append([]int{}, shape...)
}

// without is the file but for a tensor.
func (l *listed) without(name string) *listed {
	other := list()
	for _, n := range l.names {
		if n != name {
			other.add(l.dtypes[n], n, l.shapes[n]...)
		}
	}
	return other
}

// with is the file with a tensor of another shape, or with one more.
func (l *listed) with(name string, shape ...int) *listed {
	other := l.without("")
	other.add(safetensors.F32, name, shape...)
	return other
}

func (l *listed) Names() []string { return l.names }

func (l *listed) Info(name string) (safetensors.DType, []int, error) {
	if l.shapes[name] == nil {
		return "", nil, fmt.Errorf("no %q: %w", name, safetensors.ErrNotFound)
	}
	return l.dtypes[name], slices.Clone(l.shapes[name]), nil
}

func (l *listed) Elements(string) (func([]float32) error, error) {
	return func(dst []float32) error { clear(dst); return nil }, nil
}

// listing reads the names and shapes of a file of testdata.
func listing(t testing.TB, name string) *listed {
	t.Helper()
	f := openWeights(t, filepath.Join("testdata", name))
	l := list()
	for _, n := range f.Names() {
		dtype, shape, err := f.Info(n)
		expect.OK(t, err)
		l.add(dtype, n, shape...)
	}
	return l
}

// timmNames are the tensors of a timm net with this number of blocks.
func timmNames(width, depth, hidden, patch, positions int) *listed {
	l := list()
	add := func(name string, shape ...int) { l.add(safetensors.F32, name, shape...) }
	add("cls_token", 1, 1, width)
	add("pos_embed", 1, positions, width)
	add("patch_embed.proj.weight", width, 3, patch, patch)
	add("patch_embed.proj.bias", width)
	for i := range depth {
		b := fmt.Sprintf("blocks.%d.", i)
		for _, norm := range []string{b + "norm1", b + "norm2"} {
			add(norm+".weight", width)
			add(norm+".bias", width)
		}
		linear := func(name string, out, in int) {
			add(b+name+".weight", out, in)
			add(b+name+".bias", out)
		}
		linear("attn.qkv", 3*width, width)
		linear("attn.proj", width, width)
		linear("mlp.fc1", hidden, width)
		linear("mlp.fc2", width, hidden)
	}
	add("norm.weight", width)
	add("norm.bias", width)
	return l
}

func recognised(t *testing.T, f Source) (Config, *Mapping) {
	t.Helper()
	c, m, err := Recognise(f)
	expect.OK(t, err)
	return c, m
}

// The kinds of the nets of testdata, their preparation of pictures, and the tensors of their files that are
// skipped.
func TestRecognise_EveryLayout(t *testing.T) {
	dino := Config{Patch: 7, Width: 24, Depth: 2, Hidden: 40, PatchBias: true, LayerScale: true, GELU: Exact,
		Epsilon: 1e-6, Grid: 4, Positioned: 1, Size: [2]int{224, 224}, Pictures: picture.DINOv2Preprocessing()}
	small := Config{Patch: 4, Width: 24, Depth: 2, Hidden: 40, PatchBias: true, GELU: Exact, Epsilon: 1e-6, Grid: 4,
		Positioned: 1, Size: [2]int{16, 16}, Resampling: Antialiased, Pictures: picture.Preprocessing{Resize: 17, Crop: 16,
			Filter: picture.FilterBicubic, Mean: [3]float32{.5, .5, .5}, Deviation: [3]float32{.5, .5, .5}}}
	clip := small
	clip.PatchBias, clip.PreNorm, clip.Epsilon, clip.Pictures = false, true, 1e-5, picture.CLIPPreprocessing().At(16)
	as := func(c Config, change func(*Config)) Config { change(&c); return c }
	want := map[string]Config{
		"torchvision.pth": as(small, func(c *Config) {
			c.Resampling, c.Pictures = Aligned, picture.DINOv2Preprocessing()
			c.Pictures.Resize, c.Pictures.Crop = 16, 16
		}),
		"timm.safetensors":      small,
		"timm_clip.safetensors": clip,
		"timm_dinov2.pth":       as(dino, func(c *Config) { c.Resampling = Antialiased }),
		"timm_dinov2_reg4.safetensors": as(dino, func(c *Config) {
			c.Registers, c.Positioned, c.Resampling = 4, 0, Antialiased
		}),
		"dinov2.safetensors":         as(dino, func(c *Config) { c.Resampling = Offset }),
		"dinov2_reg4.safetensors":    as(dino, func(c *Config) { c.Registers, c.Resampling = 4, Antialiased }),
		"hf_dinov2.safetensors":      as(dino, func(c *Config) { c.Hidden, c.Resampling = 48, Plain }),
		"hf_dinov2_reg4.safetensors": as(dino, func(c *Config) { c.Hidden, c.Registers, c.Resampling = 48, 4, Antialiased }),
		"hf_clip.safetensors":        as(clip, func(c *Config) { c.GELU, c.Resampling, c.Projection = Quick, Plain, 12 }),
		"openai.safetensors":         as(clip, func(c *Config) { c.GELU, c.Projection = Quick, 12 }),
	}
	unused := map[string][]string{
		"torchvision.pth":            {"heads.head.weight", "heads.head.bias"},
		"timm.safetensors":           {"head.bias", "head.weight"},
		"timm_clip.safetensors":      {"head.bias", "head.weight"},
		"dinov2.safetensors":         {"mask_token"},
		"dinov2_reg4.safetensors":    {"mask_token"},
		"hf_dinov2.safetensors":      {"embeddings.mask_token"},
		"hf_dinov2_reg4.safetensors": {"embeddings.mask_token"},
		"hf_clip.safetensors": {"logit_scale", "text_model.final_layer_norm.weight",
			"vision_model.embeddings.position_ids"},
		"openai.safetensors": {"logit_scale", "positional_embedding"},
	}
	for _, fixture := range fixtures {
		t.Run(fixture.name, func(t *testing.T) {
			f := openWeights(t, filepath.Join("testdata", fixture.name))
			c, m := recognised(t, f)
			expected := want[fixture.name]
			expected.Layout = fixture.layout
			if c != expected {
				t.Errorf("recognised as\n%+v, want\n%+v", c, expected)
			}
			slices.Sort(m.Unused)
			passed := slices.Sorted(slices.Values(unused[fixture.name]))
			if !slices.Equal(m.Unused, passed) {
				t.Errorf("passed over %q, want %q", m.Unused, passed)
			}
			used := len(m.Unused)
			for _, match := range m.Taken {
				used += len(match.Tensors)
			}
			if used != len(f.Names()) {
				t.Errorf("%d of %d tensors are accounted for", used, len(f.Names()))
			}
		})
	}
}

// Properties that tensors do not show come from the published nets of their size.
func TestRecognise_PublishedNets(t *testing.T) {
	for _, test := range []struct {
		name                string
		file                *listed
		layout              Layout
		heads, size, resize int
	}{
		{"vit_tiny_patch16_224", timmNames(192, 12, 768, 16, 197), Timm, 3, 224, 248},
		{"vit_base_patch16_224", timmNames(768, 12, 3072, 16, 197), Timm, 12, 224, 248},
		{"vit_base_patch16_384", timmNames(768, 1, 3072, 16, 577), Timm, 12, 384, 384},
		{"vit_large_patch32_384", timmNames(1024, 1, 4096, 32, 145), Timm, 16, 384, 384},
		{"deit3_base_patch16_224", timmNames(768, 1, 3072, 16, 196).with("blocks.0.ls1.gamma", 768).
			with("blocks.0.ls2.gamma", 768), TimmDINOv2, 12, 224, 224},
		{"vit_huge_patch14_224", timmNames(1280, 2, 5120, 14, 257), Timm, 16, 224, 248},
		{"vit_small_patch14_dinov2", timmNames(384, 12, 1536, 14, 1370).with("mask_token", 1, 384), DINOv2, 6, 224, 256},
		{"vit_large_patch14_clip_336", timmNames(1024, 1, 4096, 14, 577).with("norm_pre.weight", 1024).
			with("norm_pre.bias", 1024).without("patch_embed.proj.bias"), TimmCLIP, 16, 336, 336},
	} {
		c, _ := recognised(t, test.file)
		if c.Layout != test.layout || c.Heads != test.heads || c.Size[0] != test.size || c.Pictures.Resize != test.resize {
			t.Errorf("%s: %s, %d heads, %v of %d pixels", test.name, c.Layout, c.Heads, c.Size, c.Pictures.Resize)
		}
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// OpenAI's CLIP with the quick GELU ends at ViT-L. Wider ones come from others and have the exact form.
func TestRecognise_GELUOfWideCLIP(t *testing.T) {
	for width, want := range map[int]GELU{1024: Quick, 1280: Exact, 1664: Exact} {
		l := list()
		for name, shape := range map[string][]int{
			"embeddings.class_embedding": {width}, "embeddings.position_embedding.weight": {257, width},
			"embeddings.patch_embedding.weight": {width, 3, 14, 14}, "pre_layrnorm.weight": {width},
			"pre_layrnorm.bias":     {width},
			"post_layernorm.weight": {width}, "post_layernorm.bias": {width},
		} {
			l.add(safetensors.F32, name, shape...)
		}
		for _, part := range []string{"layer_norm1", "layer_norm2", "self_attn.q_proj", "self_attn.k_proj",
			"self_attn.v_proj",
			"self_attn.out_proj", "mlp.fc1", "mlp.fc2"} {
			l.add(safetensors.F32, "encoder.layers.0."+part+".bias", width)
			if l.add(safetensors.F32, "encoder.layers.0."+part+".weight", width, width); strings.HasPrefix(part, "layer") {
				l.add(safetensors.F32, "encoder.layers.0."+part+".weight", width)
			}
		}
		if c, _ := recognised(t, l); c.GELU != want || c.Layout != HFCLIP {
			t.Errorf("width %d: %s, GELU %s, want %s", width, c.Layout, c.GELU, want)
		}
	}
}

// Registers and the class token may both have positions, or the class token alone, or neither.
func TestRecognise_PositionsBeforeThePatches(t *testing.T) {
	for _, before := range []int{0, 1, 5} {
		c, _ := recognised(t, timmNames(384, 1, 1536, 14, 37*37+before).with("reg_token", 1, 4, 384))
		c.Size = [2]int{28, 28}
		if err := c.Validate(); err != nil || c.Positioned != before || c.Grid != 37 || c.Registers != 4 {
			t.Errorf("%d before the patches: %+v, %v", before, c, err)
		}
	}
}

// Skipped tensors may hold anything.
func TestRecognise_TextTowersMayBeOfAnyKind(t *testing.T) {
	_, m := recognised(t, listing(t, "hf_clip.safetensors").with("text_model.encoder.rope.weight", 3))
	if !slices.Contains(m.Unused, "text_model.encoder.rope.weight") {
		t.Errorf("passed over are %q", m.Unused)
	}
}

func TestName_IsThatOfPublications(t *testing.T) {
	for width, want := range map[int]string{384: "ViT-S/14", 1024: "ViT-L/14", 1408: "ViT-g/14", 640: "ViT-640/14"} {
		if got := (Config{Width: width, Patch: 14}).Name(); got != want {
			t.Errorf("width %d is %s, want %s", width, got, want)
		}
	}
}

// An error of the file itself is handed on as it is.
func TestRecognise_ErrorsOfTheFile(t *testing.T) {
	l := timmNames(384, 1, 1536, 14, 1370)
	for _, name := range l.names {
		if _, _, err := Recognise(&unreadable{l, name}); !errors.Is(err, errUnreadable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

var errUnreadable = errors.New("cannot be read")

// unreadable is a file with a tensor that cannot be read.
type unreadable struct {
	*listed
	name string
}

func (u *unreadable) Info(name string) (safetensors.DType, []int, error) {
	if name == u.name {
		return "", nil, errUnreadable
	}
	return u.listed.Info(name)
}

// A tensor that is missing, of another shape or one too many is an error that names it.
func TestRecognise_NamesTheTensorAtFault(t *testing.T) {
	for _, fixture := range fixtures {
		t.Run(fixture.name, func(t *testing.T) {
			l := listing(t, fixture.name)
			_, m := recognised(t, l)
			refused := func(what, name string, f Source) {
				t.Helper()
				_, _, err := Recognise(f)
				if err == nil || !errors.Is(err, ErrWeights) && !errors.Is(err, ErrOther) || !strings.Contains(err.Error(), name) {
					t.Errorf("%s %s: %v", what, name, err)
				}
			}
			for _, match := range m.Taken {
				for _, name := range match.Tensors {
					shape := slices.Clone(l.shapes[name])
					shape[len(shape)-1]++
					if match.transposed { // its last dimension may be any
						shape[0]++
					}
					refused("another shape of", name, l.with(name, shape...))
					other := l.without("")
					other.dtypes[name] = safetensors.I64
					refused("integers in", name, other)
					switch {
					case name == "patch_embed.proj.bias", name == "conv_proj.bias", strings.HasSuffix(name, "projection.bias"),
						match.Param == "projection", match.Param == "registers":
						continue // a net may be without
					case match.Param == "patch.weight", match.Param == "class", match.Param == "pre.weight",
						match.Param == "blocks.0.scale1", match.Param == "blocks.0.fc1.weight":
						continue // the layout or the parts of a block are recognised by it
					}
					refused("a file without", name, l.without(name))
				}
			}
			refused("one more:", "blocks.0.surprise", l.with("blocks.0.surprise", 3))
			for _, name := range l.names {
				if seventh := strings.Replace(name, "1.", "7.", 1); strings.HasSuffix(name, ".1.norm2.weight") {
					refused("block 7 without block 2:", ".2.", l.with(seventh, l.shapes[name]...))
				}
			}
		})
	}
}

// Parts that are not computed here are refused by their names.
func TestRecognise_RefusesOtherArchitectures(t *testing.T) {
	base := func() *listed { return timmNames(384, 1, 1536, 14, 1370) }
	for what, f := range map[string]*listed{
		"SwiGLU":                 base().with("mask_token", 1, 384).with("blocks.0.mlp.w12.weight", 2048, 384),
		"SwiGLU (as DINOv2's":    base().with("blocks.0.mlp.fc2.weight", 384, 768),
		"pooling by attention":   base().with("attn_pool.latent", 1, 1, 384),
		"queries and keys":       base().with("blocks.0.attn.q_norm.weight", 64),
		"distillation":           base().with("dist_token", 1, 1, 384),
		"square of patches":      base().with("pos_embed", 1, 1369+7, 384),
		"square patches":         base().with("patch_embed.proj.weight", 384, 3, 14, 16),
		"of pictures in colour":  base().with("patch_embed.proj.weight", 384, 1, 14, 14),
		"norm1.weight\" (blocks": timmNames(384, 0, 1536, 14, 1370),
		"norm after the mean":    base().without("norm.weight").with("fc_norm.weight", 384),
	} {
		_, _, err := Recognise(f)
		expect.Refusal(t, err, what, ErrWeights)
	}
	for _, f := range []*listed{list(), list().with("features.0.weight", 64, 3, 3, 3)} {
		if _, _, err := Recognise(f); !errors.Is(err, ErrOther) {
			t.Errorf("%v: %v", f.names, err)
		}
	}
}

// lines is a file as text, a tensor on each line.
func (l *listed) lines() string {
	var b strings.Builder
	for _, name := range l.names {
		fmt.Fprintf(&b, "%s %s %v\n", name, l.dtypes[name], l.shapes[name])
	}
	return b.String()
}

// parsed undoes lines; lines that are not tensors are left out.
func parsed(text string) *listed {
	l := list()
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		dtype, rest, _ := strings.Cut(rest, " ")
		var shape []int
		for _, word := range strings.Fields(strings.Trim(rest, "[]")) {
			d := 0
			if _, err := fmt.Sscan(word, &d); err == nil && d >= 0 {
				shape = append(shape, d)
			}
		}
		l.add(safetensors.DType(dtype), name, shape...)
	}
	return l
}

// Whatever names and shapes a file has, it is refused or all of it is accounted for, and a net can be made
// from the configuration.
func FuzzRecognise(f *testing.F) {
	for _, fixture := range fixtures {
		f.Add(listing(f, fixture.name).lines())
	}
	f.Add(timmNames(64, 1, 1, 1, 2).lines())
	f.Add("patch_embed.proj.weight F32 [0 3 0 0]\nblocks.9223372036854775807.x F32 [1]\n")
	f.Fuzz(func(t *testing.T, text string) {
		l := parsed(text)
		c, m, err := Recognise(l)
		if err != nil {
			if !errors.Is(err, ErrOther) && !errors.Is(err, ErrWeights) && !errors.Is(err, ErrSize) {
				t.Fatalf("an error of no kind: %v", err)
			}
			return
		}
		used := len(m.Unused)
		for _, match := range m.Taken {
			used += len(match.Tensors)
		}
		if used != len(l.names) {
			t.Fatalf("%d of %d tensors are accounted for", used, len(l.names))
		}
		if c.Heads == 0 {
			c.Heads = 1
		}
		if err := c.Validate(); err != nil && max(c.Width, c.Hidden, c.Registers, c.Projection, c.Grid, c.Patch) <= 1<<16 {
			t.Fatalf("%+v: %v", c, err)
		}
	})
}

// Numbers without information keep their kind.
func TestParsed_UndoesLines(t *testing.T) {
	l := listing(t, "timm.safetensors")
	if got := parsed(l.lines()).lines(); got != l.lines() || math.MaxInt32 < len(got) {
		t.Errorf("%s", got)
	}
	if n, err := tensor.Elements(l.shapes["cls_token"]); n != 24 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}
