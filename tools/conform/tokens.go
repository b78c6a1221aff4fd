package conform

import (
	"nmn/kernels"
	"nmn/tools/ref"
)

func addScaledCases() []Case {
	var list []Case
	for i, shape := range [][]int{{1, 1}, {2, 3, 5}, {3, 16}, {4, 17}, {1, 2, 2, 33}, {40, 1000}} {
		for _, scaled := range []bool{false, true} {
			list = append(list, addScaledCase(shape, scaled, [...]string{"none", "x", "r"}[i%3], false))
		}
	}
	list = append(list, addScaledCase([]int{4, 257, 384}, true, "r", true))
	good := map[string][]int{"y": {2, 3, 5}, "x": {2, 3, 5}, "r": {2, 3, 5}, "scale": {5}}
	for _, wrong := range []wrongShape{{"y", []int{2, 3, 4}}, {"x", []int{6, 5}}, {"r", []int{2, 4, 5}},
		{"scale", []int{3}}, {"scale", []int{5, 1}}} {
		list = append(list, refuse("AddScaled", wrong.name+"_"+dimensions(wrong.shape), func(*values) *call {
			o := blanks(good, wrong)
			return &call{operands: []*operand{o["y"], o["x"], o["r"], o["scale"]}, run: func(k kernels.Backend) error {
				return k.AddScaled(o["y"].t, o["x"].t, o["r"].t, o["scale"].t)
			}}
		}))
	}
	return list
}

// addScaledCase writes to its own memory, or to the memory of x or r.
func addScaledCase(shape []int, scaled bool, over string, large bool) Case {
	name := named("shape=%s,scale=%v,over=%s", dimensions(shape), scaled, over)
	return Case{Op: "AddScaled", Name: name, Large: large, build: func(v *values) *call {
		width, length := shape[len(shape)-1], blank(shape...).length()
		x, r := input("x", v.normal(length), shape...).computed(), input("r", v.normal(length), shape...).computed()
		var scale *operand
		var factors []float64
		if scaled {
			scale = input("scale", full(v, width), width)
			factors = wide(scale.float32s)
		}
		y := output("y", ref.AddScaled(wide(x.float32s), wide(r.float32s), factors, width), pointwise(2e-7, 1e-6),
			shape...).computed()
		switch over {
		case "x":
			y.float32s, x = x.float32s, y
		case "r":
			y.float32s, r = r.float32s, y
		}
		operands := []*operand{y}
		for _, o := range present(x, r, scale) {
			if o != y {
				operands = append(operands, o)
			}
		}
		return &call{operands: operands, run: func(k kernels.Backend) error {
			return k.AddScaled(y.t, x.t, r.t, bound(scale))
		}}
	}}
}

func tokenCases() []Case {
	var list []Case
	for i, shape := range [][]int{{1, 1, 1}, {2, 3, 5}, {3, 4, 16}, {1, 256, 33}} { // N, L, D
		for prefix := range 3 {
			list = append(list, tokenCase(shape, prefix*prefix, i%2 == 0 || prefix == 2))
		}
	}
	list = append(list, tokenCase([]int{300, 1, 100}, 1, true))
	good := map[string][]int{"y": {2, 4, 5}, "patches": {2, 3, 5}, "prefix": {1, 5}, "position": {3, 5}}
	for _, wrong := range []wrongShape{
		{"y", []int{2, 3, 5}}, {"y", []int{3, 4, 5}}, {"y", []int{8, 5}}, {"patches", []int{2, 3, 4}}, {"prefix", []int{5}},
		{"prefix", []int{1, 4}},
		{"position", []int{4, 5}}, {"position", []int{1, 3, 5}},
	} {
		list = append(list, refuse("Tokens", wrong.name+"_"+dimensions(wrong.shape), func(*values) *call {
			o := blanks(good, wrong)
			return &call{operands: []*operand{o["y"], o["patches"], o["prefix"], o["position"]},
				run: func(k kernels.Backend) error {
					return k.Tokens(o["y"].t, o["patches"].t, o["prefix"].t, o["position"].t)
				}}
		}))
	}
	return list
}

