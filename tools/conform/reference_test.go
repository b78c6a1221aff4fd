package conform

import (
	"fmt"

	"nmn/kernels/conv"
	"nmn/kernels/noise"
	"nmn/kernels/pixels"
	"nmn/kernels/pool"
	"nmn/kernels/tensor"
	"nmn/kernels/update"
	"nmn/tools/ref"
)

// referenceBackend is the reference rounded to float32: the simplest backend that must pass the suite.
type referenceBackend struct{ *tensor.CPU }

func newReference() *referenceBackend {
	return &referenceBackend{tensor.NewCPU(1, "reference")}
}

// need gives ErrShape when a condition does not hold.
func need(operation string, conditions ...bool) error {
	for i, ok := range conditions {
		if !ok {
			return fmt.Errorf("%s: condition %d: %w", operation, i, tensor.ErrShape)
		}
	}
	return nil
}

func is(t *tensor.Tensor, shape ...int) bool {
	return t != nil && t.DType() == tensor.Float32 && tensor.Format(t.Shape()) == tensor.Format(shape)
}

// may is is for tensors that may be nil.
func may(t *tensor.Tensor, shape ...int) bool { return t == nil || is(t, shape...) }

func get(t *tensor.Tensor) []float64 {
	if t == nil {
		return nil
	}
	return wide(t.Float32s())
}

func put(t *tensor.Tensor, list []float64) {
	if t == nil {
		return
	}
	for i, v := range list {
		t.Float32s()[i] = float32(v)
	}
}

func shapeOf(x, w *tensor.Tensor, p conv.Params) ref.Conv {
	return ref.Conv{N: x.Dim(0), H: x.Dim(1), W: x.Dim(2), C: x.Dim(3), K: w.Dim(0), R: w.Dim(1), S: w.Dim(2), Pad: p.Pad,
		Stride: p.Stride}
}

func (b *referenceBackend) Conv(y, x, w, bias *tensor.Tensor, p conv.Params) error {
	return convolved(y, x, w, bias, nil, p)
}

func (b *referenceBackend) ConvAdd(y, x, w, bias, shortcut *tensor.Tensor, p conv.Params) error {
	if !tensor.SameShape(shortcut, y) {
		return tensor.ErrShape
	}
	return convolved(y, x, w, bias, shortcut, p)
}

// convolved is a convolution with a shortcut, which may be nil.
func convolved(y, x, w, bias, shortcut *tensor.Tensor, p conv.Params) error {
	if _, err := conv.Fit("conv", x, w, y, p); err != nil {
		return err
	}
	if err := need("conv", may(bias, w.Dim(0))); err != nil {
		return err
	}
	out := shapeOf(x, w, p).Forward(get(x), get(w), get(bias))
	for i, v := range get(shortcut) {
		out[i] += v
	}
	if p.ReLU {
		out = ref.ReLU(out)
	}
	put(y, out)
	return nil
}

func (b *referenceBackend) ConvGradData(dx, dy, w, mask *tensor.Tensor, p conv.Params) error {
	if _, err := conv.Fit("conv gradient of data", dx, w, dy, p); err != nil {
		return err
	}
	if err := need("conv gradient of data", may(mask, dx.Shape()...)); err != nil {
		return err
	}
	keep := get(mask)
	out := shapeOf(dx, w, p).GradData(get(dy), get(w))
	if p.Accumulate {
		out = sum(out, get(dx))
	}
	for i := range keep {
		if keep[i] <= 0 {
			out[i] = 0
		}
	}
	put(dx, out)
	return nil
}

func (b *referenceBackend) ConvGradDataBias(dx, db, dy, w, mask *tensor.Tensor, p conv.Params) error {
	const operation = "conv gradient of data and bias"
	if _, err := conv.Fit(operation, dx, w, dy, p); err != nil {
		return err
	}
	if err := need(operation, may(mask, dx.Shape()...), is(db, dx.Dim(3))); err != nil {
		return err
	}
	out, sums := shapeOf(dx, w, p).GradDataBias(get(dy), get(w), get(mask))
	if p.Accumulate {
		sums = sum(sums, get(db))
	}
	put(dx, out)
	put(db, sums)
	return nil
}

func (b *referenceBackend) ConvGradFilter(dw, x, dy *tensor.Tensor, p conv.Params) error {
	if _, err := conv.Fit("conv gradient of filter", x, dw, dy, p); err != nil {
		return err
	}
	out := shapeOf(x, dw, p).GradFilter(get(x), get(dy))
	if p.Accumulate {
		out = sum(out, get(dw))
	}
	put(dw, out)
	return nil
}

