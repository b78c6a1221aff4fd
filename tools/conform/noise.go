package conform

import (
	"math"
	"slices"
	"strings"

	"nmn/kernels"
	"nmn/kernels/noise"
	"nmn/kernels/tensor"
	"nmn/tools/ref"
)

// noiseSetup is a batch and the way in which NoiseStep is called on it.
type noiseSetup struct {
	bagging
	mil        bool
	confidence string // none, shared (1×2×2×K) or each (N×2×2×K)
	// hard, gaps (hard or unknown), soft (targets in [0, 1]), partial (soft or unknown), evidence, or none
	labels  string
	extreme bool   // logits and evidence to 1e4, confidences to 1e3
	outputs string // all, loss, gradients or predictions
	focus   noise.AsymmetricLoss
	large   bool
	weights []float32 // of the bags; nil for none
}

func (s noiseSetup) withCase() Case {
	name := bagName(s.bagging, named(",mil=%v,confidence=%s,labels=%s,extreme=%v,outputs=%s", s.mil, s.confidence,
		s.labels, s.extreme, s.outputs))
	if s.focus != (noise.AsymmetricLoss{}) {
		name += strings.ReplaceAll(named(",focus=%g_%g_%g", s.focus.Positive, s.focus.Negative, s.focus.Margin), ".", "p")
	}
	if s.weights != nil {
		name += ",weights=true"
	}
	return Case{Op: "NoiseStep", Name: name, Large: s.large, build: s.call}
}

// pictures are a batch of single pictures.
func pictures(n, classes int) bagging {
	return bagging{ref.Map{T: n, H: 1, W: 1, C: classes}, "none", nil}
}

func noiseCases() []Case {
	var list []Case
	add := func(b bagging, mil bool, confidence, labels, outputs string, extreme bool) {
		list = append(list, noiseSetup{bagging: b, mil: mil, confidence: confidence, labels: labels, outputs: outputs,
			extreme: extreme}.withCase())
	}
	for i, b := range baggings() {
		for _, mil := range []bool{false, true} {
			for _, confidence := range []string{"none", "shared", "each"} {
				add(b, mil, confidence, "hard", "all", false)
				if confidence != "none" {
					add(b, mil, confidence, "gaps", "all", false)
				}
				add(b, mil, confidence, "none", "predictions", false)
				add(b, mil, confidence, "hard", []string{"loss", "gradients"}[i%2], false)
			}
			add(b, mil, "none", "soft", "all", false)
		}
	}
	for _, frames := range []int32{1, 3} {
		offsets := []int32{0}
		for n := int32(1); n <= 12; n++ {
			offsets = append(offsets, n*frames)
		}
		b := bagging{ref.Map{T: 12 * int(frames), H: 1, W: 1, C: 33}, "even", offsets}
		for _, mil := range []bool{false, true} {
			add(b, mil, "none", "hard", "all", true)
			add(b, mil, "each", "hard", "all", true)
			add(b, mil, "shared", "gaps", "all", true)
		}
	}
	large := bagLarge
	large.C = 250
	list = append(list, noiseSetup{bagging: large, mil: true, confidence: "each", labels: "hard", outputs: "all",
		large: true}.withCase(), noiseSetup{bagging: pictures(32, 1000), confidence: "shared", labels: "hard",
		outputs: "all", large: true}.withCase())
	return slices.Concat(list, focusCases(), evidenceCases(), weightedCases(), noiseRefusals())
}

// focusCases are the cases of unknown labels and of the asymmetric loss.
func focusCases() []Case {
	var list []Case
	paper := noise.AsymmetricLoss{Negative: 4, Margin: .05}
	extreme := bagging{ref.Map{T: 8, H: 2, W: 1, C: 33}, "ragged", []int32{0, 1, 2, 5, 8}}
	for i, b := range append(baggings(), extreme) {
		for _, mil := range []bool{false, true} {
			for _, f := range []noise.AsymmetricLoss{{}, paper, {Positive: 1, Negative: 2}, {Positive: .5, Margin: .2}} {
				list = append(list, noiseSetup{bagging: b, mil: mil, confidence: "none", labels: "partial",
					extreme: i == len(baggings()), outputs: "all", focus: f}.withCase())
			}
		}
	}
	return append(list, noiseSetup{bagging: pictures(32, 1000), confidence: "none", labels: "hard", outputs: "all",
		focus: paper, large: true}.withCase())
}

