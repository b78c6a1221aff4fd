package recurrent

import (
	"cmp"
	"math"

	"nmn/kernels/tensor"
)

// normalizer is a LogSoftmax in progress: rows of v logits.
type normalizer struct {
	x []float32
	v int
}

// softmaxLanes is the length of the vectors that a row is gone through with.
const softmaxLanes = 64

func (c *CPU) LogSoftmax(x *tensor.Tensor) error {
	if err := cmp.Or(FitLogSoftmax(x), tensor.OnHost("log-softmax", tensor.Float32, x)); err != nil {
		return err
	}
	for i := range c.scratch {
		c.scratch[i].lanes = tensor.Grow(c.scratch[i].lanes, 2*softmaxLanes)
	}
	c.logits = normalizer{x.Float32s(), x.Dim(1)}
	c.workers.Run(x.Dim(0), c.tasks.logSoftmax)
	c.logits = normalizer{}
	return nil
}

// logSoftmaxBlock normalizes a row. The largest logit is taken off first, so that large ones keep their digits.
func (c *CPU) logSoftmaxBlock(worker, m int) {
	v := c.logits.v
	row, lanes := c.logits.x[m*v:(m+1)*v], c.scratch[worker].lanes
	tops, sums := lanes[:softmaxLanes], lanes[softmaxLanes:]
	for i := range tops {
		tops[i] = float32(math.Inf(-1))
	}
	for at := 0; at < v; at += softmaxLanes {
		part := row[at:min(at+softmaxLanes, v)]
		c.level.Raise(tops[:len(part)], part, 0)
	}
	top := tops[0]
	for _, one := range tops {
		top = max(top, one)
	}
	for i := range tops {
		tops[i], sums[i] = top, 0
	}
	for at := 0; at < v; at += softmaxLanes {
		part := row[at:min(at+softmaxLanes, v)]
		c.level.AddExp(sums[:len(part)], part, tops, 0)
	}
	sum := 0.0
	for _, one := range sums {
		sum += float64(one)
	}
	logSum := float32(math.Log(sum))
	for i, value := range row {
		row[i] = value - top - logSum
	}
}
