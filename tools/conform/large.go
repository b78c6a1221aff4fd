package conform

import (
	"slices"

	"nmn/kernels"
	"nmn/kernels/noise"
	"nmn/kernels/tensor"
	"nmn/tools/ref"
)

// largeLossCases choose none, one, some, most and more than all of the zero labels, with many equal logits
// and without, on both sides of the number of threads of a block.
func largeLossCases() []Case {
	var list []Case
	for _, shape := range [][]int{{1, 1}, {3, 7}, {4, 33}, {9, 115}} {
		n := shape[0] * shape[1]
		counts := []int{-1, 0, 1, 1 + n/20, n / 3, n, 2 * n}
		slices.Sort(counts)
		for _, count := range slices.Compact(counts) {
			for _, logits := range []string{"normal", "coarse", "extreme"} {
				list = append(list, largeLossCase(shape, count, logits, noise.Unknown, false))
			}
		}
		list = append(list, largeLossCase(shape, 1+n/20, "normal", 1, false))
	}
	list = append(list, largeLossCase([]int{16, 1000}, 320, "normal", 1, true))
	run := func(k kernels.Backend, t []*tensor.Tensor) error { return k.LargeLosses(t[0], t[1], t[2], t[3], 1) }
	for _, w := range []struct {
		name                  string
		targets, o, z, counts []int
	}{
		{"targets", []int{3, 5}, []int{3, 4}, []int{3, 4}, []int{1}},
		{"labels", []int{3, 4}, []int{3, 4}, []int{4, 3}, []int{1}},
		{"logits", []int{3, 4}, []int{12}, []int{3, 4}, []int{1}},
		{"counts", []int{3, 4}, []int{3, 4}, []int{3, 4}, []int{2}},
	} {
		list = append(list, refuse("LargeLosses", w.name, run, blank(w.targets...), blank(w.o...), blank(w.z...),
			ints("count", make([]int32, w.counts[0]), w.counts...)))
	}
	return append(list, refuse("LargeLosses", "count_type", run, blank(3, 4), blank(3, 4), blank(3, 4), blank(1)))
}

func largeLossCase(shape []int, count int, logits string, instead float32, large bool) Case {
	name := named("shape=%s,count=%d,logits=%s,instead=%g", dimensions(shape), count, logits, instead)
	return Case{Op: "LargeLosses", Name: name, Large: large, build: func(r *values) *call {
		n, k := shape[0], shape[1]
		values := r.coarse(n * k) // of a few levels: ties decide
		if logits != "coarse" {
			values = spreadLogits(n*k, logits == "extreme", r)
		}
		z := input("z", r.labels(n*k), n, k)
		for i := range z.float32s {
			switch r.stream.Intn(6) {
			case 0:
				z.float32s[i] = noise.Unknown
			case 1:
				z.float32s[i] = .25
			}
		}
		o, counts := input("o", values, n, k), ints("count", []int32{int32(count)}, 1)
		targets := output("targets", ref.LargeLosses(wide(o.float32s), wide(z.float32s), count, float64(instead)),
			exact, n, k)
		return &call{operands: []*operand{targets, o, z, counts}, run: func(b kernels.Backend) error {
			return b.LargeLosses(targets.t, o.t, z.t, counts.t, instead)
		}}
	}}
}

// spreadLogits are ordinary logits or, for extremes, magnitudes to 1e4.
func spreadLogits(n int, extreme bool, r *values) []float32 {
	o := r.normal(n)
	if extreme {
		r.stretch(o, 1e4)
		return o
	}
	for i := range o {
		o[i] = 3*o[i] - 2
	}
	return o
}
