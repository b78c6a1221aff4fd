package pool

import (
	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// windowJob is what the blocks of 2×2 pooling read. A block is one row of windows of one map.
type windowJob struct {
	Geometry
	x, y, dx, dy []float32
	relu         bool
}

// window is where the four elements of a window stand, for channel 0. A window that the border cuts
// names elements twice, which changes no maximum.
type window struct{ a, b, c, d, y int }

// window returns the windows' place q in a row of windows.
func (j *windowJob) window(row, q int) window {
	t, p := row/j.P, row%j.P
	top := ((t*j.H+2*p)*j.W + 2*q) * j.C
	right, down := 0, 0
	if 2*q+1 < j.W {
		right = j.C
	}
	if 2*p+1 < j.H {
		down = j.W * j.C
	}
	return window{top, top + right, top + down, top + down + right, (row*j.Q + q) * j.C}
}

// MaxPool implements Ops.
func (c *CPU) MaxPool(y, x *tensor.Tensor) error {
	const operation = "max pooling"
	g, err := FitMax(operation, y, x)
	if err != nil {
		return err
	}
	if err := onHost(operation, y, x); err != nil {
		return err
	}
	c.window = windowJob{Geometry: g, x: x.Float32s(), y: y.Float32s()}
	c.workers.Run(g.T*g.P, c.maxBlock)
	c.window = windowJob{}
	return nil
}

func (c *CPU) runMaxBlock(_, row int) {
	j := &c.window
	for q := range j.Q {
		w := j.window(row, q)
		c.level.MaxOfFour(j.y[w.y:][:j.C], j.x[w.a:], j.x[w.b:], j.x[w.c:], j.x[w.d:])
	}
}

// MaxPoolGrad implements Ops.
func (c *CPU) MaxPoolGrad(dx, dy, x, y *tensor.Tensor, relu bool) error {
	const operation = "gradient of max pooling"
	g, err := FitMax(operation, y, x)
	if err != nil {
		return err
	}
	if err := firstError(FitLike(operation, dx, x), FitLike(operation, dy, y)); err != nil {
		return err
	}
	if err := onHost(operation, dx, dy, x, y); err != nil {
		return err
	}
	c.window = windowJob{g, x.Float32s(), y.Float32s(), dx.Float32s(), dy.Float32s(), relu}
	c.workers.Run(g.T*g.P, c.maxGradBlock)
	c.window = windowJob{}
	return nil
}

func (c *CPU) runMaxGradBlock(_, row int) {
	j := &c.window
	for q := range j.Q {
		w := j.window(row, q)
		c.level.ScatterMax(&simd.Scatter{
			D:   [4][]float32{j.dx[w.a:], j.dx[w.b:], j.dx[w.c:], j.dx[w.d:]},
			X:   [3][]float32{j.x[w.a:], j.x[w.b:], j.x[w.c:]},
			Top: j.y[w.y:], Grad: j.dy[w.y:], ReLU: j.relu,
		}, j.C)
	}
}

// AvgPool implements Ops.
func (c *CPU) AvgPool(y, x *tensor.Tensor) error {
	const operation = "average pooling"
	g, err := FitAvg(operation, y, x)
	if err != nil {
		return err
	}
	if err := onHost(operation, y, x); err != nil {
		return err
	}
	c.window = windowJob{Geometry: g, x: x.Float32s(), y: y.Float32s()}
	c.workers.Run(g.T*g.P, c.avgBlock)
	c.window = windowJob{}
	return nil
}

func (c *CPU) runAvgBlock(_, row int) {
	j := &c.window
	for q := range j.Q {
		w := j.window(row, q)
		out := j.y[w.y:][:j.C]
		x0, x1, x2, x3 := j.x[w.a:][:len(out)], j.x[w.b:][:len(out)], j.x[w.c:][:len(out)], j.x[w.d:][:len(out)]
		for k := range out {
			out[k] = ((x0[k] + x1[k]) + (x2[k] + x3[k])) / 4
		}
	}
}

// AvgPoolGrad implements Ops.
func (c *CPU) AvgPoolGrad(dx, dy *tensor.Tensor) error {
	const operation = "gradient of average pooling"
	g, err := FitAvg(operation, dy, dx)
	if err != nil {
		return err
	}
	if err := onHost(operation, dx, dy); err != nil {
		return err
	}
	c.window = windowJob{Geometry: g, dx: dx.Float32s(), dy: dy.Float32s()}
	c.workers.Run(g.T*g.P, c.avgGradBlock)
	c.window = windowJob{}
	return nil
}

func (c *CPU) runAvgGradBlock(_, row int) {
	j := &c.window
	t, p := row/j.P, row%j.P
	lo, hi := (t*j.H+2*p)*j.W*j.C, (t*j.H+2*p+2)*j.W*j.C
	if p == j.P-1 {
		hi = (t + 1) * j.H * j.W * j.C // with the odd row that belongs to no window
	}
	clear(j.dx[lo:hi])
	for q := range j.Q {
		w := j.window(row, q)
		grad := j.dy[w.y:][:j.C]
		d0, d1, d2, d3 := j.dx[w.a:][:len(grad)], j.dx[w.b:][:len(grad)], j.dx[w.c:][:len(grad)], j.dx[w.d:][:len(grad)]
		for k, g := range grad {
			g /= 4
			d0[k], d1[k], d2[k], d3[k] = g, g, g, g
		}
	}
}
