package vit

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nmn/format/safetensors"
	"nmn/kernels/tensor"
	"nmn/loader/picture"
)

// Recognise finds by names and shapes which vision transformer a file holds, how it needs pictures, and which
// tensors make which parameters. It reads no element. An error wraps ErrOther if the file holds none. It
// wraps ErrWeights if a tensor is missing, has another shape, is unknown, or belongs to a part that is not
// computed here.
func Recognise(f Source) (Config, *Mapping, error) {
	r := reader{file: f, there: map[string]bool{}, used: map[string]bool{}}
	for _, name := range f.Names() {
		r.there[name] = true
	}
	l, prefix := find(func(name string) bool { return r.there[name] })
	if l == nil {
		return Config{}, nil, fmt.Errorf("vit: it has no tensor that identifies a vision transformer, such as %q or "+
			"%q: %w", layouts[0].mark, layouts[len(layouts)-1].mark, ErrOther)
	}
	r.layout, r.names, r.prefix = l, &l.names, prefix
	if err := r.refuseUnsupported(); err != nil {
		return Config{}, nil, err
	}
	c := r.config()
	if c.Depth == 0 {
		first := strings.Replace(r.names.block, "#", "0", 1) + r.names.norm1[0] + ".weight"
		r.missing("blocks.0.norm1.weight", []int{c.Width}, first)
	}
	for i := range c.Depth {
		if r.err != nil { // names can give any number of blocks
			break
		}
		r.block(&c, i)
	}
	r.norm("norm", r.names.norm, c.Width)
	if name := r.projection(); name != "" {
		c.Projection = r.projected(name, c.Width)
	}
	r.rest()
	if r.err != nil {
		return Config{}, nil, r.err
	}
	if err := c.validateSize(); err != nil { // of a file whose position embeddings are for none
		return Config{}, nil, err
	}
	return c, &r.mapping, nil
}

// reader takes one tensor after the other, and keeps the first error.
type reader struct {
	file        Source
	there, used map[string]bool
	layout      *layout
	names       *names
	prefix      string
	mapping     Mapping
	err         error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("vit: "+format+": %w", append(args, ErrWeights)...)
	}
}

// first is the first of some names that the file has, else "".
func (r *reader) first(all []string, ending string) string {
	for _, name := range all {
		if full := r.prefix + name + ending; r.there[full] {
			return full
		}
	}
	return ""
}

// shape returns the shape of a tensor, whose elements must be floats.
func (r *reader) shape(name string) []int {
	dtype, shape, err := r.file.Info(name)
	if err != nil {
		if r.err == nil {
			r.err = err
		}
		return nil
	}
	if !slices.Contains([]safetensors.DType{safetensors.F32, safetensors.F64, safetensors.F16, safetensors.BF16}, dtype) {
		r.fail("%q is %s, want F32, F64, F16 or BF16", name, dtype)
	}
	return shape
}

// take makes a parameter of tensors, which all have the wanted shape. Leading dimensions of 1 are left out.
func (r *reader) take(param string, want []int, tensors ...string) {
	m := Match{Param: param, Tensors: tensors}
	for _, name := range tensors {
		shape := r.shape(name)
		bare := shape
		for len(bare) > len(want) && bare[0] == 1 {
			bare = bare[1:]
		}
		if r.err == nil && !slices.Equal(bare, want) {
			r.fail("%q is %s in the file, and %s in this net", name, tensor.Format(shape), tensor.Format(want))
		}
		if r.err != nil {
			return
		}
		m.DType, _, _ = r.file.Info(name)
		m.Shape = shape
		r.used[name] = true
	}
	r.mapping.Taken = append(r.mapping.Taken, m)
}

// need is take of the first of some names that exists. One of them must exist.
func (r *reader) need(param string, want []int, all []string, ending string) {
	name := r.first(all, ending)
	if name == "" {
		r.missing(param, want, all[0]+ending)
		return
	}
	r.take(param, want, name)
}

