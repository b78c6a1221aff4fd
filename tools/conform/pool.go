package conform

import (
	"nmn/kernels"
	"nmn/kernels/pool"
	"nmn/kernels/tensor"
	"nmn/tools/ref"
)

func poolMaps() []ref.Map {
	return []ref.Map{
		{T: 1, H: 1, W: 1, C: 1}, {T: 2, H: 5, W: 7, C: 3}, {T: 1, H: 6, W: 4, C: 2}, {T: 1, H: 9, W: 4, C: 17},
		{T: 1, H: 1, W: 5, C: 1}, {T: 1, H: 5, W: 1, C: 4}, {T: 3, H: 2, W: 2, C: 16}, {T: 2, H: 7, W: 9, C: 33},
		{T: 5, H: 3, W: 3, C: 15}, {T: 1, H: 18, W: 17, C: 31},
	}
}

// poolLarge is the last pool of VGG16 on the 565-pixel canvas: 36 rows become 18.
var poolLarge = ref.Map{T: 1, H: 36, W: 35, C: 512}

func mapName(m ref.Map, extra string) string {
	return named("t=%d,h=%d,w=%d,c=%d%s", m.T, m.H, m.W, m.C, extra)
}

func onMap(name string, m ref.Map, data []float32) *operand {
	return input(name, data, m.T, m.H, m.W, m.C)
}

func toMap(name string, m ref.Map, want []float64, v verdict) *operand {
	return output(name, want, v, m.T, m.H, m.W, m.C)
}

func poolCases() []Case {
	var list []Case
	each := func(op string, extra string, build func(m ref.Map, r *values) *call) {
		for _, m := range poolMaps() {
			list = append(list, Case{Op: op, Name: mapName(m, extra), build: func(r *values) *call { return build(m, r) }})
		}
		list = append(list, Case{Op: op, Name: mapName(poolLarge, extra), Large: true, build: func(r *values) *call {
			return build(poolLarge, r)
		}})
	}
	for _, wd := range []windows{two, three} {
		each(wd.op, "", func(m ref.Map, r *values) *call { return maxPoolCall(wd, m, r) })
		each(wd.op+"Grad", ",relu=false", func(m ref.Map, r *values) *call { return maxPoolGradCall(wd, m, r, false) })
		each(wd.op+"Grad", ",relu=true", func(m ref.Map, r *values) *call { return maxPoolGradCall(wd, m, r, true) })
		each(wd.op+"Grad", ",ties=none", func(m ref.Map, r *values) *call { return maxPoolSlopeCall(wd, m, r) })
	}
	for _, p := range []pool.MaxGradParams{{}, {ReLU: true}, {ReLU: true, Accumulate: true}} {
		for _, wd := range []windows{two, three} {
			name, build := wd.op+"GradBias", func(m ref.Map, r *values) *call { return maxPoolGradBiasCall(wd, m, r, p) }
			each(name, named(",relu=%v,accumulate=%v", p.ReLU, p.Accumulate), build)
			for _, m := range severalParts() {
				list = append(list, Case{Op: name, Name: mapName(m, named(",relu=%v,accumulate=%v", p.ReLU, p.Accumulate)),
					build: func(r *values) *call { return build(m, r) }})
			}
		}
	}
	return append(list, poolRefusals()...)
}

// windows is one way to take maxima, with its operations and their reference.
type windows struct {
	op      string
	border  int     // of ref.MaxPoolArg; with one, an element may be in several windows
	verdict verdict // of the gradient
	forward func(k kernels.Backend, y, x *tensor.Tensor) error
	run     func(k kernels.Backend, dx, dy, x, y *tensor.Tensor, relu bool) error
	runBias func(k kernels.Backend, dx, db, dy, x, y *tensor.Tensor, p pool.MaxGradParams) error
}

var (
	two = windows{op: "MaxPool", verdict: exact, forward: kernels.Backend.MaxPool, run: kernels.Backend.MaxPoolGrad,
		runBias: kernels.Backend.MaxPoolGradBias}
	// three adds up to four gradients in one element.
	three = windows{op: "MaxPool3", border: 1, verdict: sums(4), forward: kernels.Backend.MaxPool3,
		run: kernels.Backend.MaxPool3Grad, runBias: kernels.Backend.MaxPool3GradBias}
)

func maxPoolCall(wd windows, m ref.Map, r *values) *call {
	x := onMap("x", m, r.coarse(m.Len())).computed()
	y := toMap("y", m.CeilHalf(), ref.MaxPool(m, wide(x.float32s), wd.border), exact).computed()
	return &call{operands: []*operand{y, x}, run: func(k kernels.Backend) error { return wd.forward(k, y.t, x.t) }}
}

