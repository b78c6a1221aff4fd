package update

import (
	"math"

	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// CPU implements Ops on the host in float32. The parameters are cut into runs of Block elements, whatever the number of
// threads.
type CPU struct {
	workers *tensor.Workers
	level   simd.Level
	job     job
	partial []float64 // sum of squares of each block

	// The blocks as values, made once: converting a method for each call would allocate.
	sgdBlock, adamBlock, adamWBlock, squaresBlock, scaleBlock, averageBlock, exchangeBlock func(worker, block int)
}

// Block is how many elements are updated at once, and whose squares are summed apart. It is large enough that a block
// outweighs its start, and small enough that the blocks of a small net still fill several threads.
const Block = 16384

// job is the input of the blocks.
type job struct {
	runs     []run // of each block; kept between calls to reuse its memory
	momentum float32
	adam     simd.AdamStep // LR and Decay come from each run
	scale    float32       // of gradients, or the share of an average
}

// run is the part of one entry that a block handles.
type run struct {
	w, g, m, v, average []float32
	lr, decay           float32
}

// NewCPU makes the family on the host's device. Results are equal in every bit at all levels.
func NewCPU(dev *tensor.CPU, level simd.Level) *CPU {
	c := &CPU{workers: dev.Workers, level: level}
	c.sgdBlock, c.adamBlock, c.adamWBlock = c.runSGDBlock, c.runAdamBlock, c.runAdamWBlock
	c.averageBlock, c.exchangeBlock = c.runAverageBlock, c.runExchangeBlock
	c.squaresBlock, c.scaleBlock = c.runSquaresBlock, c.runScaleBlock
	return c
}

// cut checks the entries and cuts them into runs.
func (c *CPU) cut(operation string, entries []Entry, use Use) error {
	if err := Fit(operation, entries, use); err != nil {
		return err
	}
	c.job.runs = c.job.runs[:0]
	for i := range entries {
		e := &entries[i]
		if e.LR == 0 {
			continue
		}
		if e.Copy != nil {
			return tensor.Misfit(operation, "entry %d wants a copy in bfloat16, which the CPU does not hold", i)
		}
		whole := run{lr: e.LR, decay: e.Decay}
		for _, data := range [...]struct {
			use  Use
			from *tensor.Tensor
			to   *[]float32
		}{{UseG, e.G, &whole.g}, {UseW, e.W, &whole.w}, {UseM, e.M, &whole.m}, {UseV, e.V, &whole.v},
			{UseAverage, e.Average, &whole.average}} {
			if use&data.use == 0 {
				continue
			}
			if *data.to = data.from.Float32s(); *data.to == nil {
				return tensor.Misfit(operation, "entry %d is not float32 in host memory", i)
			}
		}
		for lo := 0; lo < len(whole.g); lo += Block {
			c.job.runs = append(c.job.runs, whole.part(lo, min(lo+Block, len(whole.g))))
		}
	}
	return nil
}

// part returns elements lo to hi of a run. Unused parts stay nil.
func (r run) part(lo, hi int) run {
	for _, data := range [...]*[]float32{&r.w, &r.g, &r.m, &r.v, &r.average} {
		if *data != nil {
			*data = (*data)[lo:hi]
		}
	}
	return r
}

// apply computes all blocks of the entries.
func (c *CPU) apply(operation string, entries []Entry, use Use, block func(worker, block int)) error {
	if err := c.cut(operation, entries, use); err != nil {
		return err
	}
	c.workers.Run(len(c.job.runs), block)
	c.release()
	return nil
}

// release lets go of the memory of the last call.
func (c *CPU) release() {
	clear(c.job.runs)
	c.job.runs = c.job.runs[:0]
}

func (c *CPU) SGD(entries []Entry, momentum float32) error {
	c.job.momentum = momentum
	return c.apply("sgd", entries, UseG|UseW|UseM, c.sgdBlock)
}

func (c *CPU) runSGDBlock(_, block int) {
	r := &c.job.runs[block]
	c.level.SGD(r.w, r.g, r.m, r.lr, c.job.momentum, r.decay)
}

// constants computes the inputs of a step of Adam from parameters that fitAdam has accepted, on every device:
// 1-β and the bias corrections are rounded once, from float64.
func (p AdamParams) constants() simd.AdamStep {
	beta1, beta2 := float64(p.Beta1), float64(p.Beta2)
	return simd.AdamStep{
		Beta1: p.Beta1, Rest1: float32(1 - beta1), Beta2: p.Beta2, Rest2: float32(1 - beta2),
		Correct1: float32(1 / (1 - math.Pow(beta1, float64(p.Step)))),
		Correct2: float32(1 / (1 - math.Pow(beta2, float64(p.Step)))),
		Epsilon:  p.Epsilon,
	}
}

func (c *CPU) Adam(entries []Entry, p AdamParams) error {
	return c.adam("adam", entries, p, c.adamBlock)
}

func (c *CPU) AdamW(entries []Entry, p AdamParams) error {
	return c.adam("adamw", entries, p, c.adamWBlock)
}

func (c *CPU) adam(operation string, entries []Entry, p AdamParams, block func(worker, block int)) error {
	if err := fitAdam(p); err != nil {
		return err
	}
	c.job.adam = p.constants()
	return c.apply(operation, entries, UseG|UseW|UseM|UseV, block)
}

func (c *CPU) runAdamBlock(_, block int) {
	r, p := &c.job.runs[block], c.job.adam
	p.LR, p.Decay = r.lr, r.decay
	c.level.Adam(r.w, r.g, r.m, r.v, &p)
}

func (c *CPU) runAdamWBlock(_, block int) {
	r, p := &c.job.runs[block], c.job.adam
	p.LR, p.Decay = r.lr, r.decay
	c.level.AdamW(r.w, r.g, r.m, r.v, &p)
}

func (c *CPU) Average(entries []Entry, share float32) error {
	if err := fitShare(share); err != nil {
		return err
	}
	c.job.scale = share
	return c.apply("average", entries, UseG|UseW|UseAverage, c.averageBlock)
}

func (c *CPU) runAverageBlock(_, block int) {
	r := &c.job.runs[block]
	c.level.Approach(r.average, r.w, c.job.scale)
}

func (c *CPU) Exchange(entries []Entry) error {
	return c.apply("exchange", entries, UseG|UseW|UseAverage, c.exchangeBlock)
}

func (c *CPU) runExchangeBlock(_, block int) {
	r := &c.job.runs[block]
	average := r.average[:len(r.w)]
	for i, w := range r.w {
		r.w[i], average[i] = average[i], w
	}
}
