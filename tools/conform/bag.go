package conform

import (
	"nmn/kernels"
	"nmn/kernels/pool"
	"nmn/kernels/tensor"
	"nmn/tools/ref"
)

// bagging is a batch of bags: maps and their frame offsets, nil for one frame a bag.
type bagging struct {
	ref.Map
	name    string
	offsets []int32
}

// baggings are batches with K, the last dimension, around tile sizes and with bags of one and of many frames.
func baggings() []bagging {
	return []bagging{
		{ref.Map{T: 1, H: 1, W: 1, C: 1}, "none", nil},
		{ref.Map{T: 4, H: 1, W: 1, C: 7}, "none", nil},
		{ref.Map{T: 3, H: 4, W: 6, C: 5}, "none", nil},
		{ref.Map{T: 9, H: 4, W: 6, C: 5}, "ragged", []int32{0, 2, 3, 9}},
		{ref.Map{T: 6, H: 3, W: 1, C: 33}, "one", []int32{0, 6}},
		{ref.Map{T: 5, H: 1, W: 1, C: 16}, "ragged", []int32{0, 1, 2, 5}},
		{ref.Map{T: 3, H: 2, W: 3, C: 17}, "each", []int32{0, 1, 2, 3}},
		{ref.Map{T: 7, H: 2, W: 2, C: 15}, "ragged", []int32{0, 3, 4, 7}},
	}
}

// bagLarge is a clip of 26 frames, with the 12×12 score map of the 565-pixel canvas, and a picture.
var bagLarge = bagging{ref.Map{T: 27, H: 12, W: 12, C: 1000}, "video", []int32{0, 26, 27}}

func (b bagging) bags() []int {
	if b.offsets == nil {
		return offsets(oneEach(b.T))
	}
	return offsets(b.offsets)
}

func (b bagging) count() int { return len(b.bags()) - 1 }

func (b bagging) operand() *operand {
	if b.offsets == nil {
		return none()
	}
	return ints("bags", b.offsets, len(b.offsets))
}

func bagName(b bagging, extra string) string { return mapName(b.Map, ",bags="+b.name+extra) }

func bagCases() []Case {
	var list []Case
	for _, kind := range []pool.Kind{pool.Mean, pool.Max} {
		for _, b := range baggings() {
			list = append(list,
				Case{Op: "BagPool", Name: bagName(b, ",kind="+kind.String()), build: func(r *values) *call {
					return bagPoolCall(b, kind, r)
				}},
				Case{Op: "BagPoolGrad", Name: bagName(b, ",kind="+kind.String()),
					build: func(r *values) *call { return bagPoolGradCall(b, kind, r, false) }},
				Case{Op: "BagPoolGrad", Name: bagName(b, ",kind="+kind.String()+",accumulate=true"),
					build: func(r *values) *call { return bagPoolGradCall(b, kind, r, true) }})
		}
		large := bagging{ref.Map{T: 27, H: 18, W: 18, C: 512}, "video", bagLarge.offsets} // pool5
		list = append(list,
			Case{Op: "BagPool", Name: bagName(large, ",kind="+kind.String()), Large: true, build: func(r *values) *call {
				return bagPoolCall(large, kind, r)
			}},
			Case{Op: "BagPoolGrad", Name: bagName(large, ",kind="+kind.String()), Large: true,
				build: func(r *values) *call { return bagPoolGradCall(large, kind, r, false) }})
	}
	list = append(list, refuseBags("BagPool", func(k kernels.Backend, x, flat, bags *tensor.Tensor) error {
		return k.BagPool(flat, x, bags, pool.Mean)
	})...)
	return append(list, refuseBags("BagPoolGrad", func(k kernels.Backend, x, flat, bags *tensor.Tensor) error {
		return k.BagPoolGrad(x, flat, x, flat, bags, pool.Max, false)
	})...)
}

func bagPoolCall(b bagging, kind pool.Kind, r *values) *call {
	var x *operand
	var g *operand
	if kind == pool.Mean {
		x = onMap("x", b.Map, r.normal(b.Len())).computed()
		g = output("g", ref.BagMean(b.Map, wide(x.float32s), b.bags()), sums(b.H*b.W*b.T), b.count(), b.C)
	} else {
		x = onMap("x", b.Map, r.coarse(b.Len())).computed()
		g = output("g", ref.BagMax(b.Map, wide(x.float32s), b.bags()), exact, b.count(), b.C)
	}
	bags := b.operand()
	return &call{operands: []*operand{g, x, bags}, run: func(k kernels.Backend) error {
		return k.BagPool(g.t, x.t, bags.t, kind)
	}}
}

func bagPoolGradCall(b bagging, kind pool.Kind, r *values, accumulate bool) *call {
	x, dg := onMap("x", b.Map, r.coarse(b.Len())).computed(), input("dg", r.normal(b.count()*b.C), b.count(), b.C)
	wideX, wideDG := wide(x.float32s), wide(dg.float32s)
	g := input("g", wideToFloat(ref.BagMax(b.Map, wideX, b.bags())), b.count(), b.C)
	want := ref.BagMeanGrad(b.Map, wideDG, b.bags())
	if kind == pool.Max {
		want = ref.BagMaxGrad(b.Map, wideDG, wideX, b.bags())
	}
	dx := toMap("dx", b.Map, want, pointwise(2e-7, 0)).computed()
	if accumulate {
		dx.float32s = r.normal(b.Len())
		dx.want, dx.verdict = sum(want, wide(dx.float32s)), pointwise(2e-7, 3e-7)
	} else if kind == pool.Mean && b.Len() < 2000 {
		dx.numeric = differences(wideX, wideDG, func() []float64 { return ref.BagMean(b.Map, wideX, b.bags()) })
	}
	bags := b.operand()
	return &call{operands: []*operand{dx, dg, x, g, bags}, run: func(k kernels.Backend) error {
		return k.BagPoolGrad(dx.t, dg.t, x.t, g.t, bags.t, kind, accumulate)
	}}
}

// refuseBags calls an operation on 4×2×2×3 maps and 2×3 vectors with bags that do not fit.
func refuseBags(op string, run func(k kernels.Backend, x, flat, bags *tensor.Tensor) error) []Case {
	of := func(name string, bags *operand) Case {
		return refuse(op, name, func(k kernels.Backend, t []*tensor.Tensor) error { return run(k, t[0], t[1], t[2]) },
			blank(4, 2, 2, 3), blank(2, 3), bags)
	}
	wrong := []struct {
		name    string
		offsets []int32
		values  bool // only the values are wrong, which a device may not see on the host
	}{
		{"empty_bag", []int32{0, 0, 4}, true},
		{"empty_last_bag", []int32{0, 4, 4}, true},
		{"falling_offsets", []int32{0, 5, 4}, true},
		{"late_start", []int32{1, 2, 4}, true},
		{"early_end", []int32{0, 2, 3}, true},
		{"late_end", []int32{0, 2, 5}, true},
		{"negative_offset", []int32{0, -1, 4}, true},
		{"offset_count", []int32{0, 1, 2, 4}, false},
		{"no_bags", nil, false},
	}
	var list []Case
	for _, w := range wrong {
		c := of(w.name, bagging{offsets: w.offsets}.operand())
		c.Values = w.values
		list = append(list, c)
	}
	return append(list, of("bags_type", blank(3)))
}
