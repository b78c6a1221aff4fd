package noise

import (
	"cmp"
	"fmt"
	"math"

	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// stepJob is the input of the blocks of a step: the memory of all tensors, nil if not wanted.
type stepJob struct {
	geometry
	StepParams
	parts                                             int // of each block
	offsets                                           []int32
	logits, confidence, labels, weights               []float32
	dLogits, dO, prob, observed, posterior, bagLogits []float32
}

func newStepJob(g geometry, p StepParams, out StepOutput, logits, confidence, labels *tensor.Tensor) stepJob {
	return stepJob{
		geometry: g, StepParams: p, parts: g.cutParts(),
		logits: logits.Float32s(), confidence: confidence.Float32s(), labels: labels.Float32s(),
		weights: p.Weights.Float32s(),
		dLogits: out.DLogits.Float32s(), dO: out.DO.Float32s(), prob: out.Prob.Float32s(),
		observed: out.Observed.Float32s(), posterior: out.Posterior.Float32s(), bagLogits: out.BagLogit.Float32s(),
	}
}

// NoiseStep implements Ops. DLogits must not be the memory of logits.
//
// The logits are read once: the pass that sums them leaves p_s in DLogits, which a second pass over
// the block, still in the cache, multiplies by one factor per class.
func (c *CPU) NoiseStep(out StepOutput, logits, confidence, labels, bags *tensor.Tensor, p StepParams) error {
	const operation = "noise step"
	g, err := fitStep(out, logits, confidence, labels, bags, p)
	if err != nil {
		return err
	}
	offsets, err := tensor.HostOffsets(operation, bags, g.T)
	if err := cmp.Or(err,
		tensor.OnHost(operation, tensor.Float32, logits, confidence, labels, p.Weights),
		tensor.OnHost(operation, tensor.Float32, out.Loss, out.DLogits, out.DO, out.Prob, out.Observed, out.Posterior,
			out.BagLogit)); err != nil {
		return err
	}
	if overlap(out.DLogits, logits) {
		return tensor.Misfit(operation, "the gradient must not overwrite the logits")
	}
	if p.Evidence {
		err = checkEvidence(operation, labels.Float32s(), g.K)
	} else {
		err = checkLabels(operation, labels.Float32s(), g.K, confidence != nil && !p.Exclusive)
	}
	if err := cmp.Or(err, checkWeights(operation, p.Weights.Float32s())); err != nil {
		return err
	}
	c.step = newStepJob(g, p, out, logits, confidence, labels)
	c.step.offsets = offsets
	if p.Exclusive {
		c.exclusiveStep(out, g)
		c.step = stepJob{}
		return nil
	}
	blocks := g.N * blocksFor(g.K)
	c.losses = tensor.Grow(c.losses, blocks)
	if c.step.parts == 1 { // each block at a stretch, while its instances are in the cache
		c.workers.Run(blocks, c.stepBlock)
	} else {
		c.runStages(blocks)
	}
	if out.Loss != nil {
		c.sumLosses(out.Loss.Float32s(), blocksFor(g.K))
	}
	c.step = stepJob{}
	return nil
}

const (
	// blockTarget is the number of blocks, for the pool to share, up to which a step is cut into parts.
	blockTarget = 16
	// partInstances outweigh the start of a part.
	partInstances = 8192
)

// cutParts is the number of parts that the instances of each block are cut into.
func (g geometry) cutParts() int {
	blocks := g.N * blocksFor(g.K)
	perBlock := g.T * g.Cells() * min(g.K, blockClasses) / g.N
	return max(1, min(blockTarget/blocks, perBlock/partInstances))
}

// runStages runs the blocks of a step in three stages, if they are cut into parts.
func (c *CPU) runStages(blocks int) {
	j := &c.step
	c.parts, c.decided = tensor.Grow(c.parts, blocks*j.parts), tensor.Grow(c.decided, blocks)
	c.workers.Run(blocks*j.parts, c.joinBlock)
	c.workers.Run(blocks, c.decideBlock)
	if j.dLogits != nil {
		c.workers.Run(blocks*j.parts, c.spreadBlock)
	}
}

// checkLabels checks labels N×K: 0, 1 or Unknown for a noise model, else any target in [0, 1], or Unknown.
func checkLabels(operation string, labels []float32, classes int, noisy bool) error {
	for i, z := range labels {
		if noisy && z != 0 && z != 1 && z != Unknown {
			return fmt.Errorf("%s: label of bag %d, class %d is %g: with a noise model each label is 0 or 1, or %d where "+
				"unknown: %w",
				operation, i/classes, i%classes, z, Unknown, ErrLabel)
		}
		if !(z >= 0 && z <= 1) && z != Unknown {
			return fmt.Errorf("%s: label of bag %d, class %d is %g: labels are in [0, 1], or %d where unknown: %w",
				operation, i/classes, i%classes, z, Unknown, ErrLabel)
		}
	}
	return nil
}

// checkWeights checks the weights of bags.
func checkWeights(operation string, weights []float32) error {
	for bag, w := range weights {
		if !(w >= 0 && w <= math.MaxFloat32) { // NaN too
			return fmt.Errorf("%s: weight of bag %d is %g: weights are finite and at least 0: %w", operation, bag, w,
				ErrLabel)
		}
	}
	return nil
}

// weight is the weight of a bag, 1 if there are no weights.
func (j *stepJob) weight(bag int) float64 {
	if j.weights == nil {
		return 1
	}
	return float64(j.weights[bag])
}

// scale is the factor of all gradients of a bag.
func (j *stepJob) scale(bag int) float64 { return float64(j.Scale) * j.weight(bag) }

// sumLosses adds the losses of the blocks of each bag in the order of the classes.
func (c *CPU) sumLosses(loss []float32, perBag int) {
	for n := range loss {
		sum := 0.0
		for _, l := range c.losses[n*perBag:][:perBag] {
			sum += l.total()
		}
		loss[n] = float32(c.step.weight(n) * sum)
	}
}

func (c *CPU) runStepBlock(worker, block int) {
	j, w := &c.step, &c.scratch[worker]
	s, d := j.instances(block)
	j.join(c.level, &w.sums, s, d)
	c.losses[block] = j.decide(w, s, block)
	if d != nil {
		w.spread(c.level, s, d, j.MIL)
	}
}

// runJoinBlock sums a part of a block's instances.
func (c *CPU) runJoinBlock(_, index int) {
	j := &c.step
	s, d := j.part(index)
	j.join(c.level, &c.parts[index], s, d)
}

// runDecideBlock adds the sums of the parts in their order and decides.
func (c *CPU) runDecideBlock(_, block int) {
	j, w := &c.step, &c.decided[block]
	s, _ := j.instances(block)
	parts := c.parts[block*j.parts:][:j.parts]
	w.sums = parts[0]
	for i := range parts[1:] {
		w.merge(&parts[1+i], s.width)
	}
	c.losses[block] = j.decide(w, s, block)
}

// runSpreadBlock writes the gradients of a part of a block's instances.
func (c *CPU) runSpreadBlock(_, index int) {
	j := &c.step
	s, d := j.part(index)
	c.decided[index/j.parts].spread(c.level, s, d, j.MIL)
}

// instances returns the instances of a block, and its part of dLogits, nil if not wanted.
func (j *stepJob) instances(block int) (s instances, d []float32) {
	bag, first := block/blocksFor(j.K), block%blocksFor(j.K)*blockClasses
	lo, hi := frames(j.offsets, bag)
	if j.dLogits != nil {
		d = j.dLogits[lo*j.Cells()*j.K+first:]
	}
	return cut(j.logits, j.Cells(), j.K, lo, hi, first), d
}

// part is instances for a part of a block.
func (j *stepJob) part(index int) (s instances, d []float32) {
	s, d = j.instances(index / j.parts)
	s, first := s.part(index%j.parts, j.parts)
	if d != nil {
		d = d[min(first*s.stride, len(d)):]
	}
	return s, d
}

// join sums instances. If d is not nil, with noisy-or it receives p_s.
func (j *stepJob) join(level simd.Level, t *sums, s instances, d []float32) {
	if j.MIL {
		t.join(level, s, d)
	} else {
		t.joinMean(level, s)
	}
}

// decide solves all classes of a block, whose sums are in w, and returns their loss. Without labels it computes the
// probabilities alone.
func (j *stepJob) decide(w *classes, s instances, block int) (loss lossSum) {
	bag, first := block/blocksFor(j.K), block%blocksFor(j.K)*blockClasses
	scale := j.scale(bag)
	var decided decision
	for k := range s.width {
		class, e := first+k, w.pooledOf(s, k, j.MIL)
		switch {
		case j.confidence == nil && j.labels == nil:
			decided = decision{p: e.p1, observed: e.p1}
		case j.confidence == nil:
			decided.without(e, float64(j.labels[bag*j.K+class]), &j.StepParams)
		case j.labels == nil:
			decided.observe(e, j.transition(bag, class))
		case j.labels[bag*j.K+class] == Unknown:
			decided.unknownNoisy(e, j.transition(bag, class))
		default:
			decided.noisy(e, j.transition(bag, class), float64(j.labels[bag*j.K+class]))
		}
		j.store(bag, class, e, &decided)
		loss.add(decided.loss)
		w.share[k], w.prob[k] = scale*decided.dLogit, decided.p
		if decided.p < tinyBag {
			w.logit[k] = e.b()
		}
	}
	w.factors(s, j.MIL)
	return loss
}

// transition is the noise model of one class for one bag.
func (j *stepJob) transition(bag, class int) transition {
	row := 0
	if j.PerBag {
		row = bag
	}
	o := j.confidence[row*4*j.K:][:4*j.K] // [i][j][class]
	return transition{
		a0: float64(o[2*j.K+class]) - float64(o[class]),
		a1: float64(o[3*j.K+class]) - float64(o[j.K+class]),
	}
}

// store writes the wanted values of a decision, except the gradient of the logits.
func (j *stepJob) store(bag, class int, e pooled, d *decision) {
	at := bag*j.K + class
	if j.prob != nil {
		j.prob[at] = float32(d.p)
	}
	if j.observed != nil {
		j.observed[at] = float32(d.observed)
	}
	if j.posterior != nil {
		j.posterior[at] = float32(d.posterior)
	}
	if j.bagLogits != nil {
		j.bagLogits[at] = float32(e.b())
	}
	if j.dO != nil {
		dO := j.dO[bag*4*j.K:][:4*j.K]
		scale := j.scale(bag)
		for column, g := range d.dO {
			v := float32(scale * g)
			dO[column*j.K+class], dO[(2+column)*j.K+class] = v, -v
		}
	}
}
