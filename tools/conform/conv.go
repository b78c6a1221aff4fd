package conform

import (
	"fmt"
	"math"
	"slices"

	"nmn/kernels"
	"nmn/kernels/conv"
	"nmn/kernels/tensor"
	"nmn/tools/ref"
)

// convSmall are shapes around every tile size that an engine may use (6, 12, 14, 16, 32) in output
// columns, channels and filters, with odd and degenerate maps.
func convSmall() []ref.Conv {
	list := []ref.Conv{
		{N: 1, H: 1, W: 1, C: 1, K: 1, R: 1, S: 1},
		{N: 1, H: 1, W: 1, C: 2, K: 3, R: 3, S: 3, Pad: 1},
		{N: 2, H: 9, W: 7, C: 3, K: 4, R: 3, S: 3, Pad: 1},
		{N: 2, H: 6, W: 5, C: 3, K: 2, R: 3, S: 3},
		{N: 2, H: 11, W: 9, C: 3, K: 4, R: 7, S: 7},
		{N: 3, H: 7, W: 7, C: 5, K: 33, R: 7, S: 7},
		{N: 1, H: 8, W: 9, C: 4, K: 5, R: 5, S: 5, Pad: 2},
		{N: 1, H: 5, W: 8, C: 3, K: 6, R: 2, S: 3, Pad: 1},
		{N: 1, H: 6, W: 6, C: 2, K: 2, R: 7, S: 7, Pad: 6},
		{N: 5, H: 1, W: 1, C: 40, K: 17, R: 1, S: 1},
		{N: 1, H: 1, W: 40, C: 3, K: 8, R: 1, S: 3},
		{N: 1, H: 40, W: 1, C: 3, K: 8, R: 3, S: 1},
		{N: 2, H: 7, W: 7, C: 8, K: 512, R: 7, S: 7}, // data gradients that a card computes by columns
		{N: 2, H: 4, W: 3, C: 24, K: 520, R: 2, S: 3},
		{N: 3, H: 5, W: 6, C: 8, K: 512, R: 5, S: 5, Pad: 1},
	}
	list = slices.Concat(list, convWinograd(), convStrided(), convFirst())
	for _, n := range []int{5, 6, 7, 11, 12, 13, 14, 15, 16, 17, 31, 32, 33} {
		list = append(list,
			ref.Conv{N: 1, H: 4, W: n, C: 3, K: 5, R: 3, S: 3, Pad: 1},   // columns of the output
			ref.Conv{N: 1, H: 3, W: 5, C: 7, K: n, R: 3, S: 3, Pad: 1},   // filters
			ref.Conv{N: 2, H: 3, W: 4, C: n, K: 9, R: 3, S: 3, Pad: 1},   // channels
			ref.Conv{N: 1, H: n, W: n, C: n, K: n, R: 1, S: 1},           // all at once
			ref.Conv{N: n, H: 1, W: 1, C: 2*n + 1, K: n + 1, R: 1, S: 1}) // fully connected, rows
	}
	return list
}

// convWinograd are shapes that engines are likely to give to Winograd's algorithm, with tiles that end
// outside of the map. Their bounds equal the other convolutions'.
func convWinograd() []ref.Conv {
	return []ref.Conv{
		{N: 3, H: 22, W: 19, C: 16, K: 32, R: 3, S: 3, Pad: 1},
		{N: 2, H: 17, W: 23, C: 32, K: 16, R: 3, S: 3},
		{N: 1, H: 15, W: 21, C: 48, K: 64, R: 3, S: 3, Pad: 2},
	}
}

// convFirst are small maps like pictures that a card pads to 8 channels, around tiles of 8 rows by 64 columns.
func convFirst() []ref.Conv {
	like := func(n, h, w, k int) ref.Conv { return ref.Conv{N: n, H: h, W: w, C: 8, K: k, R: 3, S: 3, Pad: 1} }
	return []ref.Conv{like(1, 1, 1, 64), like(2, 1, 7, 128), like(2, 5, 3, 64), like(1, 17, 33, 64), like(1, 7, 63, 64),
		like(1, 8, 64, 128), like(1, 9, 65, 64)}
}

