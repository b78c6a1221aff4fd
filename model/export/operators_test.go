package export

import (
	"math"
	"slices"
)

// array is a value of a graph: row-major, or a scalar if it has no shape. True is 1, false is 0.
type array struct {
	shape []int
	data  []float64
}

func zeros(shape ...int) array {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return array{shape, make([]float64, n)}
}

// operators are the operations of opset 17 that our graphs use, after https://onnx.ai/onnx/operators.
var operators = map[string]func(n *node, x []array) []array{
	"Abs":   each(math.Abs),
	"Atanh": each(math.Atanh),
	"Exp":   each(math.Exp),
	"IsNaN": each(func(v float64) float64 {
		if math.IsNaN(v) {
			return 1
		}
		return 0
	}),
	"Neg":     each(func(v float64) float64 { return -v }),
	"Relu":    each(func(v float64) float64 { return max(v, 0) }),
	"Sigmoid": each(func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }),
	"Tanh":    each(math.Tanh),
	"Softmax": softmax,
	"MatMul":  matmul,

	"Add": broadcast(func(v ...float64) float64 { return v[0] + v[1] }),
	"Div": broadcast(func(v ...float64) float64 { return v[0] / v[1] }),
	"Mul": broadcast(func(v ...float64) float64 { return v[0] * v[1] }),
	"Sub": broadcast(func(v ...float64) float64 { return v[0] - v[1] }),
	"Where": broadcast(func(v ...float64) float64 {
		if v[0] != 0 {
			return v[1]
		}
		return v[2]
	}),

	"ReduceMax":  reduce(func(cells []float64) float64 { return slices.Max(cells) }),
	"ReduceMean": reduce(func(cells []float64) float64 { return sum(cells) / float64(len(cells)) }),
	"ReduceSum":  reduce(sum),

	"Conv":    convolve,
	"Gemm":    gemm,
	"MaxPool": maxPool,
	"Split":   split,
}

func sum(cells []float64) (s float64) {
	for _, v := range cells {
		s += v
	}
	return s
}

func each(f func(float64) float64) func(*node, []array) []array {
	return func(_ *node, x []array) []array {
		y := zeros(x[0].shape...)
		for i, v := range x[0].data {
			y.data[i] = f(v)
		}
		return []array{y}
	}
}

// broadcast applies f to operands that are stretched to a common shape as in NumPy: shapes are aligned at
// their last dimension, and dimensions of size 1 are repeated.
func broadcast(f func(...float64) float64) func(*node, []array) []array {
	return func(_ *node, x []array) []array {
		var shape []int // reversed until it is whole
		for _, a := range x {
			for i := range a.shape {
				size := a.shape[len(a.shape)-1-i]
				if i == len(shape) {
					shape = append(shape, 1)
				}
				if size != 1 && shape[i] != 1 && size != shape[i] {
					panic("shapes do not fit together")
				}
				shape[i] = max(shape[i], size)
			}
		}
		slices.Reverse(shape)
		y, v := zeros(shape...), make([]float64, len(x))
		for at := range y.data {
			for i, a := range x {
				place, stride, rest := 0, 1, at
				for d := range shape {
					index := rest % shape[len(shape)-1-d]
					rest /= shape[len(shape)-1-d]
					if d < len(a.shape) {
						size := a.shape[len(a.shape)-1-d]
						place += min(index, size-1) * stride
						stride *= size
					}
				}
				v[i] = a.data[place]
			}
			y.data[at] = f(v...)
		}
		return []array{y}
	}
}

// reduce joins the last axes of a value. The axes are an attribute of ReduceMax and ReduceMean in opset 17, and an
// input of ReduceSum.
func reduce(f func([]float64) float64) func(*node, []array) []array {
	return func(n *node, x []array) []array {
		axes := n.attributes["axes"]
		if len(x) > 1 {
			for _, v := range x[1].data {
				axes = append(axes, int(v))
			}
		}
		kept := len(x[0].shape) - len(axes)
		cells := 1
		for i, axis := range axes {
			if axis != kept+i {
				panic("this test joins the last axes only")
			}
			cells *= x[0].shape[axis]
		}
		shape := slices.Clone(x[0].shape[:kept])
		if n.attribute("keepdims", 1) == 1 {
			shape = append(shape, slices.Repeat([]int{1}, len(axes))...)
		}
		y := zeros(shape...)
		for i := range y.data {
			y.data[i] = f(x[0].data[i*cells : (i+1)*cells])
		}
		return []array{y}
	}
}