func (b *referenceBackend) ConvGradBias(db, dy *tensor.Tensor, p conv.Params) error {
	if err := need("conv gradient of bias", dy.Rank() == 4 && is(db, dy.Dim(-1))); err != nil {
		return err
	}
	g := ref.Conv{N: dy.Dim(0), H: dy.Dim(1), W: dy.Dim(2), K: dy.Dim(3), R: 1, S: 1}
	out := g.GradBias(get(dy))
	if p.Accumulate {
		out = sum(out, get(db))
	}
	put(db, out)
	return nil
}

func (b *referenceBackend) Dropout(y, x, keys, seed *tensor.Tensor, rate float32) error {
	if err := need("dropout", is(y, x.Shape()...), keys.DType() == tensor.Int32 && keys.Rank() == 1 &&
		keys.Len() == x.Dim(0), seed.DType() == tensor.Int32 && seed.Len() == 2); err != nil {
		return err
	}
	words := seed.Int32s()
	mask := ref.DropoutMask(keys.Int32s(), x.Len()/x.Dim(0), rate, uint64(uint32(words[0]))|uint64(uint32(words[1]))<<32)
	put(y, ref.Dropout(get(x), mask, rate))
	return nil
}

func (b *referenceBackend) DropoutGrad(dx, dy, keys, seed *tensor.Tensor, rate float32) error {
	return b.Dropout(dx, dy, keys, seed, rate)
}

func mapOf(x *tensor.Tensor) (ref.Map, bool) {
	if x == nil || x.Rank() != 4 || x.DType() != tensor.Float32 {
		return ref.Map{}, false
	}
	return ref.Map{T: x.Dim(0), H: x.Dim(1), W: x.Dim(2), C: x.Dim(3)}, true
}

func isMap(x *tensor.Tensor, m ref.Map) bool { return is(x, m.T, m.H, m.W, m.C) }

func (b *referenceBackend) MaxPool(y, x *tensor.Tensor) error { return two.pool(y, x) }

func (b *referenceBackend) MaxPool3(y, x *tensor.Tensor) error { return three.pool(y, x) }

func (b *referenceBackend) MaxPoolGrad(dx, dy, x, y *tensor.Tensor, relu bool) error {
	return two.poolGrad(dx, nil, dy, x, y, pool.MaxGradParams{ReLU: relu})
}

func (b *referenceBackend) MaxPool3Grad(dx, dy, x, y *tensor.Tensor, relu bool) error {
	return three.poolGrad(dx, nil, dy, x, y, pool.MaxGradParams{ReLU: relu})
}

func (b *referenceBackend) MaxPoolGradBias(dx, db, dy, x, y *tensor.Tensor, p pool.MaxGradParams) error {
	return two.poolGrad(dx, db, dy, x, y, p)
}

func (b *referenceBackend) MaxPool3GradBias(dx, db, dy, x, y *tensor.Tensor, p pool.MaxGradParams) error {
	return three.poolGrad(dx, db, dy, x, y, p)
}

func (wd windows) pool(y, x *tensor.Tensor) error {
	m, ok := mapOf(x)
	if err := need(wd.op, ok, isMap(y, m.CeilHalf())); err != nil {
		return err
	}
	put(y, wd.maxima(m, get(x)))
	return nil
}

// poolGrad is the gradient of the maxima, and of the bias below them if db is not nil.
func (wd windows) poolGrad(dx, db, dy, x, y *tensor.Tensor, p pool.MaxGradParams) error {
	m, ok := mapOf(x)
	if err := need(wd.op, ok, isMap(dx, m), isMap(y, m.CeilHalf()), isMap(dy, m.CeilHalf()), may(db, m.C)); err != nil {
		return err
	}
	gradient, sums := wd.withBias(m, get(dy), get(x), p.ReLU)
	if p.Accumulate {
		sums = sum(sums, get(db))
	}
	put(dx, gradient)
	put(db, sums)
	return nil
}

// bagged checks frame offsets against maps.
func bagged(operation string, x, bags *tensor.Tensor) (bagging, error) {
	m, ok := mapOf(x)
	b := bagging{Map: m}
	if err := need(operation, ok); err != nil || bags == nil {
		return b, err
	}
	if err := need(operation, bags.DType() == tensor.Int32 && bags.Rank() == 1 && bags.Len() > 1); err != nil {
		return b, err
	}
	b.offsets = bags.Int32s()
	conditions := []bool{b.offsets[0] == 0, int(b.offsets[len(b.offsets)-1]) == m.T}
	for n := 1; n < len(b.offsets); n++ {
		conditions = append(conditions, b.offsets[n] > b.offsets[n-1])
	}
	return b, need(operation, conditions...)
}

