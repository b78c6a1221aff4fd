package conform

import (
	"nmn/kernels"
	"nmn/kernels/tensor"
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
	fits := []int{2, 3, 5}
	return append(list, refuseShapes("AddScaled",
		[]namedShape{{"y", fits}, {"x", fits}, {"r", fits}, {"scale", []int{5}}},
		[]namedShape{{"y", []int{2, 3, 4}}, {"x", []int{6, 5}}, {"r", []int{2, 4, 5}}, {"scale", []int{3}},
			{"scale", []int{5, 1}}},
		func(k kernels.Backend, t []*tensor.Tensor) error { return k.AddScaled(t[0], t[1], t[2], t[3]) })...)
}

// addScaledCase writes to its own memory, or to the memory of x or r.
func addScaledCase(shape []int, scaled bool, over string, large bool) Case {
	name := named("shape=%s,scale=%v,over=%s", dimensions(shape), scaled, over)
	return Case{Op: "AddScaled", Name: name, Large: large, build: func(v *values) *call {
		width, length := shape[len(shape)-1], blank(shape...).length()
		x, r := input("x", v.normal(length), shape...).computed(), input("r", v.normal(length), shape...).computed()
		scale := none()
		if scaled {
			scale = input("scale", full(v, width), width)
		}
		want := ref.AddScaled(wide(x.float32s), wide(r.float32s), wide(scale.float32s), width)
		y := output("y", want, pointwise(2e-7, 1e-6), shape...).computed()
		switch over {
		case "x":
			y.float32s, x = x.float32s, y
		case "r":
			y.float32s, r = r.float32s, y
		}
		return &call{operands: []*operand{y, x, r, scale}, run: func(k kernels.Backend) error {
			return k.AddScaled(y.t, x.t, r.t, scale.t)
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
	return append(list, refuseShapes("Tokens",
		[]namedShape{{"y", []int{2, 4, 5}}, {"patches", []int{2, 3, 5}}, {"prefix", []int{1, 5}}, {"position", []int{3, 5}}},
		[]namedShape{
			{"y", []int{2, 3, 5}}, {"y", []int{3, 4, 5}}, {"y", []int{8, 5}}, {"patches", []int{2, 3, 4}}, {"prefix", []int{5}},
			{"prefix", []int{1, 4}}, {"position", []int{4, 5}}, {"position", []int{1, 3, 5}},
		},
		func(k kernels.Backend, t []*tensor.Tensor) error { return k.Tokens(t[0], t[1], t[2], t[3]) })...)
}

func tokenCase(shape []int, before int, positions bool) Case {
	n, l, d := shape[0], shape[1], shape[2]
	return Case{Op: "Tokens", Name: named("patches=%s,prefix=%d,position=%v", dimensions(shape), before, positions),
		build: func(r *values) *call {
			patches := input("patches", r.normal(n*l*d), n, l, d).computed()
			prefix, position := none(), none()
			if before > 0 {
				prefix = input("prefix", full(r, before*d), before, d)
			}
			if positions {
				position = input("position", full(r, l*d), l, d)
			}
			want := ref.Tokens(wide(patches.float32s), wide(prefix.float32s), wide(position.float32s), n, l, d)
			y := output("y", want, pointwise(1e-7, 1e-7), n, before+l, d).computed()
			return &call{operands: []*operand{y, patches, prefix, position}, run: func(k kernels.Backend) error {
				return k.Tokens(y.t, patches.t, prefix.t, position.t)
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
	return append(list, refuseShapes("PatchEmbed",
		[]namedShape{{"y", []int{2, 6, 5}}, {"x", []int{2, 4, 6, 3}}, {"w", []int{5, 2, 2, 3}}, {"b", []int{5}}},
		[]namedShape{
			{"y", []int{2, 6, 4}}, {"y", []int{2, 5, 5}}, {"y", []int{2, 2, 3, 5}}, {"x", []int{2, 5, 6, 3}},
			{"x", []int{2, 4, 6, 4}}, {"x", []int{2, 1, 1, 3}},
			{"w", []int{5, 2, 3, 3}}, {"w", []int{5, 0, 0, 3}}, {"w", []int{5, 12}}, {"b", []int{6}},
		},
		func(k kernels.Backend, t []*tensor.Tensor) error { return k.PatchEmbed(t[0], t[1], t[2], t[3]) })...)
}

func patchCase(s patchShape, bias, large bool) Case {
	return Case{Op: "PatchEmbed", Name: named("n=%d,h=%d,w=%d,c=%d,p=%d,k=%d,bias=%v", s.n, s.h, s.w, s.c, s.p, s.k, bias),
		Large: large, build: func(r *values) *call {
			x, w := input("x", r.normal(s.n*s.h*s.w*s.c), s.n, s.h, s.w, s.c).computed(), input("w", r.normal(s.k*s.p*s.p*s.c),
				s.k, s.p, s.p, s.c).computed()
			b := none()
			if bias {
				b = input("b", full(r, s.k), s.k)
			}
			l, terms := s.h/s.p*(s.w/s.p), s.p*s.p*s.c
			y := output("y", ref.PatchEmbed(wide(x.float32s), wide(w.float32s), wide(b.float32s), s.n, s.h, s.w, s.c, s.p, s.k),
				sums(terms), s.n, l, s.k).computed()
			return &call{operands: []*operand{y, x, w, b}, flops: 2 * float64(s.n*l*s.k) * float64(terms),
				run: func(k kernels.Backend) error { return k.PatchEmbed(y.t, x.t, w.t, b.t) }}
		}}
}
