package conform

import (
	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/kernels/transformer"
	"nmn/tools/ref"
)

func transformerCases() []Case {
	var list []Case
	for _, family := range []func() []Case{
		layerNormCases, geluCases, attentionCases, linearCases, addScaledCases, tokenCases, patchCases,
	} {
		list = append(list, family()...)
	}
	return list
}

// layerNormCases has rows around 0, around a mean that is large against their deviation, and of equal numbers.
func layerNormCases() []Case {
	var list []Case
	for i, shape := range [][]int{{1, 1}, {3, 5}, {2, 3, 16}, {5, 17}, {1, 100}, {2, 2, 2, 96}, {700, 33}} {
		list = append(list, layerNormCase(shape, "plain", i%2 == 1, false))
	}
	for _, rows := range []string{"offset", "equal", "huge"} {
		list = append(list, layerNormCase([]int{3, 48}, rows, false, false), layerNormCase([]int{2, 21}, rows, true, false))
	}
	list = append(list, layerNormCase([]int{4, 257, 384}, "plain", false, true))
	fits := []int{2, 3, 4}
	return append(list, refuseShapes("LayerNorm",
		[]namedShape{{"y", fits}, {"x", fits}, {"gain", []int{4}}, {"bias", []int{4}}},
		[]namedShape{{"y", []int{2, 3, 5}}, {"y", []int{6, 4}}, {"x", []int{2, 4, 4}}, {"gain", []int{3}},
			{"bias", []int{4, 1}}},
		func(k kernels.Backend, t []*tensor.Tensor) error { return k.LayerNorm(t[0], t[1], t[2], t[3], 1e-6) })...)
}

func layerNormCase(shape []int, rows string, inPlace, large bool) Case {
	name := named("shape=%s,rows=%s,inplace=%v", dimensions(shape), rows, inPlace)
	return Case{Op: "LayerNorm", Name: name, Large: large, build: func(r *values) *call {
		const eps = 1e-6
		width, length := shape[len(shape)-1], blank(shape...).length()
		data := r.normal(length)
		for i := range data {
			switch rows {
			case "offset":
				data[i] = 1000 + 8*data[i]
			case "equal":
				data[i] = 1234.5
			case "huge":
				data[i] *= 1e9
			}
		}
		x := input("x", r.held(data), shape...).computed()
		gain, bias := input("gain", full(r, width), width), input("bias", full(r, width), width)
		want := ref.LayerNorm(wide(x.float32s), wide(gain.float32s), wide(bias.float32s), width, float64(float32(eps)))
		y := output("y", want, pointwise(1e-6, 2e-6), shape...).computed()
		if inPlace {
			y.float32s, x = x.float32s, y
		}
		return &call{operands: []*operand{y, gain, bias, x}, run: func(k kernels.Backend) error {
			return k.LayerNorm(y.t, x.t, gain.t, bias.t, eps)
		}}
	}}
}

// full is numbers that every device has as float32.
func full(r *values, n int) []float32 {
	list := make([]float32, n)
	for i := range list {
		list[i] = float32(r.stream.Normal(0, 1))
	}
	return list
}

// gelus are the references of all kinds; linear layers have none too.
var gelus = map[transformer.GELUKind]func(x []float64) []float64{
	transformer.None:  func(x []float64) []float64 { return x },
	transformer.Exact: ref.GELU, transformer.Tanh: ref.GELUTanh, transformer.Quick: ref.GELUQuick,
}

func geluCases() []Case {
	var list []Case
	for _, kind := range []transformer.GELUKind{transformer.Exact, transformer.Tanh, transformer.Quick} {
		for i, n := range lengths {
			list = append(list, geluCase(kind, n, i%2 == 0, false))
		}
		list = append(list, geluCase(kind, 20_000, false, false), geluCase(kind, 4*257*1536, false, true))
	}
	return append(list, refusePair("GELU", func(k kernels.Backend, t []*tensor.Tensor) error {
		return k.GELU(t[0], t[1], transformer.Exact)
	}))
}

