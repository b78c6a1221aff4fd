package conform

import (
	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/tools/ref"
)

var lengths = []int{1, 7, 15, 16, 17, 31, 33, 1000}

func activationCases() []Case {
	return append(dropoutCases("Dropout", kernels.Backend.Dropout), dropoutCases("DropoutGrad",
		kernels.Backend.DropoutGrad)...)
}

func wideToFloat(list []float64) []float32 {
	out := make([]float32, len(list))
	for i, v := range list {
		out[i] = float32(v)
	}
	return out
}

// refusePair calls an element-wise operation with two shapes that differ.
func refusePair(op string, run refusal) Case {
	return refuse(op, "length", run, blank(2, 4), blank(2, 5))
}

// dropout is Dropout or DropoutGrad: the same linear map.
type dropout = func(k kernels.Backend, y, x, keys, seed *tensor.Tensor, rate float32) error

func dropoutCases(op string, run dropout) []Case {
	var list []Case
	for i, shape := range [][]int{{1, 1}, {3, 5}, {2, 3, 3, 5}, {4, 1, 1, 16}, {5, 2, 2, 31}, {1, 1, 1, 1027}} {
		for _, rate := range []float32{0, 0.1, 0.5, 0.75} {
			list = append(list, dropoutCase(op, run, shape, rate, i%2 == 1, false))
		}
	}
	list = append(list, dropoutCase(op, run, []int{32, 1, 1, 4096}, 0.5, false, true))
	wrong := func(name string, keys, seed *operand) Case {
		return refuse(op, name, func(k kernels.Backend, t []*tensor.Tensor) error {
			return run(k, t[0], t[0], t[1], t[2], 0.5)
		}, blank(3, 4), keys, seed)
	}
	three, two := []int32{1, 2, 3}, []int32{1, 2}
	return append(list,
		wrong("keys", ints("keys", two, 2), ints("seed", two, 2)),
		wrong("key_type", blank(3), ints("seed", two, 2)),
		wrong("seed", ints("keys", three, 3), ints("seed", three, 3)),
		wrong("seed_type", ints("keys", three, 3), blank(2)))
}

func dropoutCase(op string, run dropout, shape []int, rate float32, inPlace, large bool) Case {
	name := named("shape=%s,rate=%d,inplace=%v", dimensions(shape), int(rate*100), inPlace)
	return Case{Op: op, Name: name, Large: large, build: func(r *values) *call {
		rows, length := shape[0], 1
		for _, d := range shape[1:] {
			length *= d
		}
		keys := ints("keys", make([]int32, rows), rows)
		for t := range keys.int32s {
			keys.int32s[t] = int32(r.stream.Uint32()) // negative keys too
		}
		x := input("x", r.normal(rows*length), shape...).computed()
		number := r.stream.Uint64()
		seed := ints("seed", []int32{int32(number), int32(number >> 32)}, 2)
		mask := ref.DropoutMask(keys.int32s, length, rate, number)
		y := output("y", ref.Dropout(wide(x.float32s), mask, rate), pointwise(3e-7, 0), shape...).computed()
		if inPlace {
			y.float32s, x = x.float32s, y
		}
		return &call{operands: []*operand{y, keys, seed, x}, run: func(k kernels.Backend) error {
			return run(k, y.t, x.t, keys.t, seed.t, rate)
		}}
	}}
}