func (b *referenceBackend) BagPool(g, x, bags *tensor.Tensor, kind pool.Kind) error {
	s, err := bagged("bag pool", x, bags)
	if err == nil {
		err = need("bag pool", is(g, s.count(), s.C))
	}
	if err != nil {
		return err
	}
	if kind == pool.Max {
		put(g, ref.BagMax(s.Map, get(x), s.bags()))
	} else {
		put(g, ref.BagMean(s.Map, get(x), s.bags()))
	}
	return nil
}

func (b *referenceBackend) BagPoolGrad(dx, dg, x, g, bags *tensor.Tensor, kind pool.Kind, accumulate bool) error {
	s, err := bagged("bag pool gradient", dx, bags)
	if err == nil {
		err = need("bag pool gradient", is(dg, s.count(), s.C))
	}
	if err != nil {
		return err
	}
	var out []float64
	if kind == pool.Max {
		out = ref.BagMaxGrad(s.Map, get(dg), get(x), s.bags())
	} else {
		out = ref.BagMeanGrad(s.Map, get(dg), s.bags())
	}
	if accumulate {
		out = sum(out, get(dx))
	}
	put(dx, out)
	return nil
}

func (b *referenceBackend) NoiseStep(out noise.StepOutput, logits, confidence, labels, bags *tensor.Tensor,
	p noise.StepParams) error {
	s, err := bagged("noise step", logits, bags)
	if err != nil {
		return err
	}
	n, k := s.count(), s.C
	if p.Exclusive {
		return exclusiveStep(exclusiveSetup{bagging: s, weights: p.Weights.Float32s()}, out, logits, confidence, labels, p)
	}
	setup := noiseSetup{bagging: s, mil: p.MIL, confidence: "each", focus: p.Asymmetric,
		weights: p.Weights.Float32s()}
	if confidence != nil && confidence.Dim(0) == 1 {
		setup.confidence = "shared"
	}
	if p.Evidence {
		setup.labels = "evidence"
	}
	wanted := out.Loss != nil || out.DLogits != nil || out.DO != nil || out.Posterior != nil
	err = need("noise step", may(p.Weights, n), may(labels, n, k), labels != nil || !wanted, may(confidence, n, 2, 2, k) ||
		may(confidence, 1, 2, 2, k),
		may(out.Loss, n), out.DLogits == nil || isMap(out.DLogits, s.Map), may(out.DO, n, 2, 2, k), may(out.Prob, n, k),
		may(out.Observed, n, k), may(out.Posterior, n, k), may(out.BagLogit, n, k), !p.Evidence || confidence == nil &&
			p.Asymmetric == (noise.AsymmetricLoss{}))
	if err != nil {
		return err
	}
	z := get(labels)
	if z == nil {
		z = make([]float64, n*k)
	}
	setup.reference(get(logits), get(confidence), z).write(out, p.Scale)
	return nil
}

func exclusiveStep(s exclusiveSetup, out noise.StepOutput, logits, transition, labels *tensor.Tensor,
	p noise.StepParams) error {
	n, k := s.count(), s.C
	wanted := out.Loss != nil || out.DLogits != nil || out.Posterior != nil
	err := need("noise step", k > 1, !p.MIL && !p.Evidence, out.DO == nil, may(transition, k, k), may(labels, n, k),
		may(p.Weights, n),
		labels != nil || !wanted, may(out.Loss, n), out.DLogits == nil || isMap(out.DLogits, s.Map), may(out.Prob, n, k),
		may(out.Observed, n, k), may(out.Posterior, n, k), may(out.BagLogit, n, k))
	if err != nil {
		return err
	}
	z := get(labels)
	if z == nil {
		z = make([]float64, n*k)
	}
	s.reference(get(logits), get(transition), z).write(out, p.Scale)
	return nil
}

// write writes the arrays to the destinations that there are.
func (r stepArrays) write(out noise.StepOutput, scale float32) {
	put(out.Loss, r.loss)
	put(out.DLogits, scaled(r.dLogits, float64(scale)))
	put(out.DO, scaled(r.dO, float64(scale)))
	put(out.Prob, r.prob)
	put(out.Observed, r.observed)
	put(out.Posterior, r.posterior)
	put(out.BagLogit, r.bagLogit)
}

