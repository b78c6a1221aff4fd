package pool

import (
	"cmp"

	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// windowJob is the input of the blocks of 2×2 pooling. A block is some rows of windows, of any maps.
type windowJob struct {
	Geometry
	x, y, dx, dy []float32
	relu         bool
}

// blockFloats of a map take much longer than the start of a block. Some blocks fit into the second-level
// cache.
const blockFloats = 16 << 10

// blockRows is the number of rows of windows in a block.
func (j *windowJob) blockRows() int { return max(1, blockFloats/max(1, 2*j.W*j.C)) }

// run shares the rows of windows.
func (c *CPU) run(j windowJob, block func(worker, block int)) {
	c.window = j
	rows := j.blockRows()
	c.workers.Run((j.T*j.P+rows-1)/rows, block)
	c.window = windowJob{}
}

// rows returns the rows of a block.
func (j *windowJob) rows(block int) (lo, hi int) {
	rows := j.blockRows()
	return block * rows, min((block+1)*rows, j.T*j.P)
}

// cells returns the first elements of a row of windows: of its two rows of the map, which are one if the
// border cuts the windows, and of the row of windows.
func (j *windowJob) cells(row int) (upper, lower, y int) {
	t, p := row/j.P, row%j.P
	upper = (t*j.H + 2*p) * j.W * j.C
	lower = upper
	if 2*p+1 < j.H {
		lower += j.W * j.C
	}
	return upper, lower, row * j.Q * j.C
}

// whole is the number of windows of a row that the border does not cut.
func (j *windowJob) whole() int { return min(j.W/2, j.Q) }

func (c *CPU) MaxPool(y, x *tensor.Tensor) error {
	const operation = "max pooling"
	g, err := fitMax(operation, y, x)
	if err := cmp.Or(err, tensor.OnHost(operation, tensor.Float32, y, x)); err != nil {
		return err
	}
	c.run(windowJob{Geometry: g, x: x.Float32s(), y: y.Float32s()}, c.maxBlock)
	return nil
}

// runMaxBlock gives a last window that is cut the cells it has twice, which changes no maximum.
func (c *CPU) runMaxBlock(_, block int) {
	j := &c.window
	lo, hi := j.rows(block)
	for row := lo; row < hi; row++ {
		upper, lower, y := j.cells(row)
		c.level.MaxWindows(j.y[y:], j.x[upper:], j.x[lower:], j.C, j.whole())
		if j.whole() < j.Q {
			right := (j.W - 1) * j.C
			u, w := j.x[upper+right:], j.x[lower+right:]
			c.level.MaxOfFour(j.y[y+(j.Q-1)*j.C:][:j.C], u, u, w, w)
		}
	}
}

func (c *CPU) MaxPoolGrad(dx, dy, x, y *tensor.Tensor, relu bool) error {
	const operation = "gradient of max pooling"
	g, err := FitMaxGrad(operation, dx, dy, x, y)
	if err := cmp.Or(err, tensor.OnHost(operation, tensor.Float32, dx, dy, x, y)); err != nil {
		return err
	}
	c.run(windowJob{Geometry: g, x: x.Float32s(), y: y.Float32s(), dx: dx.Float32s(), dy: dy.Float32s(), relu: relu},
		c.maxGradBlock)
	return nil
}

func (c *CPU) runMaxGradBlock(_, block int) {
	j := &c.window
	lo, hi := j.rows(block)
	for row := lo; row < hi; row++ {
		upper, lower, y := j.cells(row)
		c.level.ScatterWindows(&simd.WindowScatter{
			DUpper: j.dx[upper:], DLower: j.dx[lower:], Upper: j.x[upper:], Lower: j.x[lower:],
			Top: j.y[y:], Grad: j.dy[y:], ReLU: j.relu,
		}, j.C, j.whole())
		if j.whole() < j.Q {
			right := (j.W - 1) * j.C
			u, w, last := upper+right, lower+right, y+(j.Q-1)*j.C
			c.level.ScatterMax(&simd.Scatter{
				D:   [4][]float32{j.dx[u:], j.dx[u:], j.dx[w:], j.dx[w:]},
				X:   [3][]float32{j.x[u:], j.x[u:], j.x[w:]},
				Top: j.y[last:], Grad: j.dy[last:], ReLU: j.relu,
			}, j.C)
		}
	}
}
