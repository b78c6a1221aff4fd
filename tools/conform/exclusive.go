package conform

import (
	"nmn/kernels"
	"nmn/kernels/noise"
	"nmn/kernels/tensor"
	"nmn/tools/ref"
)

// exclusiveSetup is a batch of bags with one of K classes each, and the way in which NoiseStep is called on it.
type exclusiveSetup struct {
	bagging
	transition bool
	labels     string    // hard, gaps (hard or unknown), soft (distributions), or none
	extreme    bool      // logits to 1e4
	outputs    string    // all, loss, gradients or predictions
	weights    []float32 // of the bags; nil for none
}

func exclusiveCases() []Case {
	var list []Case
	add := func(b bagging, transition bool, labels, outputs string, extreme, large bool) {
		s := exclusiveSetup{bagging: b, transition: transition, labels: labels, outputs: outputs, extreme: extreme}
		name := bagName(b, named(",exclusive=true,transition=%v,labels=%s,extreme=%v,outputs=%s", transition, labels,
			extreme, outputs))
		list = append(list, Case{Op: "NoiseStep", Name: name, Large: large, build: s.call})
	}
	for i, b := range baggings() {
		if b.C < 2 {
			continue
		}
		for _, transition := range []bool{false, true} {
			s := exclusiveSetup{bagging: b, transition: transition, labels: "gaps", outputs: "all", weights: b.someWeights()}
			name := bagName(b, named(",exclusive=true,transition=%v,labels=gaps,weights=true", transition))
			list = append(list, Case{Op: "NoiseStep", Name: name, build: s.call})
		}
		for _, transition := range []bool{false, true} {
			for _, labels := range []string{"hard", "gaps", "soft"} {
				add(b, transition, labels, "all", false, false)
			}
			add(b, transition, "hard", []string{"loss", "gradients"}[i%2], false, false)
			add(b, transition, "none", "predictions", false, false)
		}
	}
	for _, transition := range []bool{false, true} {
		add(pictures(12, 33), transition, "hard", "all", true, false)
		add(pictures(8, 2), transition, "hard", "all", true, false)
		add(pictures(32, 500), transition, "hard", "all", false, true)
	}
	return append(list, exclusiveRefusals()...)
}

// draw makes logits, a transition matrix that is nil for none, and labels.
func (s exclusiveSetup) draw(r *values) (logits, transition, labels []float32) {
	n, k := s.count(), s.C
	logits = r.normal(s.Len())
	for i := range logits {
		logits[i] *= 3
	}
	if s.extreme {
		r.stretch(logits, 1e4)
	}
	if s.transition {
		transition = make([]float32, k*k)
		for y := range k {
			row, sum := transition[y*k:][:k], float32(0)
			for z := range row {
				row[z] = .01 + float32(r.stream.Float64())
				if z == y {
					row[z] += float32(k) / 2
				}
				sum += row[z]
			}
			for z := range row {
				row[z] /= sum
			}
		}
	}
	labels = make([]float32, n*k)
	for bag := range n {
		row := labels[bag*k:][:k]
		row[r.stream.Intn(k)] = 1
		switch {
		case s.labels == "gaps" && r.stream.Intn(3) == 0:
			for z := range row {
				row[z] = noise.Unknown
			}
		case s.labels == "soft":
			for z := range row {
				row[z] *= .75
			}
			row[r.stream.Intn(k)] += .25
		}
	}
	return logits, transition, labels
}

func (s exclusiveSetup) reference(logits, transition, labels []float64) stepArrays {
	n, k, out := s.count(), s.C, s.stepArrays()
	for bag := range n {
		var o [][]float64
		for class := range k {
			for i, v := range s.instances(logits, bag, class) {
				if class == 0 {
					o = append(o, make([]float64, k))
				}
				o[i][class] = v
			}
		}
		step := ref.ExclusiveStep(o, transition, labels[bag*k:][:k])
		out.loss[bag] = step.Loss
		for class := range k {
			s.cells(bag, class, func(place int) { out.dLogits[place] = step.DLogits[class] })
		}
		at := bag * k
		copy(out.prob[at:], step.Prob)
		copy(out.observed[at:], step.Observed)
		copy(out.posterior[at:], step.Posterior)
		copy(out.bagLogit[at:], step.BagLogit)
	}
	s.weigh(&out, s.weights)
	return out
}

func (s exclusiveSetup) call(r *values) *call {
	o, t, z := s.draw(r)
	wideT, wideZ := wide(t), wide(z)
	out, _ := s.destinations(s.outputs, s.extreme, s.Len() < 200, wide(o), func(o []float64) stepArrays {
		return s.reference(o, wideT, wideZ)
	})
	out.dO = none()
	transition := none()
	if s.transition {
		transition = input("transition", t, s.C, s.C)
	}
	return out.call(s.bagging, o, transition, s.labels, z, s.weights, noise.StepParams{Exclusive: true})
}

func exclusiveRefusals() []Case {
	step := func(name string, p noise.StepParams, classes int, transition *operand) Case {
		p.Exclusive, p.Scale = true, 1
		return refuse("NoiseStep", "exclusive_"+name, func(k kernels.Backend, t []*tensor.Tensor) error {
			return k.NoiseStep(noise.StepOutput{Prob: t[1]}, t[0], t[2], nil, nil, p)
		}, blank(2, 1, 1, classes), blank(2, classes), transition)
	}
	return []Case{
		step("one_class", noise.StepParams{}, 1, none()),
		step("mil", noise.StepParams{MIL: true}, 3, none()),
		step("evidence", noise.StepParams{Evidence: true}, 3, none()),
		step("transition", noise.StepParams{}, 3, blank(3, 4)),
		step("confidence", noise.StepParams{}, 3, blank(1, 2, 2, 3)),
	}
}