func geluCase(kind transformer.GELUKind, n int, inPlace, large bool) Case {
	return Case{Op: "GELU", Name: named("kind=%s,l=%d,inplace=%v", kind, n, inPlace), Large: large,
		build: func(r *values) *call {
			data := r.normal(n)
			for i := range data {
				data[i] *= 3
			}
			copy(data, []float32{-1, 0, 1e4, -1e4, 60, -60, 5.5, -5.5, 1e-20, -1e-20})
			x := input("x", r.held(data), n).computed()
			y := output("y", gelus[kind](wide(x.float32s)), pointwise(5e-7, 1.5e-6), n).computed()
			if inPlace {
				y.float32s, x = x.float32s, y
			}
			return &call{operands: []*operand{y, x}, run: func(k kernels.Backend) error { return k.GELU(y.t, x.t, kind) }}
		}}
}

// attentionShape is N pictures of T tokens with heads of width numbers.
type attentionShape struct{ n, t, heads, width int }

// attentionCases have one token, numbers of tokens below, at and above blocks of queries (64) and of keys
// (several of them), one head and several, heads of all widths in published models, and odd ones.
func attentionCases() []Case {
	var list []Case
	for _, s := range []attentionShape{
		{n: 1, t: 1, heads: 1, width: 1}, {n: 2, t: 1, heads: 3, width: 64}, {n: 1, t: 2, heads: 1, width: 5},
		{n: 2, t: 5, heads: 2, width: 16}, {n: 1, t: 13, heads: 1, width: 32}, {n: 1, t: 16, heads: 2, width: 80},
		{n: 1, t: 17, heads: 1, width: 128},
		{n: 2, t: 63, heads: 1, width: 33},
		{n: 1, t: 64, heads: 2, width: 32}, {n: 1, t: 65, heads: 1, width: 64}, {n: 3, t: 50, heads: 2, width: 64},
		{n: 1, t: 257, heads: 1, width: 64}, {n: 1, t: 320, heads: 1, width: 8}, {n: 1, t: 321, heads: 1, width: 24},
		{n: 1, t: 645, heads: 1, width: 3},
	} {
		list = append(list, attentionCase(s, "plain", false))
	}
	for _, s := range []attentionShape{{n: 1, t: 7, heads: 2, width: 64}, {n: 2, t: 66, heads: 1, width: 64},
		{n: 1, t: 400, heads: 1, width: 16}} {
		list = append(list, attentionCase(s, "extreme", false))
	}
	list = append(list, attentionCase(attentionShape{n: 1, t: 30, heads: 2, width: 32}, "equal", false),
		attentionCase(attentionShape{n: 1, t: 257, heads: 6, width: 64}, "plain", true),
		attentionCase(attentionShape{n: 2, t: 197, heads: 3, width: 64}, "plain", true))
	attention := func(heads int) refusal {
		return func(k kernels.Backend, t []*tensor.Tensor) error { return k.Attention(t[0], t[1], heads) }
	}
	list = append(list, refuse("Attention", "heads_that_do_not_divide", attention(3), blank(2, 3, 8), blank(2, 3, 24)))
	return append(list, refuseShapes("Attention",
		[]namedShape{{"y", []int{2, 3, 8}}, {"qkv", []int{2, 3, 24}}},
		[]namedShape{
			{"y", []int{2, 3, 9}}, {"y", []int{3, 3, 8}}, {"y", []int{2, 2, 8}}, {"y", []int{6, 8}},
			{"qkv", []int{2, 3, 8}}, {"qkv", []int{2, 1, 3, 24}},
		}, attention(2))...)
}

