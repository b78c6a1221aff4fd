package simd

// Assembly of several operations with the same arguments.
type (
	tileKernel func(a *float32, offsets *int, panel *float32, taps, depth, tapStride, panelSkip int, dst *float32,
		dstStride, rows int, bias, mask *float32, flags int, from *float32, next int, ahead *float32)
	matrixKernel func(dst *float32, dstRow, dstColumn int, src *float32, srcRow, srcColumn, channels int)
	outputKernel func(dst *float32, dstRow, dstColumn int, src *float32, srcRow, srcColumn, channels, rows, columns int,
		biasOrMask *float32, flags int)
	adamKernel func(w, g, m, v *float32, lr, decay, beta1, rest1, beta2, rest2, correct1, correct2,
		epsilon float32, n int)
	unaryKernel    func(dst, src *float32, n int)
	binaryKernel   func(dst, a, b *float32, n int)
	scaledKernel   func(dst, src *float32, a float32, n int)
	expKernel      func(a, b, c *float32, bias float32, n int)
	rowsKernel     func(dst *float32, dstStride int, src *float32, srcStride, rows, width int)
	columnsKernel  func(dst, src *uint8, stride int, pairs *uint16, count, batches int)
	scatterKernels [2]func(d0, d1, d2, d3, x0, x1, x2, top, grad *float32, n int)
)

// kernels is the assembly of a level. A function that is nil has none: the Go code is used. Pairs of functions
// are those without and with ReLU.
type kernels struct {
	tileShape                          [3]int // rows, wide, narrow
	outerShape, batchShape, crossShape [2]int // rows, width
	dropBatch                          int

	wide, narrow  [maxTileRows + 1]tileKernel // by the number of rows
	outer         func(a *float32, aStride int, panel *float32, depth int, dst *float32, dstStride, rows, flags int)
	multiplyBatch func(a *float32, aPoint, rows, depth int, panel *float32, panelPoint int, dst *float32, dstPoint,
		dstStride, points int)
	cross func(a *float32, aStride int, b *float32, bStride, depth int, dst *float32, dstStride, bands, flags int,
		ahead *float32, aheadStride int)

	wideBFloat16, narrowBFloat16 [maxTileRows + 1]tileKernel
	roundBFloat16                func(dst, src *float32, n int)

	winogradInput, winogradFilter, winogradGradient matrixKernel
	winogradFilterGradient                          func(dst *float32, dstRow, dstColumn int, src *float32, srcRow,
		srcColumn, channels, flags int)
	winogradOutput, winogradDataGradient outputKernel

	copyRows   rowsKernel
	transpose8 func(dst *float32, dstStride int, src *float32, srcStride, blocks int)
	sumRows    func(dst, src *float32, stride, rows, width int)
	sumRows64  func(dst *float64, src *float32, stride, rows, width int)
	scaleRows  func(dst *float32, stride int, factors *float32, rows, width int)

	add, relu, gelu, geluTanh, geluQuick unaryKernel
	sum, reluGrad                        binaryKernel
	addScaled, scaleTo, approach         scaledKernel
	scale                                func(x *float32, a float32, n int)
	addProduct                           func(dst, r, x, factor *float32, n int)
	standardize                          func(dst, x, gain, bias *float32, high, low, inverse float32, n int)
	sumSquares                           func(x *float32, groups int) [8]float64
	moments                              func(x *float32, first float64, groups int) [16]float64
	dropout                              func(dst, src *float32, keys [2 * rounds]uint32, counter, row, threshold uint32,
		scale float32, batches int)
	sgd         func(w, g, m *float32, lr, momentum, decay float32, n int)
	adam, adamW adamKernel

	maxOfFour      func(dst, x0, x1, x2, x3 *float32, n int)
	scatterMax     scatterKernels
	scatterFirst   [2]func(d, x, top, grad *float32, offsets *int, lo, end, last, channels, step, count int)
	scatterWindows [2]func(dUpper, dLower, upper, lower, top, grad *float32, channels, count int)
	maxWindows     func(upper, lower, dst *float32, channels, count int)

	lstmGates         func(i, f, g, o, before, c, h *float32, n int)
	lstmGatesGrad     func(i, f, g, o, before, c, dh, dc, carried *float32, n int)
	raise             scaledKernel
	addExp, scaledExp expKernel
	softmax           func(block *float32, stride, rows int, top, sum, factor *float32, lanes int)
	softplus          func(positive, excess *float64, logits *float32, stride, rows, width int)
	softplusSigmoid   func(positive, excess *float64, logits, dst *float32, stride, rows, width int)

	huffmanRun func(from *byte, next int, acc, n uint64, codes *uint32, coefs *int16, order *uint8,
		k int) (int, uint64, uint64, int)
	inverseDCT  func(dst *uint8, stride int, coefs *int16, factors *uint16, pairs int)
	mixRows     func(mixed *uint16, near, far *uint8, groups int)
	doubleRow   func(dst *uint8, mixed *uint16, even, odd uint32, groups int)
	ycbcr       func(dst, luma, cb, cr *uint8, groups int)
	resampleRow func(dst *uint32, src *uint8, first *int32, weights *uint32, n int)
	blendRows   func(dst *uint8, near, far *uint32, weights uint32, batches int)
	reduceRows  func(dst *uint8, dstStride int, src *uint8, srcStride int, first *int32, pairs *uint16,
		groups, n int)
	reduceColumns, reduceWide columnsKernel
	normalize                 func(dst *float32, src *uint8, step int, order *uint8, mean, scale [16]float32, groups int)
}

