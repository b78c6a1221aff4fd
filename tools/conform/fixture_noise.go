package conform

import (
	"math"
	"strings"

	"nmn/kernels/conv"
	"nmn/kernels/noise"
	"nmn/kernels/pool"
	"nmn/kernels/tensor"
)

// step is a call of NoiseStep with all its destinations.
type step struct {
	noise.StepOutput
	logits, confidence, labels, bags *tensor.Tensor
}

// newStep allocates the destinations for n bags of k classes.
func (d *bench) newStep(logits *tensor.Tensor, n, k int) *step {
	return &step{logits: logits, StepOutput: noise.StepOutput{
		Loss: d.zeros(n), DLogits: d.zeros(logits.Shape()...), DO: d.zeros(n, 2, 2, k), Prob: d.zeros(n, k),
		Observed: d.zeros(n, k), Posterior: d.zeros(n, k), BagLogit: d.zeros(n, k),
	}}
}

// run calls NoiseStep with a scale of 1.
func (d *bench) run(s *step, mil bool) {
	d.t.Helper()
	if s.confidence == nil {
		s.DO = nil
	}
	d.ok(d.b.NoiseStep(s.StepOutput, s.logits, s.confidence, s.labels, s.bags, noise.StepParams{MIL: mil, Scale: 1}))
}

// overBags sums a tensor over its first dimension: dO to the gradient of the bias.
func (d *bench) overBags(x *tensor.Tensor) []float32 {
	values := Download(d.t, d.b, x)
	row := len(values) / x.Dim(0)
	total := make([]float64, row)
	for i, v := range values {
		total[i%row] += float64(v)
	}
	return wideToFloat(total)
}

// total is the sum of a tensor as one value.
func (d *bench) total(x *tensor.Tensor) []float32 {
	sum := 0.0
	for _, v := range Download(d.t, d.b, x) {
		sum += float64(v)
	}
	return []float32{float32(sum)}
}

// dependent is the feature-dependent noise model by the operations that it consists of: pooling of X
// to g, a 1×1 convolution of g to O, and back.
type dependent struct {
	x, bags, g, u, b, confidence *tensor.Tensor
	kind                         pool.Kind
}

func (d *bench) forward(f *Fixture, bags *tensor.Tensor, n, k int, kind pool.Kind) *dependent {
	x := d.up(f.Input("X").NHWC())
	features := x.Dim(-1)
	m := &dependent{
		x: x, bags: bags, g: d.zeros(n, features), kind: kind, confidence: d.zeros(n, 2, 2, k),
		u: d.up(f.Input("U"), 4*k, 1, 1, features), b: d.up(f.Input("b"), 4*k),
	}
	d.ok(d.b.BagPool(m.g, x, bags, kind))
	d.ok(d.b.Conv(d.view(m.confidence, n, 1, 1, 4*k), d.view(m.g, n, 1, 1, features), m.u, m.b, conv.Params{}))
	return m
}

func (d *bench) view(x *tensor.Tensor, shape ...int) *tensor.Tensor {
	d.t.Helper()
	v, err := x.Reshape(shape...)
	d.ok(err)
	return v
}

// backward checks the gradients of U, b, g and X that the fixture has, under a prefix.
func (d *bench) backward(f *Fixture, prefix string, m *dependent, dO *tensor.Tensor) {
	n, features, outputs := m.g.Dim(0), m.g.Dim(1), m.b.Len()
	dy, g := d.view(dO, n, 1, 1, outputs), d.view(m.g, n, 1, 1, features)
	du, db, dg, dx := d.zeros(m.u.Shape()...), d.zeros(outputs), d.zeros(n, 1, 1, features), d.zeros(m.x.Shape()...)
	d.ok(d.b.ConvGradFilter(du, g, dy, conv.Params{}))
	d.ok(d.b.ConvGradBias(db, dy, conv.Params{}))
	d.ok(d.b.ConvGradData(dg, dy, m.u, nil, conv.Params{}))
	d.ok(d.b.BagPoolGrad(dx, d.view(dg, n, features), m.x, m.g, m.bags, m.kind, false))
	d.want(f.Expected(prefix+"d_U"), du)
	d.want(f.Expected(prefix+"d_b"), db)
	if f.Has("expected." + prefix + "d_g") {
		d.want(f.Expected(prefix+"d_g"), dg)
	}
	if f.Has("expected." + prefix + "d_X") {
		d.want(f.Expected(prefix+"d_X").NHWC(), dx)
	}
}

// checkStep holds NoiseStep to a fixture by each way to pool the instances of a bag, and the noise model that depends
// on features by each way to pool them, for which a fixture may have groups of expected values.
func checkStep(mil ...bool) func(*bench, *Fixture) {
	return func(d *bench, f *Fixture) {
		groups := map[string]pool.Kind{"": pool.Mean}
		if f.Has("expected.max.g") {
			groups = map[string]pool.Kind{"mean.": pool.Mean, "max.": pool.Max}
		}
		for prefix, kind := range groups {
			for _, or := range mil {
				d.checkStep(f, prefix, kind, or)
			}
		}
	}
}

