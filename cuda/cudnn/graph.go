//go:build cuda

package cudnn

// #include "layer.h"
import "C"

// Numbers of the tensors of a graph.
const (
	numberX int64 = iota + 1
	numberW
	numberY
	numberBeside // the bias, or the mask of a data gradient
	numberConv   // the convolution before the bias or the mask, not in memory
	numberBiased // the sum before the ReLU, not in memory
)

// target is the device that plans are made for: an open handle's, or an absent one by its description.
type target struct {
	handle     C.cudnnHandle_t
	properties descriptor
}

// graph is a pass of a convolution as a backend graph.
type graph struct {
	builder
	pass Pass
	conv Conv
	at   target
	ops  descriptor

	users int // plans of the graph that are in use
}

// newGraph describes a pass. Its close must be called also after an error.
func newGraph(pass Pass, c Conv, at target) (*graph, error) {
	g := &graph{pass: pass, conv: c, at: at}
	if g.err = c.check(); g.err != nil {
		return g, g.err
	}
	operations := g.operations()
	g.ops = g.create("a graph", C.CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)
	g.descriptors(g.ops, C.CUDNN_ATTR_OPERATIONGRAPH_OPS, operations...)
	if at.handle != nil {
		set(&g.builder, g.ops, C.CUDNN_ATTR_OPERATIONGRAPH_HANDLE, C.CUDNN_TYPE_HANDLE, at.handle)
	}
	g.finalize("the graph of a convolution", g.ops)
	return g, g.err
}

func (g *graph) operations() []descriptor {
	c := g.conv
	in, out := elementType(c.Precision), elementType(c.Precision)
	if c.Wide {
		out = C.CUDNN_DATA_FLOAT
	}
	of := [...]C.cudnnDataType_t{in, in, in} // x, w and y
	of[g.pass.writes()] = out
	x := g.tensor(numberX, of[0], c.N, c.H, c.W, c.C, false)
	w := g.tensor(numberW, of[1], c.K, c.R, c.S, c.C, false)
	y := g.tensor(numberY, of[2], c.N, c.P(), c.Q(), c.K, false)
	// Sums stay in float32 until the last operation rounds them.
	switch {
	case g.pass == MaskedDataGradient:
		sum := g.tensor(numberConv, C.CUDNN_DATA_FLOAT, c.N, c.H, c.W, c.C, true)
		mask := g.tensor(numberBeside, in, c.N, c.H, c.W, c.C, false)
		return []descriptor{g.convolution(sum, w, y), g.reluGradient(sum, mask, x)}
	case !g.pass.biased():
		return []descriptor{g.convolution(x, w, y)}
	}
	sum := g.tensor(numberConv, C.CUDNN_DATA_FLOAT, c.N, c.P(), c.Q(), c.K, true)
	operations := []descriptor{g.convolution(x, w, sum)}
	biasType := C.cudnnDataType_t(C.CUDNN_DATA_FLOAT)
	if c.NarrowBias {
		biasType = in
	}
	bias := g.tensor(numberBeside, biasType, 1, 1, 1, c.K, false)
	if g.pass == ForwardBias {
		return append(operations, g.pointwise(C.CUDNN_POINTWISE_ADD, sum, bias, y))
	}
	biased := g.tensor(numberBiased, C.CUDNN_DATA_FLOAT, c.N, c.P(), c.Q(), c.K, true)
	return append(operations, g.pointwise(C.CUDNN_POINTWISE_ADD, sum, bias, biased),
		g.pointwise(C.CUDNN_POINTWISE_RELU_FWD, biased, nil, y))
}

func elementType(p Precision) C.cudnnDataType_t {
	if p == BFloat16 {
		return C.CUDNN_DATA_BFLOAT16
	}
	return C.CUDNN_DATA_FLOAT
}

// tensor describes n×h×w×c in NHWC. The backend takes sizes and strides in the order n, c, h, w.
func (g *graph) tensor(number int64, t C.cudnnDataType_t, n, h, w, c int, virtual bool) descriptor {
	d := g.create("a tensor", C.CUDNN_BACKEND_TENSOR_DESCRIPTOR)
	N, H, W, C_ := int64(n), int64(h), int64(w), int64(c)
	g.integers(d, C.CUDNN_ATTR_TENSOR_UNIQUE_ID, number)
	g.dataType(d, C.CUDNN_ATTR_TENSOR_DATA_TYPE, t)
	g.integers(d, C.CUDNN_ATTR_TENSOR_DIMENSIONS, N, C_, H, W)
	g.integers(d, C.CUDNN_ATTR_TENSOR_STRIDES, H*W*C_, 1, W*C_, C_)
	g.integers(d, C.CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 16)
	set(&g.builder, d, C.CUDNN_ATTR_TENSOR_IS_VIRTUAL, C.CUDNN_TYPE_BOOLEAN, virtual)
	g.finalize("a tensor", d)
	return d
}

