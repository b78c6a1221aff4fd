package export

import (
	"nmn/format/onnx"
	"nmn/model"
)

// output declares an output N×K.
func (b *builder) output(name string) {
	b.graph.Outputs = append(b.graph.Outputs,
		onnx.Value{Name: name, Dims: []onnx.Dim{{Name: "batch"}, {Size: b.config.Classes}}})
}

// overCells reduces over the axes h and w, for operations that have them as an attribute.
func (b *builder) overCells(op, x string) string {
	return b.graph.Op(op, []string{x}, onnx.Attribute{Name: "axes", Ints: []int{2, 3}},
		onnx.Attribute{Name: "keepdims"})
}

// probabilities adds p(y=1): by noisy-or over the cells with MIL, else the sigmoid of the mean logit, or the
// softmax of classes that exclude each other.
func (b *builder) probabilities(r reading) {
	b.output(Probabilities)
	if b.config.MIL && r.cells {
		b.noisyOr(r.logits)
		return
	}
	g, o := &b.graph, r.logits
	if r.cells {
		o = b.overCells("ReduceMean", o)
	}
	if b.config.Exclusive {
		g.Named(Probabilities, "Softmax", []string{o}, onnx.Attribute{Name: "axis", Int: 1})
		b.present = Probabilities
		return
	}
	g.Named(Probabilities, "Sigmoid", []string{o})
	b.present = Probabilities
	b.absent = g.Op("Sigmoid", []string{g.Op("Neg", []string{o})})
}

// noisyOr adds p = 1 - exp(-L), L = sum over cells of softplus(o), such that neither many cells nor small
// probabilities lose digits:
//
//	softplus(o) = max(o, 0) + log1p(z), z = exp(-|o|), log1p(z) = 2 atanh(z / (2 + z))
//	1 - exp(-L) = tanh(L/2) · (1 + exp(-L))
//
// ONNX has neither log1p nor expm1, and its Softplus is log(1 + exp(o)) in programs that run it, which is 0
// for o below -16.
func (b *builder) noisyOr(logits string) {
	g := &b.graph
	one, two, half := g.Floats("one", []float32{1}), g.Floats("two", []float32{2}), g.Floats("half", []float32{.5})
	z := g.Op("Exp", []string{g.Op("Neg", []string{g.Op("Abs", []string{logits})})})
	log1p := g.Op("Mul",
		[]string{two, g.Op("Atanh", []string{g.Op("Div", []string{z, g.Op("Add", []string{two, z})})})})
	softplus := g.Op("Add", []string{g.Op("Relu", []string{logits}), log1p})
	sum := g.Op("ReduceSum", []string{softplus, g.Axes("cells", 2, 3)}, onnx.Attribute{Name: "keepdims"})
	b.absent, b.present = g.Op("Exp", []string{g.Op("Neg", []string{sum})}), Probabilities
	g.Named(Probabilities, "Mul", []string{g.Op("Tanh", []string{g.Op("Mul", []string{sum, half})}),
		g.Op("Add", []string{one, b.absent})})
}

// observed adds p(z=1). It is T^T p(y) for classes that exclude each other, else q11 p(y=1) + q10 p(y=0).
// q1j is the sigmoid of O_1j - O_0j, and O is U g(X) + b, or b.
func (b *builder) observed(r reading) {
	b.output(Observed)
	g, k := &b.graph, b.config.Classes
	if b.config.Exclusive {
		g.Named(Observed, "MatMul", []string{b.present, b.param(model.TransitionName, k, k)})
		return
	}
	var o string
	if _, dependent := b.params[noisePrefix+"weight"]; dependent {
		features := r.features
		if r.cells {
			features = b.overCells(map[string]string{"mean": "ReduceMean", "max": "ReduceMax"}[b.config.NoisePool],
				features)
		}
		o = b.gemm(features, b.param(noisePrefix+"weight", 4*k, b.config.FeatureWidth()),
			b.param(noisePrefix+"bias", 4*k))
	} else {
		o = b.param(noisePrefix+"bias", 1, 4*k)
	}
	entries := g.Split("Split", []string{o}, 4, onnx.Attribute{Name: "axis", Int: 1}) // O_00, O_01, O_10, O_11
	rate := func(of, over string) string { return g.Op("Sigmoid", []string{g.Op("Sub", []string{of, over})}) }
	q10, q11 := rate(entries[2], entries[0]), rate(entries[3], entries[1])
	g.Named(Observed, "Add", []string{g.Op("Mul", []string{q11, b.present}), g.Op("Mul", []string{q10, b.absent})})
}