func (d *bench) checkStep(f *Fixture, prefix string, kind pool.Kind, mil bool) {
	o := f.Input("o").NHWC()
	if len(o.Shape) == 2 {
		o.Shape = []int{o.Shape[0], 1, 1, o.Shape[1]}
	}
	n, k, bags := o.Shape[0], o.Shape[3], (*tensor.Tensor)(nil)
	if f.Has("inputs.frame_offsets") {
		bags = d.up(f.Input("frame_offsets"))
		n = bags.Len() - 1
	}
	s := d.newStep(d.up(o), n, k)
	s.bags = bags
	if f.Has("inputs.z") {
		s.labels = d.up(f.Input("z"))
	} else {
		s.Loss, s.DLogits, s.Posterior = nil, nil, nil
	}
	m := &dependent{}
	switch {
	case f.Has("inputs.U"):
		m = d.forward(f, bags, n, k, kind)
		s.confidence = m.confidence
	case f.Has("inputs.O"):
		s.confidence = d.up(f.Input("O"))
	case f.Has("inputs.b"):
		s.confidence = d.up(f.Input("b"), 1, 2, 2, k)
	}
	d.run(s, mil)
	checked := 0
	for name, x := range map[string]*tensor.Tensor{"p1": s.Prob, "p": s.Prob, "bag_logit": s.BagLogit,
		"p_obs": s.Observed, "rho1": s.Posterior, "loss_per_image": s.Loss, "loss_per_bag": s.Loss, "nll": s.Loss,
		"d_o": s.DLogits, "g": m.g, "O": m.confidence, "d_O": s.DO} {
		if x == nil || !f.Has("expected."+prefix+name) || name == "nll" && k > 1 { // the losses of classes are not returned
			continue
		}
		want := f.Expected(prefix + name)
		if name == "d_o" {
			want = want.NHWC()
		}
		d.want(want, x)
		checked++
	}
	if checked < 2 {
		d.t.Errorf("fixture %q has %d of the results of a step", f.Name, checked)
	}
	if s.labels != nil && f.Has("expected."+prefix+"loss") {
		f.Expected(prefix+"loss").Check(d.t, d.total(s.Loss))
	}
	if s.confidence != nil && f.Has("expected."+prefix+"d_b") {
		f.Expected(prefix+"d_b").Check(d.t, d.overBags(s.DO))
	}
	if m.u != nil {
		d.backward(f, prefix, m, s.DO)
	}
}

// checkPosterior reads rows of p1, q01, q10, z, p(z), rho1, dL/do. Probabilities of 0 and 1 become the
// largest logits that the contract allows.
func checkPosterior(d *bench, f *Fixture) {
	logOdds := func(p, limit float64) float64 {
		return math.Max(-limit, math.Min(limit, math.Log(p/(1-p))))
	}
	rows := f.Rows("expected.rows")
	n := len(rows)
	column := func(value func(row []float64) float64) Array {
		a := Array{Shape: []int{n, 1}}
		for _, row := range rows {
			a.Data = append(a.Data, value(row))
		}
		return a
	}
	s := d.newStep(d.up(column(func(row []float64) float64 { return logOdds(row[0], 1e4) }), n, 1, 1, 1), n, 1)
	confidence := Array{Shape: []int{n, 2, 2, 1}}
	for _, row := range rows { // O_0j = 0: the log odds of q_1j are O_1j
		confidence.Data = append(confidence.Data, 0, 0, logOdds(row[2], 1e3), -logOdds(row[1], 1e3))
	}
	s.confidence, s.labels = d.up(confidence), d.up(column(func(row []float64) float64 { return row[3] }))
	d.run(s, false)
	check := func(name string, x *tensor.Tensor, value func(row []float64) float64) {
		a := column(value)
		a.Name, a.Tolerance = name, &Tolerance{Atol: 1e-6}
		d.want(a, x)
	}
	check("rho1", s.Posterior, func(row []float64) float64 { return row[5] })
	check("d_o", s.DLogits, func(row []float64) float64 { return row[6] })
	check("p(z=1)", s.Observed, func(row []float64) float64 { return row[3]*row[4] + (1-row[3])*(1-row[4]) })
}

// checkMILExtreme has one bag of thousands of instances in each row, with both labels, without and
// with a noise model.
func checkMILExtreme(d *bench, f *Fixture) {
	o := f.Input("o")
	n, cells := o.Shape[0], o.Shape[1]
	for _, label := range []string{"z0", "z1"} {
		z := Array{Shape: []int{n, 1}, Data: make([]float64, n)}
		for i := range z.Data {
			z.Data[i] = float64(strings.Index("z0z1", label) / 2)
		}
		for _, model := range []string{"bce", "nmn"} {
			s := d.newStep(d.up(o, n, cells, 1, 1), n, 1)
			s.labels = d.up(z)
			if model == "nmn" {
				s.confidence = d.up(f.Input("O"), 1, 2, 2, 1)
				d.run(s, true)
				d.want(f.Expected("nmn_rho1_"+label), s.Posterior)
			} else {
				d.run(s, true)
			}
			d.want(f.Expected("p"), s.Prob)
			d.want(f.Expected("bag_logit"), s.BagLogit)
			d.want(f.Expected(model+"_nll_"+label), s.Loss)
			d.want(f.Expected(model+"_d_o_"+label), s.DLogits)
		}
	}
}
