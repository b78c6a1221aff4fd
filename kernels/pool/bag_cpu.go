package pool

import (
	"cmp"

	"nmn/kernels/tensor"
)

const (
	// blockChannels is the number of neighbouring channels that a block of a bag works on.
	blockChannels = 128
	// blockCells is the number of cells that a block of the mean's gradient works on, and the length
	// of the partial sums of the mean: a sum of sums, to lose less.
	blockCells = 64
)

// bagJob is the input of the blocks of BagPool and BagPoolGrad. Except for the mean's gradient, a block is
// one bag and blockChannels channels.
type bagJob struct {
	bagGeometry
	offsets      []int32
	bagOf        []int32 // bag of each frame; kept between calls to reuse its memory
	x, g, dx, dg []float32
	accumulate   bool
}

type bagScratch struct {
	total, part [blockChannels]float32
	place       [blockChannels]int
}

// channels is the part of a bag for a block: cells first to last (exclusive) of x as rows, and channels lo to
// hi (exclusive).
type channels struct{ bag, first, last, lo, hi int }

func (j *bagJob) channels(block int) channels {
	parts := (j.D + blockChannels - 1) / blockChannels
	bag, part := block/parts, block%parts
	begin, end := bag, bag+1
	if j.offsets != nil {
		begin, end = int(j.offsets[bag]), int(j.offsets[bag+1])
	}
	return channels{bag: bag, first: begin * j.Cells(), last: end * j.Cells(), lo: part * blockChannels,
		hi: min((part+1)*blockChannels, j.D)}
}

func (j *bagJob) channelBlocks() int { return j.N * ((j.D + blockChannels - 1) / blockChannels) }

// row returns the channels of a cell.
func (s channels) row(data []float32, cell, stride int) []float32 {
	return data[cell*stride+s.lo : cell*stride+s.hi]
}

// prepare checks the tensors of both operations and sets the job's geometry.
func (c *CPU) prepare(operation string, g, x, bags *tensor.Tensor, kind Kind) error {
	fit, err := FitBag(operation, g, x, bags)
	if err := cmp.Or(err, fitKind(operation, kind)); err != nil {
		return err
	}
	offsets, err := tensor.HostOffsets(operation, bags, fit.T)
	if err != nil {
		return err
	}
	c.bag = bagJob{bagGeometry: fit, offsets: offsets, bagOf: c.bag.bagOf}
	return nil
}

func (c *CPU) BagPool(g, x, bags *tensor.Tensor, kind Kind) error {
	const operation = "bag pooling"
	if err := cmp.Or(c.prepare(operation, g, x, bags, kind), tensor.OnHost(operation, tensor.Float32, g, x)); err != nil {
		return err
	}
	c.bag.x, c.bag.g = x.Float32s(), g.Float32s()
	if kind == Mean {
		c.workers.Run(c.bag.channelBlocks(), c.bagMeanBlock)
	} else {
		c.workers.Run(c.bag.channelBlocks(), c.bagMaxBlock)
	}
	c.bag = bagJob{bagOf: c.bag.bagOf}
	return nil
}

// runBagMeanBlock adds the cells in their order.
func (c *CPU) runBagMeanBlock(worker, block int) {
	j := &c.bag
	s := j.channels(block)
	out := s.row(j.g, s.bag, j.D)
	total, part := c.scratch[worker].total[:len(out)], c.scratch[worker].part[:len(out)]
	clear(total)
	for cell := s.first; cell < s.last; cell += blockCells {
		clear(part)
		c.level.SumRows(part, j.x[cell*j.D+s.lo:], j.D, min(blockCells, s.last-cell))
		c.level.Add(total, part)
	}
	count := float32(s.last - s.first)
	for k, v := range total {
		out[k] = v / count
	}
}

func (c *CPU) runBagMaxBlock(_, block int) {
	j := &c.bag
	s := j.channels(block)
	out := s.row(j.g, s.bag, j.D)
	copy(out, s.row(j.x, s.first, j.D))
	for cell := s.first + 1; cell < s.last; cell += 3 {
		last := s.last - 1 // stands in for the rows that a last step lacks
		c.level.MaxOfFour(out, out, s.row(j.x, cell, j.D), s.row(j.x, min(cell+1, last), j.D),
			s.row(j.x, min(cell+2, last), j.D))
	}
}

func (c *CPU) BagPoolGrad(dx, dg, x, g, bags *tensor.Tensor, kind Kind, accumulate bool) error {
	const operation = "gradient of bag pooling"
	if err := cmp.Or(c.prepare(operation, dg, dx, bags, kind),
		tensor.OnHost(operation, tensor.Float32, dx, dg)); err != nil {
		return err
	}
	j := &c.bag
	j.dx, j.dg, j.accumulate = dx.Float32s(), dg.Float32s(), accumulate
	if kind == Mean {
		j.listFrames()
		c.workers.Run((j.T*j.Cells()+blockCells-1)/blockCells, c.bagMeanGradBlock)
	} else {
		if err := cmp.Or(fitLike(operation, dx, x), fitLike(operation, dg, g)); err != nil {
			return err
		}
		if err := tensor.OnHost(operation, tensor.Float32, x, g); err != nil {
			return err
		}
		j.x, j.g = x.Float32s(), g.Float32s()
		c.workers.Run(j.channelBlocks(), c.bagMaxGradBlock)
	}
	c.bag = bagJob{bagOf: j.bagOf}
	return nil
}

// listFrames notes the bag of each frame, so that blocks of cells need no search.
func (j *bagJob) listFrames() {
	j.bagOf = j.bagOf[:0]
	for bag := range j.N {
		frames := 1
		if j.offsets != nil {
			frames = int(j.offsets[bag+1] - j.offsets[bag])
		}
		for range frames {
			j.bagOf = append(j.bagOf, int32(bag))
		}
	}
}

// runBagMeanGradBlock handles blockCells neighbouring cells, whole rows of x.
func (c *CPU) runBagMeanGradBlock(_, block int) {
	j := &c.bag
	for cell := block * blockCells; cell < min((block+1)*blockCells, j.T*j.Cells()); cell++ {
		bag := int(j.bagOf[cell/j.Cells()])
		count := j.Cells()
		if j.offsets != nil {
			count *= int(j.offsets[bag+1] - j.offsets[bag])
		}
		inverse := 1 / float32(count)
		grad := j.dg[bag*j.D:][:j.D]
		row := j.dx[cell*j.D:][:len(grad)]
		if !j.accumulate {
			clear(row)
		}
		c.level.AddScaled(row, grad, inverse)
	}
}

// runBagMaxGradBlock finds the first cell of each maximum by going backwards: the last one noted is
// the first.
func (c *CPU) runBagMaxGradBlock(worker, block int) {
	j := &c.bag
	s := j.channels(block)
	top := s.row(j.g, s.bag, j.D)
	place := c.scratch[worker].place[:len(top)]
	for k := range place {
		place[k] = s.first
	}
	for cell := s.last - 1; cell >= s.first; cell-- {
		row := s.row(j.x, cell, j.D)[:len(place)]
		for k, v := range row {
			at := place[k]
			if v == top[k] {
				at = cell
			}
			place[k] = at
		}
		if !j.accumulate {
			clear(s.row(j.dx, cell, j.D))
		}
	}
	grad := s.row(j.dg, s.bag, j.D)
	for k, at := range place {
		j.dx[at*j.D+s.lo+k] += grad[k]
	}
}