// evidenceCases are the cases of log-likelihood ratios instead of labels: of several sizes and some 0, up to
// certain ones.
func evidenceCases() []Case {
	var list []Case
	add := func(b bagging, mil bool, outputs string, extreme, large bool) {
		list = append(list, noiseSetup{bagging: b, mil: mil, confidence: "none", labels: "evidence", outputs: outputs,
			extreme: extreme, large: large}.withCase())
	}
	for i, b := range baggings() {
		for _, mil := range []bool{false, true} {
			add(b, mil, "all", false, false)
			add(b, mil, []string{"loss", "gradients"}[i%2], false, false)
		}
	}
	eight := ref.Map{T: 8, H: 1, W: 1, C: 100}
	for _, b := range []bagging{{eight, "even", oneEach(8)}, {eight, "ragged", []int32{0, 1, 2, 5, 8}}} {
		add(b, false, "all", true, false)
		add(b, true, "all", true, false)
	}
	add(pictures(32, 1000), false, "all", false, true)
	return list
}

// weightedCases are the cases of weights of bags, for each kind of labels.
func weightedCases() []Case {
	var list []Case
	for _, b := range baggings() {
		for _, mil := range []bool{false, true} {
			for _, of := range [][2]string{{"none", "soft"}, {"none", "evidence"}, {"shared", "hard"}, {"each", "gaps"}} {
				list = append(list, noiseSetup{bagging: b, mil: mil, confidence: of[0], labels: of[1], outputs: "all",
					weights: b.someWeights()}.withCase())
			}
		}
	}
	return list
}

// someWeights are weights of the bags, 0 and 1 among them.
func (b bagging) someWeights() []float32 {
	list := make([]float32, b.count())
	for i := range list {
		list[i] = float32((3*i+2)%9) / 4
	}
	return list
}

// weigh multiplies what depends on the labels of each bag by its weight. Nil changes nothing.
func (b bagging) weigh(out *stepArrays, weights []float32) {
	for bag, w := range weights {
		out.loss[bag] *= float64(w)
		for k := range b.C {
			b.cells(bag, k, func(place int) { out.dLogits[place] *= float64(w) })
		}
		for i := range len(out.dO) / len(weights) {
			out.dO[bag*len(out.dO)/len(weights)+i] *= float64(w)
		}
	}
}

// draw makes the inputs of a setup. Confidences are nil for none.
func (s noiseSetup) draw(r *values) (logits, confidence, labels []float32) {
	n := s.count()
	logits, labels = r.normal(s.Len()), r.labels(n*s.C)
	for i := range logits {
		logits[i] = 3*logits[i] - 1
	}
	for i := range labels {
		switch {
		case (s.labels == "partial" || s.labels == "gaps") && r.stream.Intn(3) == 0:
			labels[i] = noise.Unknown
		case s.labels == "partial" || s.labels == "soft":
			labels[i] = float32(r.stream.Intn(5)) / 4
		}
	}
	if s.labels == "evidence" {
		labels = s.drawEvidence(r, len(labels))
	}
	switch s.confidence {
	case "shared":
		confidence = r.normal(4 * s.C)
	case "each":
		confidence = r.normal(n * 4 * s.C)
	}
	if s.extreme {
		r.stretch(logits, 1e4)
		r.stretch(confidence, 1e3)
	}
	return logits, confidence, labels
}

// drawEvidence makes log-likelihood ratios of sizes from a hundredth on, a quarter of them 0.
func (s noiseSetup) drawEvidence(r *values, count int) []float32 {
	list := r.normal(count)
	if s.extreme {
		r.stretch(list, 1e4)
	}
	for i := range list {
		switch r.stream.Intn(4) {
		case 0:
			list[i] = 0
		case 1:
			list[i] *= .01
		}
	}
	return list
}

// stretch spreads values over all magnitudes up to a limit.
func (v *values) stretch(list []float32, limit float64) {
	for i := range list {
		size := math.Pow(limit, v.stream.Float64())
		if v.stream.Intn(4) == 0 {
			size = limit
		}
		list[i] = float32(math.Copysign(size, float64(list[i])))
	}
}

// stepArrays are the destinations of NoiseStep by the reference, before Scale.
type stepArrays struct{ loss, dLogits, dO, prob, observed, posterior, bagLogit []float64 }

func (b bagging) stepArrays() stepArrays {
	bags := func(each int) []float64 { return make([]float64, b.count()*each) }
	return stepArrays{loss: bags(1), dLogits: make([]float64, b.Len()), dO: bags(4 * b.C), prob: bags(b.C),
		observed: bags(b.C), posterior: bags(b.C), bagLogit: bags(b.C)}
}

// cells calls visit for each instance of class k of bag n.
func (b bagging) cells(n, k int, visit func(place int)) {
	bags := b.bags()
	for t := bags[n]; t < bags[n+1]; t++ {
		for h := range b.H {
			for w := range b.W {
				visit(b.At(t, h, w, k))
			}
		}
	}
}

func (b bagging) instances(o []float64, n, k int) []float64 {
	var list []float64
	b.cells(n, k, func(place int) { list = append(list, o[place]) })
	return list
}

