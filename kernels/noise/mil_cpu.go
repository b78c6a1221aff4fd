package noise

import (
	"fmt"
	"math"

	"nmn/kernels/tensor"
)

// classSums are the sums over the instances of a bag for a block of classes.
//
// The sum of softplus(o_s) = max(o_s,0) + log(1+e_s), e_s = exp(-|o_s|), over a bag is
//
//	twice/2 + log(1+excess),  twice = sum of o_s + |o_s|,  1+excess = prod over s of (1+e_s)
//
// The product is kept as its excess over 1, which is a sum of positive terms: small e_s lose
// nothing. It at most doubles with each instance and is folded into twice every foldAfter instances.
// Without noisy-or, twice is the sum of logits.
type classSums struct {
	excess, twice [blockClasses]float64
	logit, prob   [blockClasses]float64 // of the bag
	share         [blockClasses]float64 // Scale·dLoss/dlogit
	factor        [blockClasses]float32
}

const foldAfter = 512

// tinyBag is the bag's sum of softplus below which the ratios p_s/p are taken in logarithms: far
// below it p_s underflows in float32 though p_s/p does not.
const tinyBag = 1e-15

// instances are the logits of one bag and a block of classes: count cells of width classes in rows
// that are stride elements apart.
type instances struct {
	logits               []float32
	count, width, stride int
}

// cut returns the instances of frames lo to hi (exclusive) for classes first and following.
func cut(logits []float32, cells, classes, lo, hi, first int) instances {
	begin, end := lo*cells*classes+first, hi*cells*classes
	return instances{logits[begin:end], (hi - lo) * cells, min(blockClasses, classes-first), classes}
}

// row returns the classes of an instance in data, which is laid out as the logits.
func (s instances) row(data []float32, i int) []float32 {
	return data[i*s.stride:][:s.width:s.width]
}

// joinNoisyOR sums softplus over the instances. Where p is not nil, it gets sigmoid(o_s); it is laid
// out as the logits.
func (c *classSums) joinNoisyOR(s instances, p []float32) {
	clear(c.excess[:s.width])
	clear(c.twice[:s.width])
	for i := range s.count {
		if p == nil {
			c.addLogits(s.row(s.logits, i))
		} else {
			c.addLogitsKeeping(s.row(p, i), s.row(s.logits, i))
		}
		if i%foldAfter == foldAfter-1 {
			c.fold(s.width)
		}
	}
	c.fold(s.width)
}

func (c *classSums) addLogits(logits []float32) {
	excess, twice := c.excess[:len(logits)], c.twice[:len(logits)]
	for k, o := range logits {
		v := float64(o)
		size := math.Abs(v)
		twice[k] += v + size
		e := expNegative(-size)
		excess[k] += e + e*excess[k]
	}
}

func (c *classSums) addLogitsKeeping(p, logits []float32) {
	excess, twice := c.excess[:len(logits)], c.twice[:len(logits)]
	p = p[:len(logits)]
	for k, o := range logits {
		v := float64(o)
		size := math.Abs(v)
		twice[k] += v + size
		e := expNegative(-size)
		excess[k] += e + e*excess[k]
		small := float32(e)
		p[k] = numerator(o, small) / (1 + small)
	}
}

// numerator is that of sigmoid(o) over 1+e, e = exp(-|o|): 1 for positive o, e for negative. Chosen
// among integers, since the compiler makes no branch of that and the signs of logits are not
// predictable.
func numerator(o, e float32) float32 {
	bits := math.Float32bits(e)
	if int32(math.Float32bits(o)) >= 0 {
		bits = 0x3f800000
	}
	return math.Float32frombits(bits)
}

func (c *classSums) fold(width int) {
	for k := range c.excess[:width] {
		c.twice[k] += 2 * math.Log1p(c.excess[k])
		c.excess[k] = 0
	}
}

// joinMean sums the logits over the instances.
func (c *classSums) joinMean(s instances) {
	clear(c.twice[:s.width])
	for i := range s.count {
		row := s.row(s.logits, i)
		twice := c.twice[:len(row)]
		for k, o := range row {
			twice[k] += float64(o)
		}
	}
}

