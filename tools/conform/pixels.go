package conform

import (
	"nmn/kernels"
	"nmn/kernels/pixels"
	"nmn/kernels/tensor"
	"nmn/tools/ref"
)

func pixelCases() []Case {
	var list []Case
	add := func(m ref.Map, sizes, flips, large bool) {
		list = append(list, Case{Op: "Normalize", Name: mapName(m, named(",sizes=%v,flips=%v", sizes, flips)), Large: large,
			build: func(r *values) *call { return normalizeCall(m, sizes, flips, r) }})
	}
	for i, m := range []ref.Map{{T: 1, H: 1, W: 1, C: 3}, {T: 3, H: 5, W: 7, C: 3}, {T: 2, H: 6, W: 9, C: 4},
		{T: 2, H: 3, W: 33, C: 8}} {
		add(m, false, false, false)
		add(m, true, true, false)
		add(m, i%2 == 0, i%2 != 0, false)
	}
	add(ref.Map{T: 1, H: 565, W: 565, C: 3}, true, true, true)
	refused := func(name string, shape []int, sizes, flips *operand) Case {
		return refuse("Normalize", name, func(k kernels.Backend, t []*tensor.Tensor) error {
			return k.Normalize(t[0], t[1], t[2], t[3], pixels.Params{})
		}, blank(shape...), octets("pixels", make([]uint8, 72), 2, 3, 4, 3), sizes, flips)
	}
	fits := []int{2, 3, 4, 3}
	return append(list,
		refused("channels", []int{2, 3, 4, 2}, none(), none()),
		refused("rows", []int{2, 4, 4, 3}, none(), none()),
		refused("frames", []int{1, 3, 4, 3}, none(), none()),
		refused("sizes", fits, ints("sizes", []int32{3, 4}, 1, 2), none()),
		refused("flips", fits, none(), octets("flips", make([]uint8, 3), 3)))
}

func normalizeCall(m ref.Map, withSizes, withFlips bool, r *values) *call {
	picture := octets("pixels", make([]uint8, m.T*m.H*m.W*3), m.T, m.H, m.W, 3)
	for i := range picture.uint8s {
		picture.uint8s[i] = uint8(r.stream.Intn(256))
	}
	valid, flipped := make([][2]int, m.T), make([]uint8, m.T)
	sizes, flips := ints("sizes", make([]int32, 2*m.T), m.T, 2), octets("flips", flipped, m.T)
	for t := range valid {
		valid[t] = [2]int{m.H, m.W}
		if withSizes && t != 1 { // the second picture fills its canvas
			valid[t] = [2]int{1 + r.stream.Intn(m.H), 1 + r.stream.Intn(m.W)}
		}
		sizes.int32s[2*t], sizes.int32s[2*t+1] = int32(valid[t][0]), int32(valid[t][1])
		if withFlips {
			flipped[t] = uint8(t+1) % 3 // any number that is not 0 mirrors
		}
	}
	p := pixels.Params{Mean: [3]float32{123.68, 116.779, 103.939}, Scale: [3]float32{1. / 58, 1. / 57, 1}}
	want := ref.Normalize(m, picture.uint8s, valid, flipped, wide3(p.Mean), wide3(p.Scale))
	x := toMap("x", m, want, normalized).computed()
	if !withSizes {
		sizes = none()
	}
	if !withFlips {
		flips = none()
	}
	return &call{operands: []*operand{x, picture, sizes, flips}, run: func(k kernels.Backend) error {
		return k.Normalize(x.t, picture.t, sizes.t, flips.t, p)
	}}
}

func wide3(v [3]float32) [3]float64 { return [3]float64{float64(v[0]), float64(v[1]), float64(v[2])} }

// normalized asks for exact zeros outside of the pictures and for float32 accuracy of the difference.
func normalized(a Accuracy, got, want []float64) error {
	for i := range want {
		if want[i] == 0 && got[i] != 0 {
			return exact(a, got, want)
		}
	}
	return pointwise(3e-7, 2e-5)(a, got, want)
}