// convStrided are the convolutions of residual nets on small maps, and others whose stride does not divide.
func convStrided() []ref.Conv {
	return []ref.Conv{
		{N: 1, H: 1, W: 1, C: 1, K: 1, R: 1, S: 1, Stride: 2},
		{N: 2, H: 7, W: 6, C: 5, K: 17, R: 1, S: 1, Stride: 2},
		{N: 3, H: 8, W: 8, C: 16, K: 32, R: 1, S: 1, Stride: 2},
		{N: 1, H: 2, W: 2, C: 3, K: 2, R: 3, S: 3, Pad: 1, Stride: 2},
		{N: 2, H: 8, W: 9, C: 16, K: 16, R: 3, S: 3, Pad: 1, Stride: 2},
		{N: 13, H: 5, W: 6, C: 3, K: 33, R: 3, S: 3, Pad: 1, Stride: 2},
		{N: 1, H: 7, W: 1, C: 1, K: 1, R: 3, S: 3, Pad: 1, Stride: 2},
		{N: 2, H: 15, W: 18, C: 3, K: 10, R: 7, S: 7, Pad: 3, Stride: 2},
		{N: 1, H: 21, W: 22, C: 3, K: 64, R: 7, S: 7, Pad: 3, Stride: 2},
		{N: 1, H: 6, W: 7, C: 2, K: 3, R: 3, S: 3, Pad: 2, Stride: 2},
		{N: 1, H: 6, W: 11, C: 2, K: 3, R: 2, S: 3, Stride: 3},
		{N: 1, H: 4, W: 4, C: 2, K: 3, R: 3, S: 3, Stride: 2}, // its last row and column meet no window
		{N: 2, H: 10, W: 9, C: 4, K: 5, R: 2, S: 2, Stride: 4},
	}
}

// convLarge are layers of VGG16-FCN at 224 pixels, or a part of their filters.
func convLarge() []ref.Conv {
	return []ref.Conv{
		{N: 1, H: 224, W: 224, C: 3, K: 64, R: 3, S: 3, Pad: 1},
		{N: 1, H: 224, W: 224, C: 32, K: 32, R: 3, S: 3, Pad: 1}, // more tiles than an engine may transform at once
		{N: 1, H: 112, W: 112, C: 64, K: 32, R: 3, S: 3, Pad: 1},
		{N: 1, H: 28, W: 28, C: 256, K: 128, R: 3, S: 3, Pad: 1},
		{N: 2, H: 14, W: 14, C: 512, K: 64, R: 3, S: 3, Pad: 1},
		{N: 2, H: 7, W: 7, C: 512, K: 64, R: 7, S: 7},
		{N: 1, H: 18, W: 18, C: 32, K: 256, R: 7, S: 7}, // fc6 over a map that is larger than its filter
		{N: 32, H: 1, W: 1, C: 4096, K: 250, R: 1, S: 1},
	}
}

func convName(g ref.Conv, extra string) string {
	stride := ""
	if g.Stride > 1 {
		stride = named(",stride=%d", g.Stride)
	}
	return named("n=%d,h=%d,w=%d,c=%d,k=%d,r=%d,s=%d,pad=%d%s%s", g.N, g.H, g.W, g.C, g.K, g.R, g.S, g.Pad, stride, extra)
}

func convCases() []Case {
	list := append(eachConv("Conv", forwardCall), convRefusals()...)
	list = append(append(list, eachConv("ConvAdd", forwardCall)...), convAddRefusals()...)
	list = append(list, eachConv("ConvGradData", gradDataCall)...)
	list = append(list, eachConv("ConvGradFilter", gradFilterCall)...)
	list = append(list, eachConv("ConvGradBias", gradBiasCall)...)
	list = append(list, eachConv("ConvGradDataBias", gradDataBiasCall)...)
	return append(list, gradRefusals()...)
}

// convVariant are the switches of a call. Each shape gets one, in turn, and always the plain call.
type convVariant struct {
	name                         string
	bias, relu, accumulate, mask bool
	shortcut                     bool
	inPlace                      bool // dx shares the memory of mask, or y the memory of the shortcut
}