// convolve is the cross-correlation of N×C×H×W with filters K×C×R×S, and a bias.
func convolve(n *node, operands []array) []array {
	x, w, bias := operands[0], operands[1], operands[2]
	channels, height, width := x.shape[1], x.shape[2], x.shape[3]
	filters, rows, columns := w.shape[0], w.shape[2], w.shape[3]
	top, left := 0, 0
	bottom, right := 0, 0
	if pads := n.attributes["pads"]; pads != nil {
		top, left, bottom, right = pads[0], pads[1], pads[2], pads[3]
	}
	down, across2 := 1, 1
	if strides := n.attributes["strides"]; strides != nil {
		down, across2 = strides[0], strides[1]
	}
	y := zeros(x.shape[0], filters, (height+top+bottom-rows)/down+1, (width+left+right-columns)/across2+1)
	at := 0
	for b := range y.shape[0] {
		for k := range filters {
			for i := range y.shape[2] {
				for j := range y.shape[3] {
					p, q, total := i*down, j*across2, bias.data[k]
					for c := range channels {
						for r := max(0, top-p); r < min(rows, height+top-p); r++ {
							for s := max(0, left-q); s < min(columns, width+left-q); s++ {
								total += x.data[((b*channels+c)*height+p+r-top)*width+q+s-left] *
									w.data[((k*channels+c)*rows+r)*columns+s]
							}
						}
					}
					y.data[at] = total
					at++
				}
			}
		}
	}
	return []array{y}
}

// maxPool is the largest element of each window. In ceil mode windows may reach over the border.
func maxPool(n *node, operands []array) []array {
	x, kernel, strides := operands[0], n.attributes["kernel_shape"], n.attributes["strides"]
	height, width := x.shape[2], x.shape[3]
	pads := []int{0, 0, 0, 0}
	if p := n.attributes["pads"]; p != nil {
		pads = p
	}
	size := func(length, axis int) int {
		steps := length + pads[axis] + pads[axis+2] - kernel[axis]
		if n.attribute("ceil_mode", 0) == 1 {
			steps += strides[axis] - 1
		}
		return steps/strides[axis] + 1
	}
	y := zeros(x.shape[0], x.shape[1], size(height, 0), size(width, 1))
	at := 0
	for plane := range x.shape[0] * x.shape[1] {
		for p := range y.shape[2] {
			for q := range y.shape[3] {
				y.data[at] = math.Inf(-1)
				top, left := p*strides[0]-pads[0], q*strides[1]-pads[1]
				for h := max(0, top); h < min(top+kernel[0], height); h++ {
					for w := max(0, left); w < min(left+kernel[1], width); w++ {
						y.data[at] = max(y.data[at], x.data[(plane*height+h)*width+w])
					}
				}
				at++
			}
		}
	}
	return []array{y}
}

// gemm is x·w + bias. transB transposes w.
func gemm(n *node, operands []array) []array {
	x, w, bias := operands[0], operands[1], operands[2]
	across, down, outputs := 1, w.shape[1], w.shape[1] // strides of w along outputs and along inputs
	if n.attribute("transB", 0) == 1 {
		across, down, outputs = w.shape[1], 1, w.shape[0]
	}
	inputs := x.shape[1]
	y := zeros(x.shape[0], outputs)
	for i := range y.data {
		row, k := i/outputs, i%outputs
		y.data[i] = bias.data[k]
		for d := range inputs {
			y.data[i] += x.data[row*inputs+d] * w.data[k*across+d*down]
		}
	}
	return []array{y}
}

// split cuts the columns of N×C into equal parts, one for each output of the operation.
func split(n *node, operands []array) []array {
	if n.attribute("axis", 0) != 1 {
		panic("this test splits columns only")
	}
	x := operands[0]
	width := x.shape[1] / len(n.outputs)
	parts := make([]array, len(n.outputs))
	for i := range parts {
		parts[i] = zeros(x.shape[0], width)
		for j := range parts[i].data {
			parts[i].data[j] = x.data[j/width*x.shape[1]+i*width+j%width]
		}
	}
	return parts
}

// softmax over the classes of N×K.
func softmax(_ *node, x []array) []array {
	out, k := zeros(x[0].shape...), x[0].shape[1]
	for i := range x[0].data {
		sum := 0.0
		for _, v := range x[0].data[i/k*k : (i/k+1)*k] {
			sum += math.Exp(v - x[0].data[i])
		}
		out.data[i] = 1 / sum
	}
	return []array{out}
}

// matmul multiplies N×K by K×M.
func matmul(_ *node, x []array) []array {
	n, k, m := x[0].shape[0], x[0].shape[1], x[1].shape[1]
	out := zeros(n, m)
	for i := range n {
		for j := range m {
			for c := range k {
				out.data[i*m+j] += x[0].data[i*k+c] * x[1].data[c*m+j]
			}
		}
	}
	return []array{out}
}