func attentionCase(s attentionShape, logits string, large bool) Case {
	name := named("n=%d,t=%d,heads=%d,width=%d,logits=%s", s.n, s.t, s.heads, s.width, logits)
	return Case{Op: "Attention", Name: name, Large: large, build: func(r *values) *call {
		d := s.heads * s.width
		qkv := r.normal(s.n * s.t * 3 * d)
		switch logits {
		case "extreme":
			s.stretch(r, qkv)
		case "equal": // all keys are alike: every query gets the mean of the values
			for i := range qkv {
				if part := i / d % 3; part < 2 {
					qkv[i] = .5
				}
			}
		}
		x := input("qkv", r.held(qkv), s.n, s.t, 3*d).computed()
		y := output("y", ref.Attention(wide(x.float32s), s.n, s.t, d, s.heads), sums(s.t+s.width), s.n, s.t, d).computed()
		return &call{operands: []*operand{y, x}, flops: 4 * float64(s.n*s.t) * float64(s.t*d),
			run: func(k kernels.Backend) error {
				return k.Attention(y.t, x.t, s.heads)
			}}
	}}
}

// stretch draws queries and keys whose logits, up to ±10⁴ and more, are exact in float32: multiples of 4 for
// heads of 16 or 64 numbers. The logits of the first query and of the first two keys are at the ends.
func (s attentionShape) stretch(r *values, qkv []float32) {
	d, most := s.heads*s.width, float32(36)
	if s.width == 16 {
		most = 52
	}
	for i := range qkv {
		token, part := i/(3*d)%s.t, i/d%3
		switch {
		case part == 2:
		case token == 0:
			qkv[i] = most
		case token == 1 && part == 1:
			qkv[i] = -most
		default:
			qkv[i] = float32(4 * (r.stream.Intn(19) - 9))
		}
	}
}

// linear is a linear layer with the steps after its products.
type linear struct {
	x, w            []int // shapes; the output has x's shape with another last dimension
	kind            transformer.GELUKind
	bias, scale     bool
	residual, alias bool // a residual, which is the output itself
	large           bool
	prepared        bool // PrepareLinear comes before the call, which is then a case of it
}

func linearCases() []Case {
	var list []Case
	for _, l := range []linear{
		{x: []int{1, 3}, w: []int{1, 3}},
		{x: []int{5, 16}, w: []int{8, 16}, bias: true},
		{x: []int{2, 3, 33}, w: []int{7, 33}, bias: true, kind: transformer.Exact},
		{x: []int{13, 5}, w: []int{33, 5}, bias: true, scale: true, residual: true},
		{x: []int{2, 6, 96}, w: []int{48, 1, 1, 96}, bias: true, residual: true, alias: true},
		{x: []int{1, 5, 5, 17}, w: []int{40, 1, 1, 17}, kind: transformer.Quick},
		{x: []int{100, 24}, w: []int{70, 24}, bias: true, kind: transformer.Tanh, scale: true, residual: true, alias: true},
		{x: []int{14, 20}, w: []int{64, 20}, scale: true},
		{x: []int{14, 1600}, w: []int{40, 1600}, bias: true, kind: transformer.Exact},
		{x: []int{400, 200}, w: []int{71, 200}, bias: true, scale: true, residual: true},
		{x: []int{400, 200}, w: []int{96, 200}, bias: true},
		{x: []int{257, 1024}, w: []int{32, 1024}, bias: true, residual: true},
		{x: []int{1, 257, 384}, w: []int{1536, 384}, bias: true, kind: transformer.Exact, large: true},
		{x: []int{1, 257, 1536}, w: []int{384, 1536}, bias: true, scale: true, residual: true, alias: true, large: true},
	} {
		list = append(list, l.withCase())
	}
	for _, l := range []linear{
		{x: []int{3, 5}, w: []int{1, 5}, bias: true},
		{x: []int{13, 20}, w: []int{7, 20}, bias: true},
		{x: []int{2, 7, 33}, w: []int{16, 33}, bias: true, kind: transformer.Tanh},
		{x: []int{30, 1000}, w: []int{48, 1, 1, 1000}, bias: true, scale: true, residual: true, alias: true},
		{x: []int{200, 48}, w: []int{128, 48}},
		{x: []int{5, 16}, w: []int{99, 16}, residual: true},
	} {
		l.prepared = true
		list = append(list, l.withCase())
	}
	for _, shape := range [][]int{{5}, {5, 0}, {5, 3, 1, 4}, {1, 5, 4}} {
		list = append(list, refuse("PrepareLinear", dimensions(shape), func(k kernels.Backend, t []*tensor.Tensor) error {
			return k.PrepareLinear(t[0])
		}, blank(shape...)))
	}
	return append(list, linearRefusals()...)
}

