package noise

import (
	"fmt"

	"nmn/kernels/tensor"
)

// poolingJob is the input of the blocks of NoisyOR and NoisyORGrad.
type poolingJob struct {
	geometry
	offsets      []int32
	o, p, dp, do []float32
}

// NoisyOR implements Ops.
func (c *CPU) NoisyOR(p, o, bags *tensor.Tensor) error {
	const operation = "noisy-or"
	g, err := fitNoisyOR(operation, nil, p, o, bags)
	if err != nil {
		return err
	}
	offsets, err := tensor.HostOffsets(operation, bags, g.T)
	if err := firstError(err, onHost(operation, p, o)); err != nil {
		return err
	}
	c.pooling = poolingJob{geometry: g, offsets: offsets, o: o.Float32s(), p: p.Float32s()}
	c.workers.Run(g.N*blocksFor(g.K), c.noisyORBlock)
	c.pooling = poolingJob{}
	return nil
}

func (c *CPU) runNoisyORBlock(worker, block int) {
	j, t := &c.pooling, &c.scratch[worker].sums
	bag, s := j.instances(block)
	t.join(c.level, s, nil)
	out := j.p[bag*j.K+j.first(block):][:s.width]
	for k := range out {
		out[k] = float32(t.noisyOR(k).p1)
	}
}

// NoisyORGrad implements Ops. do must not be the memory of o.
func (c *CPU) NoisyORGrad(do, dp, o, bags *tensor.Tensor) error {
	const operation = "gradient of noisy-or"
	if do == nil {
		return fmt.Errorf("%s: no destination: %w", operation, tensor.ErrShape)
	}
	g, err := fitNoisyOR(operation, do, dp, o, bags)
	if err != nil {
		return err
	}
	offsets, err := tensor.HostOffsets(operation, bags, g.T)
	if err := firstError(err, onHost(operation, do, dp, o)); err != nil {
		return err
	}
	if overlap(do, o) {
		return fmt.Errorf("%s: the gradient must not overwrite the logits: %w", operation, tensor.ErrShape)
	}
	c.pooling = poolingJob{geometry: g, offsets: offsets, o: o.Float32s(), dp: dp.Float32s(), do: do.Float32s()}
	c.workers.Run(g.N*blocksFor(g.K), c.noisyORGradBlock)
	c.pooling = poolingJob{}
	return nil
}

func (c *CPU) runNoisyORGradBlock(worker, block int) {
	j, w := &c.pooling, &c.scratch[worker]
	bag, s := j.instances(block)
	lo, _ := frames(j.offsets, bag)
	d := j.do[lo*j.Cells()*j.K+j.first(block):]
	w.join(c.level, s, d)
	dp := j.dp[bag*j.K+j.first(block):][:s.width]
	for k, g := range dp {
		w.factor[k] = float32(float64(g) * w.noisyOR(k).p0)
	}
	c.level.ScaleRows(d, s.stride, s.count, w.factor[:s.width])
}

// first is the first class of a block.
func (j *poolingJob) first(block int) int { return block % blocksFor(j.K) * blockClasses }

func (j *poolingJob) instances(block int) (bag int, s instances) {
	bag = block / blocksFor(j.K)
	lo, hi := frames(j.offsets, bag)
	return bag, cut(j.o, j.Cells(), j.K, lo, hi, j.first(block))
}