func convVariants(op string) []convVariant {
	switch op {
	case "Conv":
		return []convVariant{{name: "", bias: true}, {name: ",bias=none"}, {name: ",relu=true", bias: true, relu: true},
			{name: ",bias=none,relu=true", relu: true}}
	case "ConvAdd":
		return []convVariant{{name: ",relu=true", bias: true, relu: true, shortcut: true},
			{name: ",bias=none", shortcut: true},
			{name: ",shortcut=inplace", bias: true, shortcut: true, inPlace: true},
			{name: ",bias=none,relu=true,shortcut=inplace", relu: true, shortcut: true, inPlace: true}}
	case "ConvGradData":
		return []convVariant{{}, {name: ",mask=true", mask: true}, {name: ",accumulate=true", accumulate: true},
			{name: ",mask=true,accumulate=true", mask: true, accumulate: true}, {name: ",mask=inplace", mask: true,
				inPlace: true}}
	}
	if op == "ConvGradDataBias" {
		return []convVariant{{name: ",mask=true", mask: true}, {name: ",mask=true,accumulate=true", mask: true,
			accumulate: true},
			{name: ",mask=inplace", mask: true, inPlace: true}, {name: ",accumulate=true", accumulate: true}}
	}
	return []convVariant{{}, {name: ",accumulate=true", accumulate: true}}
}

func eachConv(op string, build func(ref.Conv, convVariant, *values, sampler) *call) []Case {
	var list []Case
	add := func(g ref.Conv, v convVariant, large bool) {
		list = append(list, Case{Op: op, Name: convName(g, v.name), Large: large, build: func(r *values) *call {
			return build(g, v, r, sampler{r, large})
		}})
	}
	variants := convVariants(op)
	for i, g := range convSmall() {
		add(g, variants[0], false)
		add(g, variants[1+i%(len(variants)-1)], false)
	}
	for i, g := range convLarge() {
		add(g, variants[i%len(variants)], true)
	}
	return list
}

// sampler decides which elements of an output the reference computes: all, or some of a large one.
type sampler struct {
	r     *values
	large bool
}

// expect evaluates the reference, given at any index of an a×b×c×d array.
func (s sampler) expect(a, b, c, d int, f func(i, j, k, l int) float64) (at []int, want []float64) {
	n, samples := a*b*c*d, a*b*c*d
	if s.large {
		samples = min(n, 200)
		at = make([]int, samples)
	}
	want = make([]float64, samples)
	for e := range samples {
		i := e
		if s.large {
			i = s.r.stream.Intn(n)
			at[e] = i
		}
		want[e] = f(i/(b*c*d), i/(c*d)%b, i/d%c, i%d)
	}
	return at, want
}

// smallEnough reports whether the forward of a shape may be evaluated for central differences.
func smallEnough(g ref.Conv) bool { return g.N*g.P()*g.Q()*g.K*g.R*g.S*g.C < 40_000 }

func convFLOPs(g ref.Conv) float64 {
	return 2 * float64(g.N*g.P()*g.Q()) * float64(g.K) * float64(g.R*g.S*g.C)
}

// convValues are the contents of a convolution's tensors.
type convValues struct{ x, w, b, dy []float32 }

func drawConv(g ref.Conv, r *values) convValues {
	return convValues{
		x: r.normal(g.N * g.H * g.W * g.C), w: r.normal(g.K * g.R * g.S * g.C),
		b: r.normal(g.K), dy: r.normal(g.N * g.P() * g.Q() * g.K),
	}
}

func (g convValues) input(s ref.Conv) *operand {
	return input("x", g.x, s.N, s.H, s.W, s.C).computed()
}
func (g convValues) filter(s ref.Conv) *operand {
	return input("w", g.w, s.K, s.R, s.S, s.C).computed()
}
func (g convValues) bias(s ref.Conv, v convVariant) *operand {
	if !v.bias {
		return none()
	}
	return input("b", g.b, s.K)
}

func (g convValues) upstream(s ref.Conv) *operand {
	return input("dy", g.dy, s.N, s.P(), s.Q(), s.K).computed()
}