func (r *reader) missing(param string, want []int, name string) {
	r.fail("the file has no %q (%s here, %s), which weights of this kind (%s) have", r.prefix+name, param,
		tensor.Format(want), r.layout.name)
}

func (r *reader) norm(param string, all []string, width int) {
	r.need(param+".weight", []int{width}, all, ".weight")
	r.need(param+".bias", []int{width}, all, ".bias")
}

func (r *reader) linear(param string, all []string, out, in int) {
	r.need(param+".weight", []int{out, in}, all, ".weight")
	r.need(param+".bias", []int{out}, all, ".bias")
}

// config takes the parts before the blocks.
func (r *reader) config() Config {
	k := &r.layout.known
	c := Config{
		Layout: r.layout.name, GELU: k.gelu, Epsilon: k.epsilon, Resampling: k.resampling, Pictures: k.pictures,
	}
	r.patches(&c)
	r.need("class", []int{c.Width}, r.names.class, "")
	if name := r.first(r.names.registers, ""); name != "" {
		if shape := r.shape(name); len(shape) >= 2 {
			c.Registers = shape[len(shape)-2]
		}
		r.take("registers", []int{c.Registers, c.Width}, name)
		if k.withRegisters != "" {
			c.Resampling = k.withRegisters
		}
	}
	r.positions(&c)
	if c.PreNorm = r.first(r.names.pre, ".weight") != ""; c.PreNorm {
		r.norm("pre", r.names.pre, c.Width)
	}
	c.Heads, c.Depth = heads(c.Width), r.depth()
	if c.GELU == Quick && c.Width >= 1280 { // OpenAI has published no such net
		c.GELU = Exact
	}
	size := c.Grid * c.Patch
	// timm's DeiT III, which also has LayerScale; DINOv2 has positions for 518
	deit3 := c.Layout == TimmDINOv2 && (size == 224 || size == 384)
	if k.fixed && !deit3 {
		return c.WithSize(k.pictures.Crop)
	}
	c = c.WithSize(size)
	if tuned := c.Layout == Torchvision && size != 224 || c.Layout == Timm && size == 384; tuned || deit3 {
		c.Pictures.Resize, c.Pictures.Filter = size, picture.FilterBicubic // the whole
	}
	return c
}

// patches takes the patch embedding. Its filter gives the size of a patch and the width of tokens.
func (r *reader) patches(c *Config) {
	name := r.first(r.names.patch, ".weight")
	shape := r.shape(name)
	if r.err != nil {
		return
	}
	if len(shape) != 4 || shape[1] != 3 || shape[2] != shape[3] || shape[0] < 1 || shape[2] < 1 {
		r.fail("%q is %s in the file, want D×3×P×P for square patches of pictures in colour", name, tensor.Format(shape))
		return
	}
	c.Width, c.Patch = shape[0], shape[2]
	r.take("patch.weight", shape, name)
	if bias := r.first(r.names.patch, ".bias"); bias != "" {
		c.PatchBias = true
		r.take("patch.bias", []int{c.Width}, bias)
	}
}

// positions takes the position embeddings. Some may belong to tokens before the patches.
func (r *reader) positions(c *Config) {
	name := r.first(r.names.position, "")
	if name == "" {
		r.missing("position", []int{1, c.Width}, r.names.position[0])
		return
	}
	shape := r.shape(name)
	count := 0
	if len(shape) >= 2 {
		count = shape[len(shape)-2]
	}
	order := []int{1, 0, 1 + c.Registers}
	if c.Registers > 0 && r.layout.name != HFDINOv2 && r.layout.name != DINOv2 {
		// timm gives no positions to the tokens before the patches if it has registers
		order = []int{0, 1, 1 + c.Registers}
	}
	for _, before := range order {
		if root := int(math.Sqrt(float64(count - before))); count > before && root*root == count-before {
			c.Grid, c.Positioned = root, before
			r.take("position", []int{count, c.Width}, name)
			return
		}
	}
	r.fail("%q is %s in the file: %d positions do not make a square of patches", name, tensor.Format(shape), count)
}

