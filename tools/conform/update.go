package conform

import (
	"fmt"
	"math"

	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/kernels/update"
	"nmn/tools/ref"
)

// parameter is an entry of an update before it is bound to a device.
type parameter struct {
	w, g, m, v, average *operand
	lr, decay           float32
}

func updateCases() []Case {
	list := []Case{
		sgdCase("mixed", mixed, 0.9), sgdCase("mixed", mixed, 0), sgdCase("none", nil, 0.9),
		{Op: "SGD", Name: "entries=large", Large: true, build: func(r *values) *call {
			return sgdCall(r, []int{1 << 20}, 0.9)
		}},
	}
	for _, op := range []string{"Adam", "AdamW"} {
		decoupled := op == "AdamW"
		for _, step := range []int{1, 2, 10, 1000, 100_000} {
			list = append(list, Case{Op: op, Name: named("entries=mixed,step=%d", step), build: func(r *values) *call {
				return adamCall(r, mixed, step, decoupled)
			}})
		}
		list = append(list, Case{Op: op, Name: "entries=large", Large: true, build: func(r *values) *call {
			return adamCall(r, []int{1 << 20}, 3, decoupled)
		}})
	}
	list = append(list, averageCases()...)
	list = append(list, normCases()...)
	for _, limit := range []float32{0.5, 2, 3} {
		list = append(list, Case{Op: "Clip", Name: named("norm=2,limit=%d_tenths", int(10*limit)),
			build: func(r *values) *call { return clipCall(r, limit) }})
	}
	for _, n := range lengths {
		list = append(list, zeroCase(fmt.Sprintf("float32,l=%d", n), input("t", make([]float32, n), n)))
	}
	list = append(list, zeroCase("int32", ints("t", make([]int32, 37), 37)),
		zeroCase("uint8", octets("t", make([]uint8, 37), 37)))
	return append(list, updateRefusals()...)
}

// mixed are parameter lengths around vector sizes. The entry at index frozen has learning rate 0.
var mixed = []int{1, 7, 16, 33, 1000, 15}

const frozen = 3

func sgdCase(name string, lengths []int, momentum float32) Case {
	return Case{Op: "SGD", Name: named("entries=%s,momentum=%d_tenths", name, int(10*momentum)),
		build: func(r *values) *call { return sgdCall(r, lengths, momentum) }}
}

// parameters draws entries with different rates and decays. Moments are not negative, for Adam's v.
func (v *values) parameters(lengths []int) []parameter {
	list := make([]parameter, len(lengths))
	for i, n := range lengths {
		second := v.normal(n)
		for j := range second {
			second[j] *= second[j]
		}
		list[i] = parameter{
			w: input(fmt.Sprintf("w%d", i), v.normal(n), n), g: input(fmt.Sprintf("g%d", i), v.normal(n), n),
			m: input(fmt.Sprintf("m%d", i), v.normal(n), n), v: input(fmt.Sprintf("v%d", i), second, n),
			lr: float32(0.1 * v.stream.Uniform(1, 5)), decay: float32(i%3) * 0.05, average: none(),
		}
		if i == frozen {
			list[i].lr = 0
		}
	}
	return list
}

// onEntries is a call on the entries of parameters, which run gets when all operands have memory.
func onEntries(operands []*operand, list []parameter, run func(k kernels.Backend, e []update.Entry) error) *call {
	slots := make([]update.Entry, len(list))
	return &call{operands: operands, run: func(k kernels.Backend) error {
		for i, p := range list {
			slots[i] = update.Entry{W: p.w.t, G: p.g.t, M: p.m.t, V: p.v.t, Average: p.average.t, LR: p.lr, Decay: p.decay}
		}
		return run(k, slots)
	}}
}

func sgdCall(r *values, lengths []int, momentum float32) *call {
	list := r.parameters(lengths)
	var operands []*operand
	for i := range list {
		p := &list[i]
		p.v = none()
		w, m := wide(p.w.float32s), wide(p.m.float32s)
		ref.SGD(w, wide(p.g.float32s), m, float64(p.lr), float64(p.decay), float64(momentum))
		p.changes(w, m, nil)
		operands = append(operands, p.w, p.g, p.m)
	}
	return onEntries(operands, list, func(k kernels.Backend, e []update.Entry) error { return k.SGD(e, momentum) })
}