func fits(operation string, entries []update.Entry, adam, state bool) error {
	for _, e := range entries {
		err := need(operation, e.W != nil && is(e.G, e.W.Shape()...), !state || is(e.M, e.W.Shape()...), !adam ||
			is(e.V, e.W.Shape()...))
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *referenceBackend) LargeLosses(targets, o, z, count *tensor.Tensor, instead float32) error {
	n := o.Shape()
	if err := need("large losses", is(targets, n...), is(z, n...), count.DType() == tensor.Int32 &&
		count.Len() == 1); err != nil {
		return err
	}
	put(targets, ref.LargeLosses(get(o), get(z), int(count.Int32s()[0]), float64(instead)))
	return nil
}

func (b *referenceBackend) SGD(entries []update.Entry, momentum float32) error {
	if err := fits("sgd", entries, false, true); err != nil {
		return err
	}
	for _, e := range entries {
		w, m := get(e.W), get(e.M)
		ref.SGD(w, get(e.G), m, float64(e.LR), float64(e.Decay), float64(momentum))
		put(e.W, w)
		put(e.M, m)
	}
	return nil
}

func (b *referenceBackend) Adam(entries []update.Entry, p update.AdamParams) error {
	return adaptive(entries, p, ref.Adam)
}

func (b *referenceBackend) AdamW(entries []update.Entry, p update.AdamParams) error {
	return adaptive(entries, p, ref.AdamW)
}

func adaptive(entries []update.Entry, p update.AdamParams, formula func(w, g, m, v []float64, lr, decay, beta1, beta2,
	epsilon float64, step int)) error {
	if err := fits("adam", entries, true, true); err != nil {
		return err
	}
	for _, e := range entries {
		w, m, v := get(e.W), get(e.M), get(e.V)
		formula(w, get(e.G), m, v, float64(e.LR), float64(e.Decay), float64(p.Beta1), float64(p.Beta2), float64(p.Epsilon),
			p.Step)
		put(e.W, w)
		put(e.M, m)
		put(e.V, v)
	}
	return nil
}

func (b *referenceBackend) Average(entries []update.Entry, share float32) error {
	for _, e := range entries {
		if err := need("average", is(e.Average, e.W.Shape()...)); err != nil {
			return err
		}
		if e.LR != 0 {
			average := get(e.Average)
			ref.Average(average, get(e.W), 1-float64(share))
			put(e.Average, average)
		}
	}
	return nil
}

func (b *referenceBackend) Exchange(entries []update.Entry) error {
	for _, e := range entries {
		if err := need("exchange", is(e.Average, e.W.Shape()...)); err != nil {
			return err
		}
		if e.LR != 0 {
			w, average := get(e.W), get(e.Average)
			put(e.W, average)
			put(e.Average, w)
		}
	}
	return nil
}

func (b *referenceBackend) GradNorm(norm *tensor.Tensor, entries []update.Entry) error {
	if err := need("norm", norm.Len() == 1); err != nil {
		return err
	}
	var gradients [][]float64
	for _, e := range entries {
		if e.LR != 0 {
			gradients = append(gradients, get(e.G))
		}
	}
	put(norm, []float64{ref.Norm(gradients...)})
	return nil
}

func (b *referenceBackend) Clip(entries []update.Entry, norm *tensor.Tensor, limit float32) error {
	if err := need("clip", norm.Len() == 1); err != nil {
		return err
	}
	for _, e := range entries {
		put(e.G, ref.Clip(get(e.G), get(norm)[0], float64(limit)))
	}
	return nil
}

func (b *referenceBackend) Zero(t *tensor.Tensor) error {
	clear(t.Float32s())
	clear(t.Int32s())
	clear(t.Uint8s())
	return nil
}

func (b *referenceBackend) Normalize(x, picture, sizes, flips *tensor.Tensor, p pixels.Params) error {
	m, ok := mapOf(x)
	err := need("normalize", ok, m.C >= 3, picture.DType() == tensor.Uint8 && picture.Rank() == 4 &&
		picture.Len() == m.T*m.H*m.W*3,
		picture.Rank() == 4 && picture.Dim(0) == m.T && picture.Dim(1) == m.H,
		sizes == nil || sizes.DType() == tensor.Int32 && sizes.Len() == 2*m.T, flips == nil ||
			flips.DType() == tensor.Uint8 && flips.Len() == m.T)
	if err != nil {
		return err
	}
	valid, flipped := make([][2]int, m.T), make([]uint8, m.T)
	for t := range valid {
		valid[t] = [2]int{m.H, m.W}
		if sizes != nil {
			valid[t] = [2]int{int(sizes.Int32s()[2*t]), int(sizes.Int32s()[2*t+1])}
		}
	}
	if flips != nil {
		copy(flipped, flips.Uint8s())
	}
	put(x, ref.Normalize(m, picture.Uint8s(), valid, flipped, wide3(p.Mean), wide3(p.Scale)))
	return nil
}