// convolution is the pass without bias. In the gradients x, w and y stand for tensors and their gradients.
func (g *graph) convolution(x, w, y descriptor) descriptor {
	constants := g.create("the constants of a convolution", C.CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR)
	pad, step := int64(g.conv.Pad), int64(g.conv.step())
	g.dataType(constants, C.CUDNN_ATTR_CONVOLUTION_COMP_TYPE, C.CUDNN_DATA_FLOAT)
	set(&g.builder, constants, C.CUDNN_ATTR_CONVOLUTION_CONV_MODE, C.CUDNN_TYPE_CONVOLUTION_MODE,
		C.cudnnConvolutionMode_t(C.CUDNN_CROSS_CORRELATION))
	g.integers(constants, C.CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 2)
	g.integers(constants, C.CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, pad, pad)
	g.integers(constants, C.CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, pad, pad)
	g.integers(constants, C.CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, step, step)
	g.integers(constants, C.CUDNN_ATTR_CONVOLUTION_DILATIONS, 1, 1)
	g.finalize("the constants of a convolution", constants)

	a := convolutionAttributes[g.pass]
	op := g.create("a convolution", a.kind)
	g.descriptors(op, a.x, x)
	g.descriptors(op, a.w, w)
	g.descriptors(op, a.y, y)
	g.descriptors(op, a.constants, constants)
	g.floats(op, a.alpha, 1)
	g.floats(op, a.beta, 0)
	g.finalize("a convolution", op)
	return op
}

// pointwise is an operation of each element. b is nil if it has one argument.
func (g *graph) pointwise(mode C.cudnnPointwiseMode_t, a, b, to descriptor) descriptor {
	op := g.function(mode)
	g.descriptors(op, C.CUDNN_ATTR_OPERATION_POINTWISE_XDESC, a)
	if b != nil {
		g.descriptors(op, C.CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b)
	}
	g.descriptors(op, C.CUDNN_ATTR_OPERATION_POINTWISE_YDESC, to)
	g.finalize("an operation", op)
	return op
}

// reluGradient is the gradient at the input of a ReLU, given the gradient d at its output: 0 where y, its
// output, is at most 0.
func (g *graph) reluGradient(d, y, to descriptor) descriptor {
	op := g.function(C.CUDNN_POINTWISE_RELU_BWD)
	g.descriptors(op, C.CUDNN_ATTR_OPERATION_POINTWISE_XDESC, y)
	g.descriptors(op, C.CUDNN_ATTR_OPERATION_POINTWISE_DYDESC, d)
	g.descriptors(op, C.CUDNN_ATTR_OPERATION_POINTWISE_DXDESC, to)
	g.finalize("an operation", op)
	return op
}

// function is an operation of each element, to be given its tensors.
func (g *graph) function(mode C.cudnnPointwiseMode_t) descriptor {
	function := g.create("a function", C.CUDNN_BACKEND_POINTWISE_DESCRIPTOR)
	set(&g.builder, function, C.CUDNN_ATTR_POINTWISE_MODE, C.CUDNN_TYPE_POINTWISE_MODE, mode)
	g.dataType(function, C.CUDNN_ATTR_POINTWISE_MATH_PREC, C.CUDNN_DATA_FLOAT)
	g.finalize("a function", function)
	op := g.create("an operation", C.CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR)
	g.descriptors(op, C.CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, function)
	return op
}

// passAttributes are the names that the operation of a pass gives its parts.
type passAttributes struct {
	kind                            C.cudnnBackendDescriptorType_t
	x, w, y, constants, alpha, beta C.cudnnBackendAttributeName_t
}

var forwardAttributes = passAttributes{
	C.CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
	C.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, C.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
	C.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, C.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
	C.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, C.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
}

var dataAttributes = passAttributes{
	C.CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
	C.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, C.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
	C.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, C.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
	C.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, C.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
}

var convolutionAttributes = map[Pass]passAttributes{
	Forward: forwardAttributes, ForwardBias: forwardAttributes, ForwardBiasReLU: forwardAttributes,
	DataGradient: dataAttributes, MaskedDataGradient: dataAttributes,
	FilterGradient: {
		C.CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
		C.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, C.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
		C.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, C.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
		C.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, C.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
	},
}