// noisyORLogit is the bag's logit log p - log(1-p) from the sum of softplus, log(1-p) = -sum. In a
// tiny bag the sum is taken over again in logarithms.
func (c *classSums) noisyORLogit(s instances, k int) float64 {
	sum := c.twice[k] / 2
	if sum < tinyBag {
		return s.logSumExp(k) // p is the sum of exp(o_s) to 1e-15, and 1-p is 1
	}
	return sum + math.Log(-math.Expm1(-sum))
}

// logSumExp is log sum over s of exp(o_s) of one class.
func (s instances) logSumExp(k int) float64 {
	top := s.logits[k]
	for i := range s.count {
		top = max(top, s.logits[i*s.stride+k])
	}
	sum := 0.0
	for i := range s.count {
		sum += expNegative(float64(s.logits[i*s.stride+k]) - float64(top))
	}
	return float64(top) + math.Log(sum)
}

// scaleRows multiplies the instances in d, laid out as the logits, by the factor of their class.
func (c *classSums) scaleRows(s instances, d []float32) {
	factor := c.factor[:s.width]
	for i := range s.count {
		row := s.row(d, i)[:len(factor)]
		for k, f := range factor {
			row[k] *= f
		}
	}
}

// shareTiny sets the instances of one class of a tiny bag to share·p_s/p = share·exp(o_s - logit).
func (s instances) shareTiny(d []float32, k int, share, logit float64) {
	for i := range s.count {
		// The largest exponent is 0 but for rounding.
		d[i*s.stride+k] = float32(share * expNegative(min(float64(s.logits[i*s.stride+k])-logit, 0)))
	}
}

// poolingJob is what the blocks of NoisyOR and NoisyORGrad read.
type poolingJob struct {
	Geometry
	offsets      []int32
	o, p, dp, do []float32
}

// NoisyOR implements Ops.
func (c *CPU) NoisyOR(p, o, bags *tensor.Tensor) error {
	const operation = "noisy-or"
	g, err := FitNoisyOR(operation, nil, p, o, bags)
	if err != nil {
		return err
	}
	offsets, err := tensor.HostOffsets(operation, bags, g.T)
	if err := firstError(err, onHost(operation, p, o)); err != nil {
		return err
	}
	c.pooling = poolingJob{Geometry: g, offsets: offsets, o: o.Float32s(), p: p.Float32s()}
	c.workers.Run(g.N*blocksFor(g.K), c.noisyORBlock)
	c.pooling = poolingJob{}
	return nil
}

func (c *CPU) runNoisyORBlock(worker, block int) {
	j, sums := &c.pooling, &c.scratch[worker]
	bag, s := j.instances(block)
	sums.joinNoisyOR(s, nil)
	out := j.p[bag*j.K+j.first(block):][:s.width]
	for k := range out {
		out[k] = float32(-math.Expm1(-sums.twice[k] / 2))
	}
}

// NoisyORGrad implements Ops. do must not be the memory of o.
func (c *CPU) NoisyORGrad(do, dp, o, bags *tensor.Tensor) error {
	const operation = "gradient of noisy-or"
	if do == nil {
		return fmt.Errorf("%s: no destination: %w", operation, tensor.ErrShape)
	}
	g, err := FitNoisyOR(operation, do, dp, o, bags)
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
	c.pooling = poolingJob{Geometry: g, offsets: offsets, o: o.Float32s(), dp: dp.Float32s(), do: do.Float32s()}
	c.workers.Run(g.N*blocksFor(g.K), c.noisyORGradBlock)
	c.pooling = poolingJob{}
	return nil
}

func (c *CPU) runNoisyORGradBlock(worker, block int) {
	j, sums := &c.pooling, &c.scratch[worker]
	bag, s := j.instances(block)
	lo, _ := frames(j.offsets, bag)
	d := j.do[lo*j.Cells()*j.K+j.first(block):]
	sums.joinNoisyOR(s, d)
	dp := j.dp[bag*j.K+j.first(block):][:s.width]
	for k, g := range dp {
		sums.factor[k] = float32(float64(g) * math.Exp(-sums.twice[k]/2)) // dp·(1-p)
	}
	sums.scaleRows(s, d)
}

// first is the first class of a block.
func (j *poolingJob) first(block int) int { return block % blocksFor(j.K) * blockClasses }

func (j *poolingJob) instances(block int) (bag int, s instances) {
	bag = block / blocksFor(j.K)
	lo, hi := frames(j.offsets, bag)
	return bag, cut(j.o, j.Cells(), j.K, lo, hi, j.first(block))
}