// scatter writes one value for each instance of class k of bag n.
func (b bagging) scatter(to, from []float64, n, k int) {
	i := 0
	b.cells(n, k, func(place int) { to[place] = from[i]; i++ })
}

func (s noiseSetup) reference(logits, confidence, labels []float64) stepArrays {
	n, out := s.count(), s.stepArrays()
	for bag := range n {
		for k := range s.C {
			step := s.step(s.instances(logits, bag, k), s.transition(confidence, bag, k), labels[bag*s.C+k])
			out.loss[bag] += step.Loss
			s.scatter(out.dLogits, step.DLogits, bag, k)
			for i := range 2 {
				for j := range 2 {
					out.dO[((bag*2+i)*2+j)*s.C+k] = step.DO[i][j]
				}
			}
			at := bag*s.C + k
			out.prob[at], out.observed[at], out.posterior[at], out.bagLogit[at] = step.Prob, step.Observed, step.Posterior,
				step.BagLogit
		}
	}
	s.weigh(&out, s.weights)
	return out
}

// step evaluates one class of one bag.
func (s noiseSetup) step(o []float64, confidence *[2][2]float64, z float64) ref.Step {
	if s.labels == "evidence" {
		return ref.Evidence(o, z, s.mil)
	}
	if f := s.focus; f != (noise.AsymmetricLoss{}) {
		return ref.Asymmetric(o, z, float64(f.Positive), float64(f.Negative), float64(f.Margin), s.mil)
	}
	return ref.NoiseStep(o, confidence, z, s.mil)
}

// transition picks O of one class of one bag.
func (s noiseSetup) transition(confidence []float64, bag, k int) *[2][2]float64 {
	if confidence == nil {
		return nil
	}
	if s.confidence == "shared" {
		bag = 0
	}
	var o [2][2]float64
	for i := range 2 {
		for j := range 2 {
			o[i][j] = confidence[((bag*2+i)*2+j)*s.C+k]
		}
	}
	return &o
}

func scaled(list []float64, scale float64) []float64 {
	out := make([]float64, len(list))
	for i, v := range list {
		out[i] = v * scale
	}
	return out
}

// verdicts of the destinations. Extremes require relative accuracy down to underflow, and allow only the
// rounding of large logits: 1e4 has a spacing of 1e-3 in float32.
func verdicts(extreme bool, scale float64) (small, loss verdict) {
	if extreme {
		return pointwise(2e-3, 1e-30), pointwise(2e-5, 1e-5)
	}
	return pointwise(5e-5, 3e-7*scale), pointwise(1e-5, 1e-5)
}

func (s noiseSetup) call(r *values) *call {
	k := s.C
	o, c, z := s.draw(r)
	wideC, wideZ := wide(c), wide(z)
	out, slope := s.destinations(s.outputs, s.extreme, s.Len() < 700, wide(o), func(o []float64) stepArrays {
		return s.reference(o, wideC, wideZ)
	})
	confidence := none()
	switch s.confidence {
	case "none":
		out.dO = none()
	case "each":
		out.dO.numeric = slope(wideC)
		fallthrough
	default:
		confidence = input("confidence", c, len(c)/(4*k), 2, 2, k)
	}
	return out.call(s.bagging, o, confidence, s.labels, z, s.weights, noise.StepParams{MIL: s.mil, Asymmetric: s.focus,
		Evidence: s.labels == "evidence"})
}

// stepScale is the scale of the gradients in all calls of NoiseStep.
const stepScale = 0.375

// destinations are the operands that NoiseStep writes. Some are none.
type destinations struct{ loss, dLogits, dO, prob, observed, posterior, bagLogit *operand }

// destinations makes the operands of a kind of outputs, all, loss, gradients or predictions, of logits o. slope makes
// the numeric gradient with respect to values that the reference reads, nil if extreme or if it would take long.
func (b bagging) destinations(outputs string, extreme, short bool, o []float64,
	reference func(o []float64) stepArrays) (d destinations, slope func(x []float64) func(i int) float64) {
	want := reference(o)
	slope = func(x []float64) func(i int) float64 {
		if extreme || !short {
			return nil
		}
		total := func() float64 { return stepScale * ref.Dot(reference(o).loss, ones(b.count())) }
		return func(i int) float64 { return ref.Central(total, x, i, 1e-4) }
	}
	d = destinations{loss: none(), dLogits: none(), dO: none(), prob: none(), observed: none(), posterior: none(),
		bagLogit: none()}
	n, k := b.count(), b.C
	gradient, loss := verdicts(extreme, stepScale)
	value, _ := verdicts(extreme, 1)
	all := outputs == "all"
	if all || outputs == "loss" {
		d.loss = output("loss", want.loss, loss, n)
	}
	if all || outputs == "gradients" {
		d.dLogits = toMap("dLogits", b.Map, scaled(want.dLogits, stepScale), gradient)
		d.dO = output("dO", scaled(want.dO, stepScale), gradient, n, 2, 2, k)
	}
	if all {
		d.posterior = output("posterior", want.posterior, value, n, k)
	}
	if all || outputs == "predictions" {
		d.prob, d.observed = output("prob", want.prob, value, n, k), output("observed", want.observed, value, n, k)
		d.bagLogit = output("bagLogit", want.bagLogit, pointwise(2e-5, 1e-5), n, k)
	}
	d.dLogits.numeric = slope(o)
	return d, slope
}