// forwardCall is Conv, or ConvAdd if there is a shortcut.
func forwardCall(g ref.Conv, v convVariant, r *values, s sampler) *call {
	d := drawConv(g, r)
	x, w, b, shortcut, terms := d.input(g), d.filter(g), d.bias(g, v), none(), g.R*g.S*g.C
	if v.shortcut {
		shortcut = input("shortcut", d.dy, g.N, g.P(), g.Q(), g.K).computed()
		terms++
	}
	wideX, wideW, wideB, held := wide(d.x), wide(d.w), wide(b.float32s), wide(shortcut.float32s)
	at, want := s.expect(g.N, g.P(), g.Q(), g.K, func(n, p, q, k int) float64 {
		y := g.ForwardAt(wideX, wideW, wideB, n, p, q, k)
		if v.shortcut {
			y += held[((n*g.P()+p)*g.Q()+q)*g.K+k]
		}
		if v.relu && y < 0 {
			return 0
		}
		return y
	})
	y := output("y", want, sums(terms), g.N, g.P(), g.Q(), g.K).computed()
	y.at = at
	if v.inPlace {
		y.float32s, shortcut = d.dy, y
	}
	p := conv.Params{Pad: g.Pad, Stride: g.Stride, ReLU: v.relu}
	return &call{operands: []*operand{y, x, w, shortcut, b}, flops: convFLOPs(g), run: func(k kernels.Backend) error {
		if v.shortcut {
			return k.ConvAdd(y.t, x.t, w.t, b.t, shortcut.t, p)
		}
		return k.Conv(y.t, x.t, w.t, b.t, p)
	}}
}

func gradDataCall(g ref.Conv, v convVariant, r *values, s sampler) *call {
	d := drawConv(g, r)
	dy, w := d.upstream(g), d.filter(g)
	mask := input("mask", r.coarse(len(d.x)), g.N, g.H, g.W, g.C).computed()
	wideDY, wideW, held := wide(d.dy), wide(d.w), r.normal(len(d.x))
	at, want := s.expect(g.N, g.H, g.W, g.C, func(n, h, column, c int) float64 {
		i := ((n*g.H+h)*g.W+column)*g.C + c
		if v.mask && mask.float32s[i] <= 0 {
			return 0
		}
		dx := g.GradDataAt(wideDY, wideW, n, h, column, c)
		if v.accumulate {
			dx += float64(held[i])
		}
		return dx
	})
	dx := output("dx", want, sums(g.R*g.S*g.K), g.N, g.H, g.W, g.C).computed()
	dx.at = at
	switch {
	case v.inPlace:
		dx.float32s, mask = mask.float32s, dx
	case !v.mask:
		mask = none()
		wideX := wide(d.x)
		if !v.accumulate && smallEnough(g) {
			dx.numeric = differences(wideX, wideDY, func() []float64 { return g.Forward(wideX, wideW, nil) })
		}
	}
	if v.accumulate {
		dx.float32s = held
	}
	p := conv.Params{Pad: g.Pad, Stride: g.Stride, Accumulate: v.accumulate}
	return &call{operands: []*operand{dx, dy, w, mask}, flops: convFLOPs(g), run: func(k kernels.Backend) error {
		return k.ConvGradData(dx.t, dy.t, w.t, mask.t, p)
	}}
}

func gradFilterCall(g ref.Conv, v convVariant, r *values, s sampler) *call {
	d := drawConv(g, r)
	x, dy := d.input(g), d.upstream(g)
	wideX, wideDY, held := wide(d.x), wide(d.dy), r.normal(len(d.w))
	at, want := s.expect(g.K, g.R, g.S, g.C, func(k, row, column, c int) float64 {
		dw := g.GradFilterAt(wideX, wideDY, k, row, column, c)
		if v.accumulate {
			dw += float64(held[((k*g.R+row)*g.S+column)*g.C+c])
		}
		return dw
	})
	dw := output("dw", want, sums(g.N*g.P()*g.Q()), g.K, g.R, g.S, g.C)
	dw.at, dw.rounded = at, true
	if v.accumulate {
		dw.float32s = held
	} else if wideW := wide(d.w); smallEnough(g) {
		dw.numeric = differences(wideW, wideDY, func() []float64 { return g.Forward(wideX, wideW, nil) })
	}
	p := conv.Params{Pad: g.Pad, Stride: g.Stride, Accumulate: v.accumulate}
	return &call{operands: []*operand{dw, x, dy}, flops: convFLOPs(g),
		run: func(k kernels.Backend) error { return k.ConvGradFilter(dw.t, x.t, dy.t, p) }}
}