func maxPoolGradCall(wd windows, m ref.Map, r *values, relu bool) *call {
	x := onMap("x", m, r.coarse(m.Len())).computed() // ties in most windows
	return maxPoolGradOf(wd, m, x, r, relu)
}

// maxPoolSlopeCall has no ties, so the gradient equals the central differences too. bfloat16 has too few
// numbers for it.
func maxPoolSlopeCall(wd windows, m ref.Map, r *values) *call {
	order := make([]int, m.Len())
	for i := range order {
		order[i] = i
	}
	r.stream.Shuffle(order)
	data := make([]float32, m.Len())
	for i, place := range order {
		data[i] = float32(place-m.Len()/2) / 8 // apart by much more than the step of the differences
	}
	k := maxPoolGradOf(wd, m, onMap("x", m, r.held(data)).computed(), r, false)
	if x, dy := wide(data), wide(k.operands[1].float32s); m.Len() < 2000 && r.precision != tensor.BF16 {
		k.operands[0].numeric = differences(x, dy, func() []float64 { return ref.MaxPool(m, x, wd.border) })
	}
	return k
}

func maxPoolGradOf(wd windows, m ref.Map, x *operand, r *values, relu bool) *call {
	out := m.CeilHalf()
	wideX := wide(x.float32s)
	y := onMap("y", out, wideToFloat(ref.MaxPool(m, wideX, wd.border))).computed()
	dy := onMap("dy", out, r.normal(out.Len())).computed()
	want, _ := ref.MaxPoolGrad(m, wide(dy.float32s), wideX, wd.border, relu)
	dx := toMap("dx", m, want, wd.verdict).computed()
	return &call{operands: []*operand{dx, dy, x, y}, run: func(k kernels.Backend) error {
		return wd.run(k, dx.t, dy.t, x.t, y.t, relu)
	}}
}

// severalParts are maps whose windows a device may share among blocks that add up partial sums.
func severalParts() []ref.Map {
	return []ref.Map{{T: 2, H: 47, W: 45, C: 36}, {T: 1, H: 40, W: 41, C: 3}, {T: 3, H: 33, W: 50, C: 8}}
}

func maxPoolGradBiasCall(wd windows, m ref.Map, r *values, p pool.MaxGradParams) *call {
	k := maxPoolGradOf(wd, m, onMap("x", m, r.coarse(m.Len())).computed(), r, p.ReLU)
	dx, dy, x, y := k.operands[0], k.operands[1], k.operands[2], k.operands[3]
	_, want := ref.MaxPoolGrad(m, wide(dy.float32s), wide(x.float32s), wd.border, p.ReLU)
	db := output("db", want, sums(m.CeilHalf().Len()/m.C), m.C)
	if wd.border > 0 {
		_, size := ref.MaxPoolGrad(m, magnitudes(wide(dy.float32s)), wide(x.float32s), wd.border, p.ReLU)
		// sums use dx as it is stored, to which up to four gradients were added
		db.verdict, db.rounded = summed(4, size), true
	}
	if p.Accumulate {
		db.float32s = r.normal(m.C)
		db.want = sum(want, wide(db.float32s))
	}
	return &call{operands: []*operand{dx, db, dy, x, y}, run: func(k kernels.Backend) error {
		return wd.runBias(k, dx.t, db.t, dy.t, x.t, y.t, p)
	}}
}

func poolRefusals() []Case {
	var list []Case
	// of adds the cases of an operation on a map of 1×5×5×3. Its smaller map, the first operand, has a wrong shape.
	of := func(op string, run refusal, others ...*operand) {
		for _, w := range []namedShape{{"floor_mode", []int{1, 2, 2, 3}}, {"channels", []int{1, 3, 3, 4}},
			{"frames", []int{2, 3, 3, 3}}, {"rank", []int{3, 9}}} {
			list = append(list, refuse(op, w.name, run, append([]*operand{blank(w.shape...), blank(1, 5, 5, 3)}, others...)...))
		}
	}
	gradient := func(wd windows) refusal {
		return func(k kernels.Backend, t []*tensor.Tensor) error { return wd.run(k, t[1], t[0], t[1], t[2], false) }
	}
	gradientBias := func(wd windows) refusal {
		return func(k kernels.Backend, t []*tensor.Tensor) error {
			return wd.runBias(k, t[1], t[3], t[0], t[1], t[2], pool.MaxGradParams{})
		}
	}
	y := blank(1, 3, 3, 3)
	for _, wd := range []windows{two, three} {
		of(wd.op, func(k kernels.Backend, t []*tensor.Tensor) error { return wd.forward(k, t[0], t[1]) })
		of(wd.op+"Grad", gradient(wd), y)
		of(wd.op+"GradBias", gradientBias(wd), y, blank(3))
		list = append(list, refuse(wd.op+"GradBias", "bias", gradientBias(wd), y, blank(1, 5, 5, 3), y, blank(4)))
	}
	return list
}