// call is NoiseStep to the destinations. model is the noise model, and z are labels of a kind.
func (d destinations) call(b bagging, o []float32, model *operand, kind string, z, w []float32,
	p noise.StepParams) *call {
	p.Scale = stepScale
	logits, bags, labels := onMap("logits", b.Map, o), b.operand(), none()
	weights := none()
	if w != nil {
		weights = input("weights", w, len(w))
	}
	if kind != "none" {
		labels = input("labels", z, b.count(), b.C)
	}
	operands := []*operand{logits, bags, labels, weights, model, d.loss, d.dLogits, d.dO, d.posterior, d.prob, d.observed,
		d.bagLogit}
	return &call{operands: operands, run: func(k kernels.Backend) error {
		out := noise.StepOutput{Loss: d.loss.t, DLogits: d.dLogits.t, DO: d.dO.t, Prob: d.prob.t, Observed: d.observed.t,
			Posterior: d.posterior.t, BagLogit: d.bagLogit.t}
		p := p
		p.Weights = weights.t
		return k.NoiseStep(out, logits.t, model.t, labels.t, bags.t, p)
	}}
}

func ones(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = 1
	}
	return list
}

func noiseRefusals() []Case {
	// of writes to one destination of a shape.
	of := func(name string, p noise.StepParams, labels, confidence *operand, field func(*noise.StepOutput) **tensor.Tensor,
		shape ...int) Case {
		p.MIL, p.Scale = true, 1
		destination := none()
		if shape != nil {
			destination = blank(shape...)
		}
		return refuse("NoiseStep", name, func(k kernels.Backend, t []*tensor.Tensor) error {
			var out noise.StepOutput
			*field(&out) = t[3]
			return k.NoiseStep(out, t[0], t[1], t[2], nil, p)
		}, blank(2, 2, 2, 3), confidence, labels, destination)
	}
	plain, evidence := noise.StepParams{}, noise.StepParams{Evidence: true}
	labels := blank(2, 3)
	loss := func(o *noise.StepOutput) **tensor.Tensor { return &o.Loss }
	list := []Case{
		of("labels", plain, blank(2, 4), none(), loss, 2),
		of("labels_missing", plain, none(), none(), loss, 2),
		of("confidence_classes", plain, labels, blank(2, 2, 2, 4), loss),
		of("confidence_bags", plain, labels, blank(3, 2, 2, 3), loss),
		of("loss", plain, labels, none(), loss, 3),
		of("dlogits", plain, labels, none(), func(o *noise.StepOutput) **tensor.Tensor { return &o.DLogits }, 2, 2, 1, 3),
		of("do", plain, labels, blank(2, 2, 2, 3), func(o *noise.StepOutput) **tensor.Tensor { return &o.DO }, 1, 2, 2, 3),
		of("prob", plain, labels, none(), func(o *noise.StepOutput) **tensor.Tensor { return &o.Prob }, 3, 2),
		of("observed", plain, labels, none(), func(o *noise.StepOutput) **tensor.Tensor { return &o.Observed }, 1, 3),
		of("posterior", plain, labels, none(), func(o *noise.StepOutput) **tensor.Tensor { return &o.Posterior }, 2, 4),
		of("baglogit", plain, labels, none(), func(o *noise.StepOutput) **tensor.Tensor { return &o.BagLogit }, 2, 2),
		of("evidence_confidence", evidence, labels, blank(2, 2, 2, 3), loss),
		refuse("NoiseStep", "weights", func(k kernels.Backend, t []*tensor.Tensor) error {
			return k.NoiseStep(noise.StepOutput{Loss: t[3]}, t[0], nil, t[1], nil,
				noise.StepParams{Scale: 1, Weights: t[2]})
		}, blank(2, 2, 2, 3), labels, blank(3), blank(2)),
		of("evidence_missing", evidence, none(), none(), loss, 2),
	}
	return append(list, refuseBags("NoiseStep", func(k kernels.Backend, x, flat, bags *tensor.Tensor) error {
		return k.NoiseStep(noise.StepOutput{Prob: flat}, x, nil, nil, bags, noise.StepParams{MIL: true})
	})...)
}