func tokenCase(shape []int, before int, positions bool) Case {
	n, l, d := shape[0], shape[1], shape[2]
	return Case{Op: "Tokens", Name: named("patches=%s,prefix=%d,position=%v", dimensions(shape), before, positions),
		build: func(r *values) *call {
			patches := input("patches", r.normal(n*l*d), n, l, d).computed()
			var prefix, position *operand
			var wantPrefix, wantPosition []float64
			if before > 0 {
				prefix = input("prefix", full(r, before*d), before, d)
				wantPrefix = wide(prefix.float32s)
			}
			if positions {
				position = input("position", full(r, l*d), l, d)
				wantPosition = wide(position.float32s)
			}
			want := ref.Tokens(wide(patches.float32s), wantPrefix, wantPosition, n, l, d)
			y := output("y", want, pointwise(1e-7, 1e-7), n, before+l, d).computed()
			return &call{operands: present(y, patches, prefix, position), run: func(k kernels.Backend) error {
				return k.Tokens(y.t, patches.t, bound(prefix), bound(position))
			}}
		}}
}

// patchShape is N pictures of H×W pixels of C channels in patches of P×P. Each patch gives K numbers.
type patchShape struct{ n, h, w, c, p, k int }

func patchCases() []Case {
	var list []Case
	for i, s := range []patchShape{
		{n: 1, h: 1, w: 1, c: 1, p: 1, k: 1}, {n: 2, h: 6, w: 4, c: 3, p: 2, k: 5}, {n: 1, h: 28, w: 42, c: 3, p: 14, k: 33},
		{n: 2, h: 32, w: 32, c: 3, p: 16, k: 48}, {n: 3, h: 8, w: 8, c: 3, p: 8, k: 16},
		{n: 1, h: 24, w: 8, c: 8, p: 4, k: 64}, {n: 1, h: 40, w: 40, c: 3, p: 2, k: 24},
	} {
		list = append(list, patchCase(s, i%2 == 1, false))
	}
	list = append(list, patchCase(patchShape{n: 2, h: 224, w: 224, c: 3, p: 16, k: 96}, true, true))
	good := map[string][]int{"y": {2, 6, 5}, "x": {2, 4, 6, 3}, "w": {5, 2, 2, 3}, "b": {5}}
	for _, wrong := range []wrongShape{
		{"y", []int{2, 6, 4}}, {"y", []int{2, 5, 5}}, {"y", []int{2, 2, 3, 5}}, {"x", []int{2, 5, 6, 3}},
		{"x", []int{2, 4, 6, 4}}, {"x", []int{2, 1, 1, 3}},
		{"w", []int{5, 2, 3, 3}}, {"w", []int{5, 0, 0, 3}}, {"w", []int{5, 12}}, {"b", []int{6}},
	} {
		list = append(list, refuse("PatchEmbed", wrong.name+"_"+dimensions(wrong.shape), func(*values) *call {
			o := blanks(good, wrong)
			return &call{operands: []*operand{o["y"], o["x"], o["w"], o["b"]}, run: func(k kernels.Backend) error {
				return k.PatchEmbed(o["y"].t, o["x"].t, o["w"].t, o["b"].t)
			}}
		}))
	}
	return list
}

func patchCase(s patchShape, bias, large bool) Case {
	return Case{Op: "PatchEmbed", Name: named("n=%d,h=%d,w=%d,c=%d,p=%d,k=%d,bias=%v", s.n, s.h, s.w, s.c, s.p, s.k, bias),
		Large: large, build: func(r *values) *call {
			x, w := input("x", r.normal(s.n*s.h*s.w*s.c), s.n, s.h, s.w, s.c).computed(), input("w", r.normal(s.k*s.p*s.p*s.c),
				s.k, s.p, s.p, s.c).computed()
			var b *operand
			var biases []float64
			if bias {
				b = input("b", full(r, s.k), s.k)
				biases = wide(b.float32s)
			}
			l, terms := s.h/s.p*(s.w/s.p), s.p*s.p*s.c
			y := output("y", ref.PatchEmbed(wide(x.float32s), wide(w.float32s), biases, s.n, s.h, s.w, s.c, s.p, s.k),
				sums(terms), s.n, l, s.k).computed()
			return &call{operands: present(y, x, w, b), flops: 2 * float64(s.n*l*s.k) * float64(terms),
				run: func(k kernels.Backend) error {
					return k.PatchEmbed(y.t, x.t, w.t, bound(b))
				}}
		}}
}
