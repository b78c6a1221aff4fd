package conform

import (
	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/tools/ref"
)

// likelihoodCases are the parts of the noise step that exist alone: noisy-or and cross entropy.
func likelihoodCases() []Case {
	var list []Case
	for _, extreme := range []bool{false, true} {
		for _, b := range baggings() {
			list = append(list, noisyORCase(b, extreme, false), noisyORGradCase(b, extreme, false))
		}
	}
	large := bagLarge
	large.C = 250
	list = append(list, noisyORCase(large, false, true), noisyORGradCase(large, false, true))
	list = append(list, refuseBags("NoisyOR", func(k kernels.Backend, x, flat, bags *tensor.Tensor) error {
		return k.NoisyOR(flat, x, bags)
	})...)
	list = append(list, refuseBags("NoisyORGrad", func(k kernels.Backend, x, flat, bags *tensor.Tensor) error {
		return k.NoisyORGrad(x, flat, x, bags)
	})...)
	for _, shape := range [][]int{{1, 1}, {3, 7}, {4, 16}, {5, 33}} {
		for _, outputs := range []string{"both", "loss", "gradient"} {
			list = append(list, bceCase(shape, outputs, false))
		}
		list = append(list, bceCase(shape, "both", true))
	}
	run := func(k kernels.Backend, t []*tensor.Tensor) error { return k.BCE(t[0], t[1], t[2], t[3], 1) }
	return append(list, refuse("BCE", "labels", run, blank(3), none(), blank(3, 4), blank(3, 5)),
		refuse("BCE", "loss", run, blank(4), none(), blank(3, 4), blank(3, 4)),
		refuse("BCE", "gradient", run, none(), blank(4, 3), blank(3, 4), blank(3, 4)))
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

func tight(extreme bool) verdict {
	if extreme {
		return pointwise(2e-3, 1e-30)
	}
	return pointwise(5e-5, 1e-7)
}

func noisyORCase(b bagging, extreme, large bool) Case {
	return Case{Op: "NoisyOR", Name: bagName(b, named(",extreme=%v", extreme)), Large: large,
		build: func(r *values) *call {
			o := onMap("o", b.Map, spreadLogits(b.Len(), extreme, r))
			p := output("p", noisyOR(b, wide(o.float32s)), tight(extreme), b.count(), b.C)
			bags := b.operand()
			return &call{operands: []*operand{p, o, bags}, run: func(k kernels.Backend) error {
				return k.NoisyOR(p.t, o.t, bags.t)
			}}
		}}
}

func noisyOR(b bagging, o []float64) []float64 {
	p := make([]float64, b.count()*b.C)
	for n := range b.count() {
		for k := range b.C {
			p[n*b.C+k] = ref.NoisyOR(b.instances(o, n, k))
		}
	}
	return p
}

func noisyORGradCase(b bagging, extreme, large bool) Case {
	return Case{Op: "NoisyORGrad", Name: bagName(b, named(",extreme=%v", extreme)), Large: large,
		build: func(r *values) *call {
			o, dp := onMap("o", b.Map, spreadLogits(b.Len(), extreme, r)), input("dp", r.normal(b.count()*b.C), b.count(), b.C)
			wideO, wideDP := wide(o.float32s), wide(dp.float32s)
			want := make([]float64, b.Len())
			for n := range b.count() {
				for k := range b.C {
					b.scatter(want, ref.NoisyORGrad(wideDP[n*b.C+k], b.instances(wideO, n, k)), n, k)
				}
			}
			do := toMap("do", b.Map, want, tight(extreme))
			if !extreme && b.Len() < 2000 {
				do.numeric = differences(wideO, wideDP, func() []float64 { return noisyOR(b, wideO) })
			}
			bags := b.operand()
			return &call{operands: []*operand{do, dp, o, bags}, run: func(k kernels.Backend) error {
				return k.NoisyORGrad(do.t, dp.t, o.t, bags.t)
			}}
		}}
}

func bceCase(shape []int, outputs string, extreme bool) Case {
	name := named("shape=%s,outputs=%s,extreme=%v", dimensions(shape), outputs, extreme)
	return Case{Op: "BCE", Name: name, build: func(r *values) *call {
		const scale = 0.25
		n, k := shape[0], shape[1]
		o, z := input("o", spreadLogits(n*k, extreme, r), n, k), input("z", make([]float32, n*k), n, k)
		for i := range z.float32s {
			z.float32s[i] = float32(r.stream.Intn(5)) / 4
		}
		wantLoss, wantDO := make([]float64, n), make([]float64, n*k)
		for i, v := range wide(o.float32s) {
			l, d := ref.BCE(v, float64(z.float32s[i]))
			wantLoss[i/k] += l
			wantDO[i] = scale * d
		}
		loss, do := output("loss", wantLoss, pointwise(2e-6, 1e-6), n), output("do", wantDO, pointwise(1e-5, 1e-7), n, k)
		switch outputs {
		case "loss":
			do = none()
		case "gradient":
			loss = none()
		}
		return &call{operands: []*operand{o, z, loss, do}, run: func(b kernels.Backend) error {
			return b.BCE(loss.t, do.t, o.t, z.t, scale)
		}}
	}}
}
