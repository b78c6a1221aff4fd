package pool

import "nmn/kernels/tensor"

// overlapJob is what the blocks of 3×3 pooling read. A block is some rows of windows of a map.
type overlapJob struct {
	Geometry
	x, y, dx, dy []float32
	relu         bool
}

// blockRows is the number of rows of windows in a block, and blocks how many blocks a map has.
func (j *overlapJob) blockRows() int { return max(1, blockFloats/max(1, 2*j.W*j.C)) }
func (j *overlapJob) blocks() int    { return (j.P + j.blockRows() - 1) / j.blockRows() }

// rows are the map and the rows of windows of a block.
func (j *overlapJob) rows(block int) (t, lo, hi int) {
	t, lo = block/j.blocks(), block%j.blocks()*j.blockRows()
	return t, lo, min(lo+j.blockRows(), j.P)
}

func (c *CPU) runOverlap(j overlapJob, block func(worker, block int)) {
	if j.C == 0 || j.T == 0 {
		return
	}
	c.overlap = j
	c.workers.Run(j.T*j.blocks(), block)
	c.overlap = overlapJob{}
}

// MaxPool3 implements Ops.
func (c *CPU) MaxPool3(y, x *tensor.Tensor) error {
	const operation = "3×3 max pooling"
	g, err := FitMax3(operation, y, x)
	if err := firstError(err, onHost(operation, y, x)); err != nil {
		return err
	}
	c.runOverlap(overlapJob{Geometry: g, x: x.Float32s(), y: y.Float32s()}, c.max3Block)
	return nil
}

// runMax3Block gives a window that the border cuts the cells it has more than once, which changes no maximum.
func (c *CPU) runMax3Block(_, block int) {
	j := &c.overlap
	t, lo, hi := j.rows(block)
	for p := lo; p < hi; p++ {
		top, bottom := max(2*p-1, 0), min(2*p+1, j.H-1)
		rows := [3]int{(t*j.H + top) * j.W, (t*j.H + 2*p) * j.W, (t*j.H + bottom) * j.W}
		for q := range j.Q {
			columns := [3]int{max(2*q-1, 0), 2 * q, min(2*q+1, j.W-1)}
			y := j.y[((t*j.P+p)*j.Q+q)*j.C:][:j.C]
			cell := func(row, column int) []float32 { return j.x[(rows[row]+columns[column])*j.C:][:j.C] }
			c.level.MaxOfFour(y, cell(0, 0), cell(0, 1), cell(0, 2), cell(1, 0))
			c.level.MaxOfFour(y, y, cell(1, 1), cell(1, 2), cell(2, 0))
			c.level.MaxOfFour(y, y, y, cell(2, 1), cell(2, 2))
		}
	}
}

// MaxPool3Grad implements Ops.
func (c *CPU) MaxPool3Grad(dx, dy, x, y *tensor.Tensor, relu bool) error {
	const operation = "gradient of 3×3 max pooling"
	g, err := FitMax3Grad(operation, dx, dy, x, y)
	if err := firstError(err, onHost(operation, dx, dy, x, y)); err != nil {
		return err
	}
	c.runOverlap(overlapJob{g, x.Float32s(), y.Float32s(), dx.Float32s(), dy.Float32s(), relu}, c.max3GradBlock)
	return nil
}

// runMax3GradBlock writes two rows of dx for each row of windows, and no other. The last of them belongs to the windows
// below too, whose maxima are found again for it. Gradients are added in the order of the windows.
func (c *CPU) runMax3GradBlock(_, block int) {
	j := &c.overlap
	t, lo, hi := j.rows(block)
	line := j.W * j.C
	first, last := 2*lo, min(2*hi, j.H) // rows of dx
	clear(j.dx[(t*j.H+first)*line : (t*j.H+last)*line])
	for p := lo; p < min(hi+1, j.P); p++ {
		for q := range j.Q {
			j.scatter(t, p, q, first, last)
		}
	}
}

// scatter sends the gradients of a window to rows first to last of dx.
func (j *overlapJob) scatter(t, p, q, first, last int) {
	at := ((t*j.P+p)*j.Q + q) * j.C
	top, grad := j.y[at:at+j.C], j.dy[at:at+j.C]
	var cells [9]int // of the window that the map has, in their order
	var mine [9]bool // whether their rows are among those that are written
	n := 0
	for h := max(2*p-1, 0); h <= min(2*p+1, j.H-1); h++ {
		for w := max(2*q-1, 0); w <= min(2*q+1, j.W-1); w++ {
			cells[n], mine[n] = ((t*j.H+h)*j.W+w)*j.C, h >= first && h < last
			n++
		}
	}
	for c, most := range top {
		if j.relu && !(most > 0) {
			continue
		}
		for i, cell := range cells[:n] {
			if j.x[cell+c] == most {
				if mine[i] {
					j.dx[cell+c] += grad[c]
				}
				break
			}
		}
	}
}