// anything accepts whatever a device makes of an operand.
func anything(Accuracy, []float64, []float64) error { return nil }

func (l linear) withCase() Case {
	name := named("x=%s,w=%s,gelu=%s,bias=%v,scale=%v,residual=%v,inplace=%v", dimensions(l.x), dimensions(l.w), l.kind,
		l.bias, l.scale, l.residual, l.alias)
	op := "Linear"
	if l.prepared {
		op = "PrepareLinear"
	}
	return Case{Op: op, Name: name, Large: l.large, build: func(r *values) *call {
		c, k := l.w[len(l.w)-1], l.w[0]
		shape := append(append([]int(nil), l.x[:len(l.x)-1]...), k)
		length := blank(shape...).length()
		x := input("x", r.normal(blank(l.x...).length()), l.x...).computed()
		w := input("w", r.normal(k*c), l.w...).linear()
		if l.prepared {
			w.want, w.verdict = make([]float64, k*c), anything
		}
		b, scale, residual := none(), none(), none()
		if l.bias {
			b = input("b", full(r, k), k)
		}
		if l.scale {
			scale = input("scale", full(r, k), k)
		}
		want := gelus[l.kind](ref.Linear(wide(x.float32s), wide(w.float32s), wide(b.float32s), c, k))
		rest := make([]float32, length)
		if l.residual {
			rest = r.normal(length)
		}
		want = ref.AddScaled(want, wide(rest), wide(scale.float32s), k)
		y := output("y", want, sums(c), shape...).computed()
		if l.residual && l.alias {
			y.float32s, residual = rest, y
		} else if l.residual {
			residual = input("residual", rest, shape...).computed()
		}
		operands := []*operand{y, x, w, b, scale, residual}
		return &call{operands: operands, flops: 2 * float64(length) * float64(c), run: func(d kernels.Backend) error {
			if l.prepared {
				if err := d.PrepareLinear(w.t); err != nil {
					return err
				}
			}
			return d.Linear(y.t, x.t, w.t, b.t,
				transformer.LinearParams{GELU: l.kind, Scale: scale.t, Residual: residual.t, Prepared: l.prepared})
		}}
	}}
}

func linearRefusals() []Case {
	return refuseShapes("Linear",
		[]namedShape{{"y", []int{2, 3, 5}}, {"x", []int{2, 3, 4}}, {"w", []int{5, 4}}, {"b", []int{5}}, {"scale", []int{5}},
			{"residual", []int{2, 3, 5}}},
		[]namedShape{
			{"y", []int{2, 3, 4}}, {"y", []int{2, 2, 5}}, {"x", []int{2, 3, 5}}, {"x", []int{0, 3, 4}}, {"w", []int{5, 3}},
			{"w", []int{5, 2, 1, 4}}, {"w", []int{20}},
			{"w", []int{5, 0}}, {"b", []int{4}}, {"scale", []int{1, 5}}, {"residual", []int{6, 5}},
		},
		func(k kernels.Backend, t []*tensor.Tensor) error {
			return k.Linear(t[0], t[1], t[2], t[3], transformer.LinearParams{Scale: t[4], Residual: t[5]})
		})
}
