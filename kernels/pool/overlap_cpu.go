package pool

import (
	"cmp"

	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// overlapJob is the input of the blocks of 3×3 pooling. A block is some rows of windows of one map.
type overlapJob struct {
	windowJob
	perBlock int // rows of windows
	perMap   int // blocks
}

// runOverlap shares the rows of windows, map by map.
func (c *CPU) runOverlap(j windowJob, block func(worker, block int)) {
	if j.C == 0 {
		return
	}
	rows := min(j.P, j.blockRows())
	c.overlap = overlapJob{windowJob: j, perBlock: rows, perMap: (j.P + rows - 1) / rows}
	c.workers.Run(j.T*c.overlap.perMap, block)
	c.overlap = overlapJob{}
}

// rows are the map and the rows of windows of a block.
func (j *overlapJob) rows(block int) (t, lo, hi int) {
	lo = block % j.perMap * j.perBlock
	return block / j.perMap, lo, min(lo+j.perBlock, j.P)
}

func (c *CPU) MaxPool3(y, x *tensor.Tensor) error {
	const operation = "3×3 max pooling"
	g, err := fitMax(operation, y, x)
	if err := cmp.Or(err, tensor.OnHost(operation, tensor.Float32, y, x)); err != nil {
		return err
	}
	for i := range c.lines {
		if cap(c.lines[i]) < g.W*g.C {
			c.lines[i] = make([]float32, g.W*g.C)
		}
	}
	c.runOverlap(windowJob{Geometry: g, x: x.Float32s(), y: y.Float32s()}, c.max3Block)
	return nil
}

// runMax3Block takes the maxima of three rows, then of three columns of the result. A row or column beyond
// the border is replaced by one inside the window, which changes no maximum.
func (c *CPU) runMax3Block(worker, block int) {
	j := &c.overlap
	t, lo, hi := j.rows(block)
	width := j.W * j.C
	line := c.lines[worker][:width]
	for p := lo; p < hi; p++ {
		middle := j.x[(t*j.H+2*p)*width:][:width]
		above, below := middle, middle
		if p > 0 {
			above = j.x[(t*j.H+2*p-1)*width:][:width]
		}
		if 2*p+1 < j.H {
			below = j.x[(t*j.H+2*p+1)*width:][:width]
		}
		c.level.MaxOfFour(line, above, middle, below, below)
		out := j.y[(t*j.P+p)*j.Q*j.C:][:j.Q*j.C]
		for q := range j.Q {
			left, right := max(0, 2*q-1)*j.C, min(2*q+1, j.W-1)*j.C
			c.level.MaxOfFour(out[q*j.C:][:j.C], line[left:], line[2*q*j.C:], line[right:], line[right:])
		}
	}
}

func (c *CPU) MaxPool3Grad(dx, dy, x, y *tensor.Tensor, relu bool) error {
	const operation = "gradient of 3×3 max pooling"
	g, err := FitMaxGrad(operation, dx, dy, x, y)
	if err := cmp.Or(err, tensor.OnHost(operation, tensor.Float32, dx, dy, x, y)); err != nil {
		return err
	}
	c.runOverlap(windowJob{Geometry: g, x: x.Float32s(), y: y.Float32s(), dx: dx.Float32s(), dy: dy.Float32s(),
		relu: relu}, c.max3GradBlock)
	return nil
}

// runMax3GradBlock writes the rows 2p and 2p+1 of dx for each row p of windows. The last row is also the
// first row of the windows of row p+1, so these are computed again. Each element gets the gradients of its
// windows in their order, independently of the blocks.
func (c *CPU) runMax3GradBlock(worker, block int) {
	j := &c.overlap
	t, lo, hi := j.rows(block)
	width := j.W * j.C
	first, end := 2*lo, min(2*hi, j.H)
	clear(j.dx[(t*j.H+first)*width : (t*j.H+end)*width])
	for p := lo; p < min(hi+1, j.P); p++ {
		whole := max(1, j.W/2) // windows that no border cuts, from the second on, end here
		c.scatter3(worker, t, p, 0, 1, first, end)
		c.scatter3(worker, t, p, 1, whole-1, first, end)
		c.scatter3(worker, t, p, whole, j.Q-whole, first, end)
	}
}

// scatter3 sends the gradients of count windows, which the border cuts alike, to their first largest elements, of
// those in rows first to end.
func (c *CPU) scatter3(worker, t, p, q, count, first, end int) {
	if count <= 0 {
		return
	}
	j := &c.overlap
	offsets := &c.offsets[worker] // of the elements inside the border, from the first of them
	n, lo, hi := 0, 0, 0
	top, left := max(0, 2*p-1), max(0, 2*q-1)
	for h := top; h < min(2*p+2, j.H); h++ {
		if h == first {
			lo = n
		}
		for w := left; w < min(2*q+2, j.W); w++ {
			offsets[n] = ((h-top)*j.W + w - left) * j.C
			n++
		}
		if h < end {
			hi = n
		}
	}
	from, window := ((t*j.H+top)*j.W+left)*j.C, ((t*j.P+p)*j.Q+q)*j.C
	c.level.ScatterFirst(&simd.FirstScatter{
		D: j.dx[from:], X: j.x[from:], Offsets: offsets[:n], Lo: lo, Hi: hi,
		Top: j.y[window:], Grad: j.dy[window:], ReLU: j.relu, Step: 2 * j.C, Count: count,
	}, j.C)
}