// table holds the assembly of each level. It has raw pointers instead of the arguments of the methods:
// arguments of a function value escape, and a struct of arguments would take heap memory at each call.
var table = func() (t [AVX512 + 1]kernels) {
	blocks := [2]int{genericRows, genericWidth}
	for l := range t {
		t[l] = kernels{tileShape: [3]int{genericRows, genericWidth, genericWidth}, outerShape: blocks,
			batchShape: blocks, crossShape: blocks}
	}
	assemble(&t)
	return t
}()

// The methods run compute an operation on slices as long as the first one, or longer: by the assembly if there is any,
// else by its Go twin.

func (k unaryKernel) run(operation string, twin func(dst, src []float32), dst, src []float32) {
	atLeast(operation, len(dst), src)
	if k == nil {
		twin(dst, src)
	} else if len(dst) > 0 {
		k(at(dst), at(src), len(dst))
	}
}

func (k binaryKernel) run(operation string, twin func(dst, a, b []float32), dst, a, b []float32) {
	atLeast(operation, len(dst), a, b)
	if k == nil {
		twin(dst, a, b)
	} else if len(dst) > 0 {
		k(at(dst), at(a), at(b), len(dst))
	}
}

func (k scaledKernel) run(operation string, twin func(dst, src []float32, a float32), dst, src []float32, a float32) {
	atLeast(operation, len(dst), src)
	if k == nil {
		twin(dst, src, a)
	} else if len(dst) > 0 {
		k(at(dst), at(src), a, len(dst))
	}
}

func (k expKernel) run(operation string, twin func(a, b, c []float32, bias float32), a, b, c []float32, bias float32) {
	atLeast(operation, len(a), b, c)
	if k == nil {
		twin(a, b, c, bias)
	} else if len(a) > 0 {
		k(at(a), at(b), at(c), bias, len(a))
	}
}

// run takes a matrix of from × from vectors through a line of a transform.
func (k matrixKernel) run(operation string, of line, to, from int, dst, src *Matrix, channels int) {
	checkTransform(operation, dst, src, to, from, channels)
	if k == nil {
		transformGeneric(of, to, from, dst, src, channels, false)
	} else if channels > 0 {
		k(at(dst.Data), dst.Row, dst.Column, at(src.Data), src.Row, src.Column, channels)
	}
}