func gradBiasCall(g ref.Conv, v convVariant, r *values, s sampler) *call {
	d := convValues{dy: r.normal(g.N * g.P() * g.Q() * g.K)}
	dy, wideDY := d.upstream(g), wide(d.dy)
	want := g.GradBias(wideDY)
	db := output("db", want, sums(g.N*g.P()*g.Q()), g.K)
	if v.accumulate {
		db.float32s = r.normal(g.K)
		db.want = sum(want, wide(db.float32s))
	} else if smallEnough(g) {
		d = drawConv(g, r)
		wideX, wideW, wideB := wide(d.x), wide(d.w), wide(d.b)
		db.numeric = differences(wideB, wideDY, func() []float64 { return g.Forward(wideX, wideW, wideB) })
	}
	p := conv.Params{Pad: g.Pad, Stride: g.Stride, Accumulate: v.accumulate}
	return &call{operands: []*operand{db, dy}, run: func(k kernels.Backend) error { return k.ConvGradBias(db.t, dy.t, p) }}
}

func gradDataBiasCall(g ref.Conv, v convVariant, r *values, s sampler) *call {
	d := drawConv(g, r)
	dy, w := d.upstream(g), d.filter(g)
	mask := input("mask", r.coarse(len(d.x)), g.N, g.H, g.W, g.C).computed()
	wideX, wideDY, wideW, wideMask := wide(d.x), wide(d.dy), wide(d.w), wide(mask.float32s)
	if !v.mask {
		wideMask = nil
	}
	// one product may be off by both factors
	dx := output("dx", nil, sums(max(g.R*g.S*g.K, 256)), g.N, g.H, g.W, g.C).computed()
	size := make([]float64, g.C)
	db := output("db", nil, summed(g.R*g.S*g.K, size), g.C)
	if s.large { // the sums are tested on small shapes
		dx.at, dx.want = s.expect(g.N, g.H, g.W, g.C, func(n, h, column, c int) float64 {
			if i := ((n*g.H+h)*g.W+column)*g.C + c; wideMask != nil && wideMask[i] <= 0 {
				return 0
			}
			return g.GradDataAt(wideDY, wideW, n, h, column, c)
		})
		db.at, db.want = []int{}, []float64{}
	} else {
		dx.want, db.want = g.GradDataBias(wideDY, wideW, wideMask)
		_, total := g.GradDataBias(magnitudes(wideDY), magnitudes(wideW), wideMask)
		copy(size, total)
	}
	db.rounded = true // the gradient that is added up may have been
	if v.accumulate {
		db.float32s = r.normal(g.C)
		if !s.large {
			db.want = sum(db.want, wide(db.float32s))
		}
	} else if smallEnough(g) {
		// db is the slope along a shift of all elements of a channel that are not masked
		shift := make([]float64, g.C)
		db.numeric = differences(shift, wideDY, func() []float64 {
			return g.Forward(shifted(wideX, shift, wideMask), wideW, nil)
		})
	}
	if v.inPlace {
		dx.float32s, mask = mask.float32s, dx
	} else if !v.mask {
		mask = none()
	}
	p := conv.Params{Pad: g.Pad, Stride: g.Stride, Accumulate: v.accumulate}
	return &call{operands: []*operand{dx, db, dy, w, mask}, flops: convFLOPs(g), run: func(k kernels.Backend) error {
		return k.ConvGradDataBias(dx.t, db.t, dy.t, w.t, mask.t, p)
	}}
}

func magnitudes(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = math.Abs(x)
	}
	return out
}

// shifted is x with the shift of its channel added if the mask, which may be nil, is above 0.
func shifted(x, shift, mask []float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = x[i]
		if mask == nil || mask[i] > 0 {
			out[i] += shift[i%len(shift)]
		}
	}
	return out
}