// depth is one more than the highest number of a block.
func (r *reader) depth() int {
	start, end, _ := strings.Cut(r.prefix+r.names.block, "#")
	depth := 0
	for name := range r.there {
		if rest, ok := strings.CutPrefix(name, start); ok {
			number, _, _ := strings.Cut(rest, end)
			if i, err := strconv.Atoi(number); err == nil && i >= depth && i < math.MaxInt32 {
				depth = i + 1
			}
		}
	}
	return depth
}

// block takes block i. The first block shows which parts there are.
func (r *reader) block(c *Config, i int) {
	start := strings.Replace(r.names.block, "#", strconv.Itoa(i), 1)
	in := func(all []string) []string {
		full := make([]string, len(all))
		for k, name := range all {
			full[k] = start + name
		}
		return full
	}
	d, to := c.Width, fmt.Sprintf("blocks.%d.", i)
	if i == 0 {
		c.LayerScale = r.first(in(r.names.scale1), "") != ""
		if name := r.first(in(r.names.fc1), ".weight"); name != "" {
			if shape := r.shape(name); len(shape) == 2 {
				c.Hidden = shape[0]
			}
			r.refusePacked(r.first(in(r.names.fc2), ".weight"), c.Hidden)
		}
	}
	r.norm(to+"norm1", in(r.names.norm1), d)
	r.attention(to+"qkv.", start, d)
	r.linear(to+"proj", in(r.names.out), d, d)
	r.norm(to+"norm2", in(r.names.norm2), d)
	r.linear(to+"fc1", in(r.names.fc1), c.Hidden, d)
	r.linear(to+"fc2", in(r.names.fc2), d, c.Hidden)
	if c.LayerScale {
		r.need(to+"scale1", []int{d}, in(r.names.scale1), "")
		r.need(to+"scale2", []int{d}, in(r.names.scale2), "")
	}
}

// attention takes the weights and biases of queries, keys and values, joined or apart.
func (r *reader) attention(param, start string, d int) {
	for _, kind := range [...]struct {
		name string
		in   []int
	}{{"weight", []int{d}}, {"bias", nil}} {
		if len(r.names.joined) > 0 {
			r.need(param+kind.name, append([]int{3 * d}, kind.in...), []string{start + r.names.joined[0]}, kind.name)
			continue
		}
		parts := r.names.apart[0]
		for _, other := range r.names.apart {
			if r.there[r.prefix+start+other[0]+"."+kind.name] {
				parts = other
			}
		}
		var full []string
		for _, part := range parts {
			name := start + part + "." + kind.name
			if !r.there[r.prefix+name] {
				r.missing(param+kind.name, append([]int{d}, kind.in...), name)
				return
			}
			full = append(full, r.prefix+name)
		}
		r.take(param+kind.name, append([]int{d}, kind.in...), full...)
	}
}

// projection is the name of CLIP's projection, which has no prefix.
func (r *reader) projection() string {
	for _, name := range r.names.projection {
		if r.there[name] {
			return name
		}
	}
	return ""
}

// projected takes the projection of width d and returns the width of the embedding.
func (r *reader) projected(name string, d int) int {
	shape := r.shape(name)
	want, width := []int{0, d}, 0
	if len(shape) == 2 {
		width = shape[0]
		want = []int{width, d}
		if r.names.transposed {
			width = shape[1]
			want = []int{d, width}
		}
	}
	r.take("projection", want, name)
	if r.err == nil {
		r.mapping.Taken[len(r.mapping.Taken)-1].transposed = r.names.transposed
	}
	return width
}

// rest sorts the remaining tensors into those that features do not need, and those that should not exist.
func (r *reader) rest() {
	for _, name := range r.file.Names() {
		switch {
		case r.used[name]:
		case r.names.isIdle(name), r.names.isIdle(strings.TrimPrefix(name, r.prefix)):
			r.mapping.Unused = append(r.mapping.Unused, name)
		default:
			r.fail("%q is no tensor of such a net (%s)", name, r.layout.name)
			return
		}
	}
}
