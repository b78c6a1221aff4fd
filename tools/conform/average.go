package conform

import (
	"nmn/kernels"
	"nmn/kernels/update"
	"nmn/tools/ref"
)

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