// changes sets the expected result of an update. A frozen parameter must keep its bits.
func (p *parameter) changes(w, m, v []float64) {
	judge := pointwise(1e-6, 1e-6)
	if p.lr == 0 {
		judge = exact
	}
	p.w.want, p.w.verdict = w, judge
	p.m.want, p.m.verdict = m, judge
	if v != nil {
		p.v.want, p.v.verdict = v, judge
	}
}

func adamCall(r *values, lengths []int, step int, decoupled bool) *call {
	const beta1, beta2, epsilon = float32(0.9), float32(0.999), float32(1e-8)
	list := r.parameters(lengths)
	var operands []*operand
	for i := range list {
		p := &list[i]
		if step == 1 { // as a run starts
			clear(p.m.float32s)
			clear(p.v.float32s)
		}
		w, m, v := wide(p.w.float32s), wide(p.m.float32s), wide(p.v.float32s)
		formula := ref.Adam
		if decoupled {
			formula = ref.AdamW
		}
		formula(w, wide(p.g.float32s), m, v, float64(p.lr), float64(p.decay), float64(beta1), float64(beta2),
			float64(epsilon), step)
		p.changes(w, m, v)
		if p.lr != 0 {
			p.w.verdict = pointwise(1e-6, 2e-6)
		}
		operands = append(operands, p.w, p.g, p.m, p.v)
	}
	return onEntries(operands, list, func(k kernels.Backend, e []update.Entry) error {
		constants := update.AdamParams{Beta1: beta1, Beta2: beta2, Epsilon: epsilon, Step: step}
		if decoupled {
			return k.AdamW(e, constants)
		}
		return k.Adam(e, constants)
	})
}

func normCases() []Case {
	build := func(name string, large bool, lengths []int, spoil func(list []parameter), judge verdict) Case {
		return Case{Op: "GradNorm", Name: "entries=" + name, Large: large, build: func(r *values) *call {
			list := r.parameters(lengths)
			if spoil != nil {
				spoil(list)
			}
			var operands []*operand
			var gradients [][]float64
			for i := range list {
				p := &list[i]
				p.m, p.v = none(), none()
				operands = append(operands, p.w, p.g)
				if p.lr != 0 {
					gradients = append(gradients, wide(p.g.float32s))
				}
			}
			norm := output("norm", []float64{ref.Norm(gradients...)}, judge, 1)
			return onEntries(append(operands, norm), list, func(k kernels.Backend, e []update.Entry) error {
				return k.GradNorm(norm.t, e)
			})
		}}
	}
	close := pointwise(2e-6, 0)
	return []Case{
		build("none", false, nil, nil, exact),
		build("mixed", false, mixed, nil, close),
		build("nan", false, mixed, func(list []parameter) { list[4].g.float32s[999] = float32(math.NaN()) }, notFinite),
		build("infinity", false, mixed, func(list []parameter) { list[1].g.float32s[3] = float32(math.Inf(-1)) }, notFinite),
		build("frozen_nan", false, mixed, func(list []parameter) { list[frozen].g.float32s[0] = float32(math.NaN()) }, close),
		build("large", true, []int{1 << 20, 3}, nil, pointwise(1e-5, 0)),
	}
}

func notFinite(_ Accuracy, got, _ []float64) error {
	if !math.IsNaN(got[0]) && !math.IsInf(got[0], 0) {
		return fmt.Errorf("the norm of gradients that are not finite is %v", got[0])
	}
	return nil
}

func clipCall(r *values, limit float32) *call {
	list := r.parameters([]int{1, 7, 33, 1000})
	norm := input("norm", []float32{2}, 1)
	operands := []*operand{norm}
	for i := range list {
		p := &list[i]
		p.m, p.v, p.lr = none(), none(), 0.1
		p.g.want, p.g.verdict = ref.Clip(wide(p.g.float32s), 2, float64(limit)), pointwise(3e-7, 0)
		operands = append(operands, p.w, p.g)
	}
	return onEntries(operands, list, func(k kernels.Backend, e []update.Entry) error { return k.Clip(e, norm.t, limit) })
}

func zeroCase(name string, t *operand) Case {
	return Case{Op: "Zero", Name: "dtype=" + name, build: func(r *values) *call {
		x := *t // a case may be made more than once
		for i := range x.float32s {
			x.float32s[i] = float32(r.stream.Normal(0, 1))
		}
		for i := range x.int32s {
			x.int32s[i] = int32(r.stream.Uint32())
		}
		for i := range x.uint8s {
			x.uint8s[i] = uint8(r.stream.Uint32())
		}
		x.want, x.verdict = make([]float64, x.length()), exact
		return &call{operands: []*operand{&x}, run: func(k kernels.Backend) error { return k.Zero(x.t) }}
	}}
}