func convRefusals() []Case {
	cases := []struct {
		name    string
		y, x, w []int
		pad     int
	}{
		{"channels", []int{1, 4, 4, 2}, []int{1, 4, 4, 3}, []int{2, 3, 3, 4}, 1},
		{"filters", []int{1, 4, 4, 3}, []int{1, 4, 4, 3}, []int{2, 3, 3, 3}, 1},
		{"rows", []int{1, 3, 4, 2}, []int{1, 4, 4, 3}, []int{2, 3, 3, 3}, 1},
		{"bags", []int{2, 4, 4, 2}, []int{1, 4, 4, 3}, []int{2, 3, 3, 3}, 1},
		{"filter_too_large", []int{1, 1, 1, 2}, []int{1, 2, 2, 3}, []int{2, 3, 3, 3}, 0},
		{"negative_padding", []int{1, 4, 4, 2}, []int{1, 8, 8, 3}, []int{2, 3, 3, 3}, -1},
		{"rank", []int{1, 4, 4, 2}, []int{1, 4, 12}, []int{2, 3, 3, 3}, 1},
	}
	var list []Case
	for _, c := range cases {
		list = append(list, refuse("Conv", c.name, func(k kernels.Backend, t []*tensor.Tensor) error {
			return k.Conv(t[0], t[1], t[2], nil, conv.Params{Pad: c.pad})
		}, blank(c.y...), blank(c.x...), blank(c.w...)))
	}
	return append(list, refuse("Conv", "bias", func(k kernels.Backend, t []*tensor.Tensor) error {
		return k.Conv(t[0], t[1], t[2], t[3], conv.Params{Pad: 1})
	}, blank(1, 4, 4, 2), blank(1, 4, 4, 3), blank(2, 3, 3, 3), blank(3)))
}

func convAddRefusals() []Case {
	of := func(name string, y, shortcut []int, p conv.Params) Case {
		return refuse("ConvAdd", name, func(k kernels.Backend, t []*tensor.Tensor) error {
			return k.ConvAdd(t[0], t[1], t[2], t[3], t[4], p)
		}, blank(y...), blank(1, 5, 5, 3), blank(2, 3, 3, 3), blank(2), blank(shortcut...))
	}
	fits := []int{1, 3, 3, 2}
	return []Case{
		of("shortcut_of_the_input", fits, []int{1, 5, 5, 3}, conv.Params{Pad: 1, Stride: 2}),
		of("shortcut_of_another_rank", fits, []int{1, 9, 2}, conv.Params{Pad: 1, Stride: 2}),
		of("stride", fits, fits, conv.Params{Pad: 1, Stride: 3}),
		of("negative_stride", fits, fits, conv.Params{Pad: 1, Stride: -2}),
		of("rows", []int{1, 2, 3, 2}, []int{1, 2, 3, 2}, conv.Params{Pad: 1, Stride: 2}),
	}
}

func gradRefusals() []Case {
	p := conv.Params{Pad: 1}
	data := func(k kernels.Backend, t []*tensor.Tensor) error { return k.ConvGradData(t[0], t[1], t[2], t[3], p) }
	dataBias := func(k kernels.Backend, t []*tensor.Tensor) error {
		return k.ConvGradDataBias(t[0], t[1], t[2], t[3], t[4], p)
	}
	filter := func(k kernels.Backend, t []*tensor.Tensor) error { return k.ConvGradFilter(t[0], t[1], t[2], p) }
	bias := func(k kernels.Backend, t []*tensor.Tensor) error { return k.ConvGradBias(t[0], t[1], p) }
	dx, dy, w := blank(1, 4, 4, 3), blank(1, 4, 4, 2), blank(2, 3, 3, 3)
	list := []Case{
		refuse("ConvGradData", "mask", data, dx, dy, w, blank(1, 4, 3, 3)),
		refuse("ConvGradDataBias", "mask", dataBias, dx, blank(3), dy, w, blank(1, 4, 3, 3)),
		refuse("ConvGradDataBias", "bias", dataBias, dx, blank(2), dy, w, blank(1, 4, 4, 3)),
		refuse("ConvGradBias", "filters", bias, blank(3), dy),
	}
	for i, wrong := range [][]int{{1, 4, 4, 5}, {1, 4, 5, 3}, {2, 4, 4, 3}} {
		list = append(list,
			refuse("ConvGradData", fmt.Sprintf("dx_%d", i), data, blank(wrong...), dy, w, none()),
			refuse("ConvGradDataBias", fmt.Sprintf("dx_%d", i), dataBias, blank(wrong...), blank(wrong[3]), dy, w, none()),
			refuse("ConvGradFilter", fmt.Sprintf("x_%d", i), filter, w, blank(wrong...), dy))
	}
	return list
}
