package conform

import (
	"strings"

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
			if strings.HasPrefix(op, "Avg") && m.FloorHalf().Len() == 0 {
				continue // no whole window
			}
			list = append(list, Case{Op: op, Name: mapName(m, extra), build: func(r *values) *call { return build(m, r) }})
		}
		list = append(list, Case{Op: op, Name: mapName(poolLarge, extra), Large: true, build: func(r *values) *call {
			return build(poolLarge, r)
		}})
	}
	each("MaxPool", "", maxPoolCall)
	each("MaxPool3", "", maxPool3Call)
	each("MaxPoolGrad", ",relu=false", func(m ref.Map, r *values) *call { return maxPoolGradCall(two, m, r, false) })
	each("MaxPoolGrad", ",relu=true", func(m ref.Map, r *values) *call { return maxPoolGradCall(two, m, r, true) })
	each("MaxPoolGrad", ",ties=none", func(m ref.Map, r *values) *call { return maxPoolSlopeCall(two, m, r) })
	each("MaxPool3Grad", ",relu=false", func(m ref.Map, r *values) *call { return maxPoolGradCall(three, m, r, false) })
	each("MaxPool3Grad", ",relu=true", func(m ref.Map, r *values) *call { return maxPoolGradCall(three, m, r, true) })
	each("MaxPool3Grad", ",ties=none", func(m ref.Map, r *values) *call { return maxPoolSlopeCall(three, m, r) })
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
	each("AvgPool", "", avgPoolCall)
	each("AvgPoolGrad", "", avgPoolGradCall)
	return append(append(list, poolRefusals()...), pool3Refusals()...)
}

func maxPoolCall(m ref.Map, r *values) *call {
	x := onMap("x", m, r.coarse(m.Len())).computed()
	y := toMap("y", m.CeilHalf(), ref.MaxPool(m, wide(x.float32s)), exact).computed()
	return &call{operands: []*operand{y, x}, run: func(k kernels.Backend) error { return k.MaxPool(y.t, x.t) }}
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
		k.operands[0].numeric = differences(x, dy, func() []float64 { return wd.maxima(m, x) })
	}
	return k
}

func maxPoolGradOf(wd windows, m ref.Map, x *operand, r *values, relu bool) *call {
	out := m.CeilHalf()
	wideX := wide(x.float32s)
	y, dy := onMap("y", out, wideToFloat(wd.maxima(m, wideX))).computed(), onMap("dy", out, r.normal(out.Len())).computed()
	dx := toMap("dx", m, wd.gradient(m, wide(dy.float32s), wideX, relu), wd.verdict).computed()
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
	_, want := wd.withBias(m, wide(dy.float32s), wide(x.float32s), p.ReLU)
	db := output("db", want, sums(m.CeilHalf().Len()/m.C), m.C)
	if wd.overlap {
		_, size := wd.withBias(m, magnitudes(wide(dy.float32s)), wide(x.float32s), p.ReLU)
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

func avgPoolCall(m ref.Map, r *values) *call {
	x := onMap("x", m, r.normal(m.Len()))
	y := toMap("y", m.FloorHalf(), ref.AvgPool(m, wide(x.float32s)), pointwise(0, 1e-6))
	return &call{operands: []*operand{y, x}, run: func(k kernels.Backend) error { return k.AvgPool(y.t, x.t) }}
}

func avgPoolGradCall(m ref.Map, r *values) *call {
	out := m.FloorHalf()
	dy := onMap("dy", out, r.normal(out.Len()))
	wideX, wideDY := wide(r.normal(m.Len())), wide(dy.float32s)
	dx := toMap("dx", m, ref.AvgPoolGrad(m, wideDY), exact)
	if m.Len() < 2000 {
		dx.numeric = differences(wideX, wideDY, func() []float64 { return ref.AvgPool(m, wideX) })
	}
	return &call{operands: []*operand{dx, dy}, run: func(k kernels.Backend) error { return k.AvgPoolGrad(dx.t, dy.t) }}
}

func poolRefusals() []Case {
	var list []Case
	for _, wrong := range []wrongShape{{"floor_mode", []int{1, 2, 2, 3}}, {"channels", []int{1, 3, 3, 4}},
		{"frames", []int{2, 3, 3, 3}}, {"rank", []int{3, 9}}} {
		list = append(list,
			refuse("MaxPool", wrong.name, func(*values) *call {
				y, x := blank(wrong.shape...), blank(1, 5, 5, 3)
				return &call{operands: []*operand{y, x}, run: func(k kernels.Backend) error { return k.MaxPool(y.t, x.t) }}
			}),
			refuse("MaxPoolGrad", wrong.name, func(*values) *call {
				dy, x, y := blank(wrong.shape...), blank(1, 5, 5, 3), blank(1, 3, 3, 3)
				return &call{operands: []*operand{dy, x, y}, run: func(k kernels.Backend) error {
					return k.MaxPoolGrad(x.t, dy.t, x.t, y.t, false)
				}}
			}),
			refuse("MaxPoolGradBias", wrong.name, func(*values) *call {
				dy, x, y, db := blank(wrong.shape...), blank(1, 5, 5, 3), blank(1, 3, 3, 3), blank(3)
				return &call{operands: []*operand{dy, x, y, db}, run: func(k kernels.Backend) error {
					return k.MaxPoolGradBias(x.t, db.t, dy.t, x.t, y.t, pool.MaxGradParams{})
				}}
			}))
	}
	list = append(list, refuse("MaxPoolGradBias", "bias", func(*values) *call {
		dx, db, dy, x, y := blank(1, 5, 5, 3), blank(4), blank(1, 3, 3, 3), blank(1, 5, 5, 3), blank(1, 3, 3, 3)
		return &call{operands: []*operand{dx, db, dy, x, y}, run: func(k kernels.Backend) error {
			return k.MaxPoolGradBias(dx.t, db.t, dy.t, x.t, y.t, pool.MaxGradParams{})
		}}
	}))
	for _, wrong := range []wrongShape{{"ceil_mode", []int{1, 3, 3, 3}}, {"channels", []int{1, 2, 2, 4}},
		{"rank", []int{3, 4}}} {
		list = append(list,
			refuse("AvgPool", wrong.name, func(*values) *call {
				y, x := blank(wrong.shape...), blank(1, 5, 5, 3)
				return &call{operands: []*operand{y, x}, run: func(k kernels.Backend) error { return k.AvgPool(y.t, x.t) }}
			}),
			refuse("AvgPoolGrad", wrong.name, func(*values) *call {
				dy, dx := blank(wrong.shape...), blank(1, 5, 5, 3)
				return &call{operands: []*operand{dy, dx}, run: func(k kernels.Backend) error { return k.AvgPoolGrad(dx.t, dy.t) }}
			}))
	}
	return list
}
