package conform

import (
	"nmn/kernels"
	"nmn/kernels/pool"
	"nmn/kernels/tensor"
	"nmn/tools/ref"
)

// windows is one way to take maxima, with its operations and their reference.
type windows struct {
	op       string
	maxima   func(m ref.Map, x []float64) []float64
	gradient func(m ref.Map, dy, x []float64, relu bool) []float64
	withBias func(m ref.Map, dy, x []float64, relu bool) (dx, db []float64)
	verdict  verdict // of the gradient
	overlap  bool    // an element may be in several windows
	run      func(k kernels.Backend, dx, dy, x, y *tensor.Tensor, relu bool) error
	runBias  func(k kernels.Backend, dx, db, dy, x, y *tensor.Tensor, p pool.MaxGradParams) error
}

var (
	two = windows{op: "MaxPool", maxima: ref.MaxPool, gradient: ref.MaxPoolGrad, withBias: ref.MaxPoolGradBias,
		verdict: exact, overlap: false,
		run: kernels.Backend.MaxPoolGrad, runBias: kernels.Backend.MaxPoolGradBias}
	// three adds up to four gradients in one element.
	three = windows{op: "MaxPool3", maxima: ref.MaxPool3, gradient: ref.MaxPool3Grad, withBias: ref.MaxPool3GradBias,
		verdict: sums(4), overlap: true,
		run: kernels.Backend.MaxPool3Grad, runBias: kernels.Backend.MaxPool3GradBias}
)

func maxPool3Call(m ref.Map, r *values) *call {
	x := onMap("x", m, r.coarse(m.Len())).computed()
	y := toMap("y", m.CeilHalf(), ref.MaxPool3(m, wide(x.float32s)), exact).computed()
	return &call{operands: []*operand{y, x}, run: func(k kernels.Backend) error { return k.MaxPool3(y.t, x.t) }}
}

func pool3Refusals() []Case {
	var list []Case
	for _, wrong := range []wrongShape{{"no_padding", []int{1, 2, 2, 3}}, {"channels", []int{1, 3, 3, 4}},
		{"frames", []int{2, 3, 3, 3}}, {"rank", []int{3, 9}}} {
		list = append(list,
			refuse("MaxPool3", wrong.name, func(*values) *call {
				y, x := blank(wrong.shape...), blank(1, 5, 5, 3)
				return &call{operands: []*operand{y, x}, run: func(k kernels.Backend) error { return k.MaxPool3(y.t, x.t) }}
			}),
			refuse("MaxPool3Grad", wrong.name, func(*values) *call {
				dy, x, y := blank(wrong.shape...), blank(1, 5, 5, 3), blank(1, 3, 3, 3)
				return &call{operands: []*operand{dy, x, y}, run: func(k kernels.Backend) error {
					return k.MaxPool3Grad(x.t, dy.t, x.t, y.t, false)
				}}
			}))
	}
	return append(list, refuse("MaxPool3GradBias", "bias", func(*values) *call {
		dx, db, dy, x, y := blank(1, 5, 5, 3), blank(4), blank(1, 3, 3, 3), blank(1, 5, 5, 3), blank(1, 3, 3, 3)
		return &call{operands: []*operand{dx, db, dy, x, y}, run: func(k kernels.Backend) error {
			return k.MaxPool3GradBias(dx.t, db.t, dy.t, x.t, y.t, pool.MaxGradParams{})
		}}
	}))
}
