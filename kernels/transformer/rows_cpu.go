package transformer

import (
	"cmp"
	"math"

	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// rowJob is an operation that treats each row, or each element, by itself.
type rowJob struct {
	out, in, other, factor, bias []float32
	count, width                 int // rows, and their numbers
	perBlock                     int // rows in a block
	epsilon                      float64
	kind                         GELUKind
	sequence                     Sequence
}

// blockFloats is the number of elements in a block, which no number of threads changes.
const blockFloats = 16 << 10

// runRows runs a task over blocks of rows, and forgets the operation.
func (c *CPU) runRows(job rowJob, task func(worker, block int)) {
	if job.count*job.width > 0 {
		job.perBlock = max(1, blockFloats/job.width)
		c.rows = job
		c.workers.Run(tensor.Ceil(job.count, job.perBlock), task)
	}
	c.rows = rowJob{}
}

// span is the range of rows of a block.
func (j *rowJob) span(block int) (lo, hi int) {
	return block * j.perBlock, min((block+1)*j.perBlock, j.count)
}

func (c *CPU) LayerNorm(y, x, gain, bias *tensor.Tensor, eps float32) error {
	rows, err := FitLayerNorm(y, x, gain, bias, eps)
	if err := cmp.Or(err, tensor.OnHost("layer norm", tensor.Float32, y, x, gain, bias)); err != nil {
		return err
	}
	c.runRows(rowJob{out: y.Float32s(), in: x.Float32s(), factor: gain.Float32s(), bias: bias.Float32s(),
		count: rows.Count, width: rows.Width, epsilon: float64(eps)}, c.tasks.normalize)
	return nil
}

func (c *CPU) normalizeBlock(_, block int) {
	j := &c.rows
	lo, hi := j.span(block)
	for row := lo; row < hi; row++ {
		x := j.in[row*j.width:][:j.width]
		mean, variance := c.level.Moments(x)
		high := float32(mean)
		inverse := 1 / math.Sqrt(variance+j.epsilon)
		if inverse > math.MaxFloat32 { // equal numbers without an epsilon: 0/0
			inverse = math.NaN()
		}
		c.level.Standardize(j.out[row*j.width:][:j.width], x, j.factor, j.bias,
			simd.Standard{High: high, Low: float32(mean - float64(high)), Inverse: float32(inverse)})
	}
}

func (c *CPU) GELU(y, x *tensor.Tensor, kind GELUKind) error {
	if err := cmp.Or(FitGELU(y, x, kind), tensor.OnHost("gelu", tensor.Float32, y, x)); err != nil {
		return err
	}
	c.runRows(rowJob{out: y.Float32s(), in: x.Float32s(), count: x.Len(), width: 1, kind: kind}, c.tasks.gelu)
	return nil
}

func (c *CPU) geluBlock(_, block int) {
	j := &c.rows
	lo, hi := j.span(block)
	c.activate(j.out[lo:hi], j.in[lo:hi], j.kind)
}

// activate is a GELU of any kind but None.
func (c *CPU) activate(dst, x []float32, kind GELUKind) {
	switch kind {
	case Tanh:
		c.level.GELUTanh(dst, x)
	case Quick:
		c.level.GELUQuick(dst, x)
	default:
		c.level.GELU(dst, x)
	}
}

func (c *CPU) AddScaled(y, x, r, scale *tensor.Tensor) error {
	rows, err := FitAddScaled(y, x, r, scale)
	if err := cmp.Or(err, tensor.OnHost("scaled sum", tensor.Float32, y, x, r, scale)); err != nil {
		return err
	}
	job := rowJob{out: y.Float32s(), in: x.Float32s(), other: r.Float32s(), factor: scale.Float32s(),
		count: rows.Count, width: rows.Width}
	if scale == nil {
		job.count, job.width = job.count*job.width, 1
		c.runRows(job, c.tasks.sum)
		return nil
	}
	c.runRows(job, c.tasks.addProduct)
	return nil
}

func (c *CPU) sumBlock(_, block int) {
	j := &c.rows
	lo, hi := j.span(block)
	c.level.Sum(j.out[lo:hi], j.other[lo:hi], j.in[lo:hi])
}

func (c *CPU) addProductBlock(_, block int) {
	j := &c.rows
	lo, hi := j.span(block)
	for at := lo * j.width; at < hi*j.width; at += j.width {
		c.level.AddProduct(j.out[at:at+j.width], j.other[at:], j.in[at:], j.factor)
	}
}

func (c *CPU) Tokens(y, patches, prefix, position *tensor.Tensor) error {
	s, err := FitTokens(y, patches, prefix, position)
	if err := cmp.Or(err, tensor.OnHost("tokens", tensor.Float32, y, patches, prefix, position)); err != nil {
		return err
	}
	c.runRows(rowJob{out: y.Float32s(), in: patches.Float32s(), other: prefix.Float32s(), bias: position.Float32s(),
		sequence: s, count: s.N * (s.Prefix + s.Patches), width: s.D}, c.tasks.arrange)
	return nil
}

func (c *CPU) arrangeBlock(_, block int) {
	j := &c.rows
	s, d := &j.sequence, j.width
	lo, hi := j.span(block)
	for row := lo; row < hi; row++ {
		picture, token := row/(s.Prefix+s.Patches), row%(s.Prefix+s.Patches)
		dst := j.out[row*d:][:d]
		if token < s.Prefix {
			copy(dst, j.other[token*d:])
			continue
		}
		token -= s.Prefix
		patch := j.in[(picture*s.Patches+token)*d:][:d]
		if j.bias == nil {
			copy(dst, patch)
			continue
		}
		c.level.Sum(dst, patch, j.bias[token*d:])
	}
}