func updateRefusals() []Case {
	adam := update.AdamParams{Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, Step: 1}
	of := func(op, name string, w, g, m, v *operand, run func(k kernels.Backend, e []update.Entry) error) Case {
		return refuse(op, name, func(k kernels.Backend, t []*tensor.Tensor) error {
			return run(k, []update.Entry{{W: t[0], G: t[1], M: t[2], V: t[3], LR: 0.1}})
		}, w, g, m, v)
	}
	sgd := func(k kernels.Backend, e []update.Entry) error { return k.SGD(e, 0.9) }
	adamW := func(k kernels.Backend, e []update.Entry) error { return k.AdamW(e, adam) }
	plain := func(k kernels.Backend, e []update.Entry) error { return k.Adam(e, adam) }
	four, five := blank(4), blank(5)
	return []Case{
		of("SGD", "gradient", four, five, four, none(), sgd),
		of("SGD", "momentum", four, four, blank(3), none(), sgd),
		of("SGD", "momentum_missing", four, four, none(), none(), sgd),
		of("Adam", "gradient", four, five, four, four, plain),
		of("Adam", "second_moment", four, four, four, five, plain),
		of("Adam", "second_moment_missing", four, four, four, none(), plain),
		of("AdamW", "second_moment", four, four, four, five, adamW),
		of("AdamW", "second_moment_missing", four, four, four, none(), adamW),
		of("Average", "average_missing", four, four, none(), none(),
			func(k kernels.Backend, e []update.Entry) error { return k.Average(e, .1) }),
		of("Exchange", "average_missing", four, four, none(), none(),
			func(k kernels.Backend, e []update.Entry) error { return k.Exchange(e) }),
		refuse("GradNorm", "norm", func(k kernels.Backend, t []*tensor.Tensor) error {
			return k.GradNorm(t[1], []update.Entry{{W: t[0], G: t[0], LR: 1}})
		}, four, blank(2)),
		refuse("Clip", "norm", func(k kernels.Backend, t []*tensor.Tensor) error {
			return k.Clip([]update.Entry{{W: t[0], G: t[0], LR: 1}}, t[1], 1)
		}, four, blank(2)),
	}
}

func averageCases() []Case {
	var list []Case
	for _, share := range []float32{0, 0.001, 0.5, 1} {
		list = append(list, Case{Op: "Average", Name: named("entries=mixed,share=%d_thousandths", int(1000*share)),
			build: func(r *values) *call { return averageCall(r, mixed, share) }})
	}
	return append(list,
		Case{Op: "Average", Name: "entries=none", build: func(r *values) *call { return averageCall(r, nil, 0.1) }},
		Case{Op: "Average", Name: "entries=large", Large: true,
			build: func(r *values) *call { return averageCall(r, []int{1 << 20}, 0.1) }},
		Case{Op: "Exchange", Name: "entries=mixed", build: func(r *values) *call { return exchangeCall(r, mixed) }},
		Case{Op: "Exchange", Name: "entries=large", Large: true,
			build: func(r *values) *call { return exchangeCall(r, []int{1 << 20}) }})
}

// averages turns the first moments of parameters into averages.
func (v *values) averages(lengths []int) (list []parameter, operands []*operand) {
	list = v.parameters(lengths)
	for i := range list {
		p := &list[i]
		p.average, p.m, p.v = p.m, none(), none()
		operands = append(operands, p.w, p.g, p.average)
	}
	return list, operands
}

func averageCall(r *values, lengths []int, share float32) *call {
	list, operands := r.averages(lengths)
	for i := range list {
		p := &list[i]
		want := wide(p.average.float32s)
		p.average.verdict = exact
		if p.lr != 0 {
			ref.Average(want, wide(p.w.float32s), 1-float64(share))
			p.average.verdict = pointwise(1e-6, 1e-6)
		}
		p.average.want = want
	}
	return onEntries(operands, list, func(k kernels.Backend, e []update.Entry) error { return k.Average(e, share) })
}

func exchangeCall(r *values, lengths []int) *call {
	list, operands := r.averages(lengths)
	for i := range list {
		p := &list[i]
		w, average := wide(p.w.float32s), wide(p.average.float32s)
		if p.lr != 0 {
			w, average = average, w
		}
		p.w.want, p.w.verdict = w, exact
		p.average.want, p.average.verdict = average, exact
	}
	return onEntries(operands, list, func(k kernels.Backend, e []update.Entry) error { return k.Exchange(e) })
}
