package noise

import (
	"fmt"

	"nmn/kernels/tensor"
)

// stepJob is what the blocks of a step read: the memory of all tensors, nil for those not wanted.
type stepJob struct {
	Geometry
	StepParams
	offsets                                           []int32
	logits, confidence, labels                        []float32
	dLogits, dO, prob, observed, posterior, bagLogits []float32
}

func newStepJob(g Geometry, p StepParams, out StepOutput, logits, confidence, labels *tensor.Tensor) stepJob {
	return stepJob{
		Geometry: g, StepParams: p,
		logits: logits.Float32s(), confidence: memory(confidence), labels: memory(labels),
		dLogits: memory(out.DLogits), dO: memory(out.DO), prob: memory(out.Prob),
		observed: memory(out.Observed), posterior: memory(out.Posterior), bagLogits: memory(out.BagLogit),
	}
}

// NoiseStep implements Ops. DLogits must not be the memory of logits.
//
// The logits are read once: the pass that sums them leaves p_s in DLogits, which a second pass over
// the block, still in the cache, multiplies by one factor per class.
func (c *CPU) NoiseStep(out StepOutput, logits, confidence, labels, bags *tensor.Tensor, p StepParams) error {
	const operation = "noise step"
	g, err := FitStep(out, logits, confidence, labels, bags)
	if err != nil {
		return err
	}
	offsets, err := tensor.HostOffsets(operation, bags, g.T)
	if err := firstError(err,
		onHost(operation, logits, confidence, labels),
		onHost(operation, out.Loss, out.DLogits, out.DO, out.Prob, out.Observed, out.Posterior, out.BagLogit)); err != nil {
		return err
	}
	if overlap(out.DLogits, logits) {
		return fmt.Errorf("%s: the gradient must not overwrite the logits: %w", operation, tensor.ErrShape)
	}
	if err := checkLabels(operation, memory(labels), g.K, confidence != nil); err != nil {
		return err
	}
	c.step = newStepJob(g, p, out, logits, confidence, labels)
	c.step.offsets = offsets
	blocks := g.N * blocksFor(g.K)
	if cap(c.losses) < blocks {
		c.losses = make([]float64, blocks)
	}
	c.losses = c.losses[:blocks]
	c.workers.Run(blocks, c.stepBlock)
	if out.Loss != nil {
		c.sumLosses(out.Loss.Float32s(), blocksFor(g.K))
	}
	c.step = stepJob{}
	return nil
}

// memory is the memory of a tensor, nil for nil.
func memory(t *tensor.Tensor) []float32 {
	if t == nil {
		return nil
	}
	return t.Float32s()
}

// checkLabels checks labels N×K: 0 or 1 for a noise model, else any target in [0, 1].
func checkLabels(operation string, labels []float32, classes int, noisy bool) error {
	for i, z := range labels {
		if noisy && z != 0 && z != 1 {
			return fmt.Errorf("%s: label of bag %d, class %d is %g: with a noise model each label is 0 or 1: %w",
				operation, i/classes, i%classes, z, ErrLabel)
		}
		if !(z >= 0 && z <= 1) {
			return fmt.Errorf("%s: label of bag %d, class %d is %g: labels are in [0, 1]: %w",
				operation, i/classes, i%classes, z, ErrLabel)
		}
	}
	return nil
}

// sumLosses adds the losses of the blocks of each bag in the order of the classes.
func (c *CPU) sumLosses(loss []float32, perBag int) {
	for n := range loss {
		sum := 0.0
		for _, l := range c.losses[n*perBag:][:perBag] {
			sum += l
		}
		loss[n] = float32(sum)
	}
}

func (c *CPU) runStepBlock(worker, block int) {
	j, sums := &c.step, &c.scratch[worker]
	bag, first := block/blocksFor(j.K), block%blocksFor(j.K)*blockClasses
	lo, hi := frames(j.offsets, bag)
	s := cut(j.logits, j.Cells(), j.K, lo, hi, first)
	var d []float32 // the block's part of dLogits
	if j.dLogits != nil {
		d = j.dLogits[lo*j.Cells()*j.K+first:]
	}
	if j.MIL {
		sums.joinNoisyOR(s, d)
	} else {
		sums.joinMean(s)
	}
	loss := 0.0
	for k := range s.width {
		b := sums.bagLogit(s, k, j.MIL)
		decided := j.decide(bag, first+k, b)
		j.store(bag, first+k, b, &decided)
		sums.prob[k], sums.logit[k], sums.share[k] = decided.p, b, float64(j.Scale)*decided.dLogit
		loss += decided.loss
	}
	c.losses[block] = loss
	if d != nil {
		sums.spread(s, d, j.MIL)
	}
}

// decide solves one class of one bag; without labels only the probabilities.
func (j *stepJob) decide(bag, class int, b float64) decision {
	if j.confidence == nil {
		if j.labels == nil {
			p, _ := logistic(b)
			return decision{p: p, observed: p}
		}
		return decideClean(b, float64(j.labels[bag*j.K+class]))
	}
	row := 0
	if j.PerBag {
		row = bag
	}
	o := j.confidence[row*4*j.K:][:4*j.K] // [i][j][class]
	m := transition{
		a0: float64(o[2*j.K+class]) - float64(o[class]),
		a1: float64(o[3*j.K+class]) - float64(o[j.K+class]),
	}
	if j.labels == nil {
		return observe(b, m)
	}
	return decideNoisy(b, m, float64(j.labels[bag*j.K+class]))
}

// store writes what is wanted of a decision, except the gradient of the logits.
func (j *stepJob) store(bag, class int, b float64, d *decision) {
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
		j.bagLogits[at] = float32(b)
	}
	if j.dO != nil {
		scale := float64(j.Scale)
		for entry, g := range d.dO {
			j.dO[(bag*4+entry)*j.K+class] = float32(scale * g)
		}
	}
}

// bagLogit joins the instances of a class to the bag's logit.
func (c *classSums) bagLogit(s instances, k int, mil bool) float64 {
	if mil {
		return c.noisyORLogit(s, k)
	}
	return c.twice[k] / float64(s.count)
}

// spread turns the gradients of the bag's logits, share, to those of the instances' in d. With
// noisy-or d holds p_s and becomes share·p_s/p, else share/count.
func (c *classSums) spread(s instances, d []float32, mil bool) {
	if !mil {
		for k := range s.width {
			c.factor[k] = float32(c.share[k] / float64(s.count))
		}
		for i := range s.count {
			copy(s.row(d, i), c.factor[:s.width])
		}
		return
	}
	for k, p := range c.prob[:s.width] {
		c.factor[k] = float32(c.share[k] / p) // of no use for a tiny bag: it is overwritten below
	}
	c.scaleRows(s, d)
	for k, p := range c.prob[:s.width] {
		if p < tinyBag {
			s.shareTiny(d, k, c.share[k], c.logit[k])
		}
	}
}
