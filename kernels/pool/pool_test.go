package pool

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"nmn/internal/rng"
	"nmn/kernels/simd"
	"nmn/kernels/tensor"
	"nmn/tools/optest"
)

// newTestCPU computes at the level of the environment, the best one by default.
func newTestCPU(t testing.TB, threads int) *CPU {
	return newCPUAt(t, threads, optest.Level(t))
}

func newCPUAt(t testing.TB, threads int, level simd.Level) *CPU {
	return NewCPU(optest.Device(t, threads), level)
}

// drawn makes a tensor of small integers: they tie often, and their sums are exact.
func drawn(t testing.TB, seed uint64, shape ...int) *tensor.Tensor {
	x := optest.Floats(t, nil, shape...)
	stream := rng.New(seed)
	for i := range x.Float32s() {
		x.Float32s()[i] = float32(stream.Intn(9) - 4)
	}
	return x
}

func check(t *testing.T, what string, got []float32, want []float64) {
	t.Helper()
	for i, w := range want {
		if !(math.Abs(float64(got[i])-w) <= 1e-6*math.Abs(w)) {
			t.Fatalf("%s: element %d is %g, want %g", what, i, got[i], w)
		}
	}
}

// mapSizes have odd and even sides, single cells, and channel counts around a multiple of eight.
var mapSizes = [][4]int{{1, 1, 1, 1}, {2, 1, 5, 3}, {1, 5, 1, 8}, {2, 4, 6, 16}, {3, 5, 7, 17}, {1, 2, 2, 64}}

// eachWindow calls f with the output element and the elements of its window, in row-major order.
func eachWindow(size [4]int, f func(out int, window []int)) {
	h, w, c := size[1], size[2], size[3]
	p, q := (h+1)/2, (w+1)/2
	for out := range size[0] * p * q * c {
		channel, column, row, frame := out%c, out/c%q, out/(c*q)%p, out/(c*q*p)
		var window []int
		for i := 2 * row; i < min(2*row+2, h); i++ {
			for j := 2 * column; j < min(2*column+2, w); j++ {
				window = append(window, ((frame*h+i)*w+j)*c+channel)
			}
		}
		f(out, window)
	}
}

func TestMaxPool_ValuesAndFirstOfTies(t *testing.T) {
	for _, size := range mapSizes {
		for _, relu := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v/relu=%t", size, relu), func(t *testing.T) {
				x := drawn(t, 1, size[:]...)
				shape := []int{size[0], (size[1] + 1) / 2, (size[2] + 1) / 2, size[3]}
				y, dy, dx := optest.Floats(t, nil, shape...), drawn(t, 2, shape...), optest.Floats(t, nil, size[:]...)
				c := newTestCPU(t, 2)
				optest.Must(t, c.MaxPool(y, x), c.MaxPoolGrad(dx, dy, x, y, relu))
				wantY, wantDX := make([]float64, y.Len()), make([]float64, x.Len())
				eachWindow(size, func(out int, window []int) {
					best := window[0]
					for _, i := range window {
						if x.Float32s()[i] > x.Float32s()[best] {
							best = i
						}
					}
					wantY[out] = float64(x.Float32s()[best])
					if !relu || wantY[out] > 0 {
						wantDX[best] = float64(dy.Float32s()[out])
					}
				})
				check(t, "y", y.Float32s(), wantY)
				check(t, "dx", dx.Float32s(), wantDX)
			})
		}
	}
}

func TestMaxPool_NaNStaysInItsWindow(t *testing.T) {
	nan := float32(math.NaN())
	for place := range 4 {
		x := optest.Floats(t, []float32{1, 2, 3, 4, 5, 6, 7, 8}, 1, 2, 4, 1)
		x.Float32s()[place/2*4+place%2] = nan
		y, dx := optest.Floats(t, nil, 1, 1, 2, 1), optest.Floats(t, nil, 1, 2, 4, 1)
		dy := optest.Floats(t, []float32{1, 10}, 1, 1, 2, 1)
		c := newTestCPU(t, 1)
		optest.Must(t, c.MaxPool(y, x), c.MaxPoolGrad(dx, dy, x, y, false))
		if v := y.Float32s(); !math.IsNaN(float64(v[0])) || v[1] != 8 {
			t.Errorf("NaN at %d: maxima %v", place, v)
		}
		d := dx.Float32s()
		if d[0]+d[1]+d[4]+d[5] != 1 || d[7] != 10 {
			t.Errorf("NaN at %d: gradient %v", place, d)
		}
	}
}

// bagCases are frame offsets for six frames. nil makes each frame a bag.
var bagCases = [][]int32{nil, {0, 6}, {0, 1, 4, 6}}

func TestBagPool_ValuesAndGradient(t *testing.T) {
	for _, offsets := range bagCases {
		for _, size := range [][4]int{{6, 1, 1, 3}, {6, 3, 5, blockChannels + 1}, {6, 9, 9, 5}} {
			for _, kind := range []Kind{Mean, Max} {
				for _, accumulate := range []bool{false, true} {
					t.Run(fmt.Sprintf("%v/%v/%v/accumulate=%t", offsets, size, kind, accumulate), func(t *testing.T) {
						checkBagPool(t, size, offsets, kind, accumulate)
					})
				}
			}
		}
	}
}

func checkBagPool(t *testing.T, size [4]int, offsets []int32, kind Kind, accumulate bool) {
	var bags *tensor.Tensor
	if offsets == nil {
		offsets = []int32{0, 1, 2, 3, 4, 5, 6}
	} else {
		bags = optest.Ints(t, offsets...)
	}
	n, d, frame := len(offsets)-1, size[3], size[1]*size[2]*size[3]
	x, dg, g := drawn(t, 5, size[:]...), drawn(t, 6, n, d), optest.Floats(t, nil, n, d)
	dx, before := optest.Floats(t, nil, size[:]...), make([]float64, x.Len())
	if accumulate {
		dx = drawn(t, 7, size[:]...)
		for i, v := range dx.Float32s() {
			before[i] = float64(v)
		}
	}
	c := newTestCPU(t, 2)
	optest.Must(t, c.BagPool(g, x, bags, kind), c.BagPoolGrad(dx, dg, x, g, bags, kind, accumulate))
	wantG, wantDX := make([]float64, n*d), before
	for out := range n * d {
		lo, hi := int(offsets[out/d])*frame+out%d, int(offsets[out/d+1])*frame
		count := float64((hi - lo + d - 1) / d)
		best := lo
		for i := lo; i < hi; i += d {
			wantG[out] += float64(x.Float32s()[i]) / count
			if kind == Mean {
				wantDX[i] += float64(dg.Float32s()[out]) / count
			}
			if x.Float32s()[i] > x.Float32s()[best] {
				best = i
			}
		}
		if kind == Max {
			wantG[out] = float64(x.Float32s()[best])
			wantDX[best] += float64(dg.Float32s()[out])
		}
	}
	for i, v := range wantG {
		if math.Abs(float64(g.Float32s()[i])-v) > 1e-6 {
			t.Fatalf("g: element %d is %g, want %g", i, g.Float32s()[i], v)
		}
	}
	for i, v := range wantDX {
		if !(math.Abs(float64(dx.Float32s()[i])-v) <= 1e-6) {
			t.Fatalf("dx: element %d is %g, want %g", i, dx.Float32s()[i], v)
		}
	}
}

func TestBagPool_NaNStaysInItsBagAndChannel(t *testing.T) {
	for _, kind := range []Kind{Mean, Max} {
		x := drawn(t, 8, 2, 2, 2, 3)
		x.Float32s()[4] = float32(math.NaN()) // bag 0, channel 1
		g, dx := optest.Floats(t, nil, 2, 3), optest.Floats(t, nil, 2, 2, 2, 3)
		c := newTestCPU(t, 1)
		optest.Must(t, c.BagPool(g, x, nil, kind), c.BagPoolGrad(dx, drawn(t, 9, 2, 3), x, g, nil, kind, false))
		for i, v := range g.Float32s() {
			if math.IsNaN(float64(v)) != (i == 1) {
				t.Errorf("%v: element %d is %g", kind, i, v)
			}
		}
		for i, v := range dx.Float32s() {
			if math.IsNaN(float64(v)) {
				t.Errorf("%v: gradient %d is NaN, though dg is not", kind, i)
			}
		}
	}
}

// Without partial sums the mean of many equal numbers drifts in float32.
func TestBagPool_MeanOfManyCellsKeepsItsDigits(t *testing.T) {
	const cells = 1 << 18
	data := make([]float32, cells)
	for i := range data {
		data[i] = 0.1
	}
	g := optest.Floats(t, nil, 1, 1)
	optest.Must(t, newTestCPU(t, 1).BagPool(g, optest.Floats(t, data, 1, cells, 1, 1), nil, Mean))
	if v := float64(g.Float32s()[0]); math.Abs(v-0.1) > 1e-5 {
		t.Errorf("mean %g", v)
	}
}

func TestPool_ThreadsAndLevelsChangeNoBit(t *testing.T) {
	x := optest.Floats(t, nil, 4, 9, 7, 70)
	stream := rng.New(10)
	for i := range x.Float32s() {
		x.Float32s()[i] = float32(stream.Normal(0, 1))
	}
	var first []float32
	optest.EachHost(func(level simd.Level, threads int) {
		c := newCPUAt(t, threads, level)
		y, dx, g, mean := optest.Floats(t, nil, 4, 5, 4, 70), optest.Floats(t, nil, 4, 9, 7, 70), optest.Floats(t, nil, 2,
			70), optest.Floats(t, nil, 4, 9, 7, 70)
		most, toMost := optest.Floats(t, nil, 2, 70), optest.Floats(t, nil, 4, 9, 7, 70)
		bags := optest.Ints(t, 0, 3, 4)
		optest.Must(t, c.MaxPool(y, x), c.MaxPoolGrad(dx, y, x, y, true), c.BagPool(g, x, bags, Mean), c.BagPoolGrad(mean, g,
			nil, nil, bags, Mean, false),
			c.BagPool(most, x, bags, Max), c.BagPoolGrad(toMost, g, x, most, bags, Max, false))
		var all []float32
		for _, out := range []*tensor.Tensor{y, dx, g, mean, most, toMost} {
			all = append(all, out.Float32s()...)
		}
		if first == nil {
			first = all
		}
		for i, v := range all {
			if math.Float32bits(v) != math.Float32bits(first[i]) {
				t.Fatalf("%s, %d threads: element %d is %g, in Go with one thread %g", level, threads, i, v, first[i])
			}
		}
	})
}

func TestPool_AllocatesNothing(t *testing.T) {
	x, dx, y := drawn(t, 1, 4, 5, 6, 70), optest.Floats(t, nil, 4, 5, 6, 70), optest.Floats(t, nil, 4, 3, 3, 70)
	g, bags := optest.Floats(t, nil, 2, 70), optest.Ints(t, 0, 1, 4)
	c := newTestCPU(t, 2)
	allocations := testing.AllocsPerRun(20, func() {
		optest.Must(t, c.MaxPool(y, x), c.MaxPoolGrad(dx, y, x, y, true),
			c.BagPool(g, x, bags, Mean), c.BagPoolGrad(dx, g, x, g, bags, Mean, true),
			c.BagPool(g, x, bags, Max), c.BagPoolGrad(dx, g, x, g, bags, Max, false))
	})
	if allocations != 0 {
		t.Errorf("%g allocations", allocations)
	}
}

func TestShapes_ThatDoNotFitAreRefused(t *testing.T) {
	c := newTestCPU(t, 1)
	x, y, floor := drawn(t, 1, 2, 5, 5, 4), optest.Floats(t, nil, 2, 3, 3, 4), optest.Floats(t, nil, 2, 2, 2, 4)
	g := optest.Floats(t, nil, 2, 4)
	cases := map[string]error{
		"no input":               c.MaxPool(y, nil),
		"no output":              c.MaxPool(nil, x),
		"floor for ceil":         c.MaxPool(floor, x),
		"other channels":         c.MaxPool(optest.Floats(t, nil, 2, 3, 3, 5), x),
		"other frames":           c.MaxPool(optest.Floats(t, nil, 1, 3, 3, 4), x),
		"empty map":              c.MaxPool(optest.Floats(t, nil, 2, 0, 0, 4), optest.Floats(t, nil, 2, 0, 0, 4)),
		"no gradient":            c.MaxPoolGrad(nil, y, x, y, false),
		"gradient of the output": c.MaxPoolGrad(x, x, x, y, false),
		"integers":               c.BagPool(g, optest.Ints(t, 1), nil, Mean),
		"vector of other bags":   c.BagPool(optest.Floats(t, nil, 3, 4), x, nil, Mean),
		"no vector":              c.BagPool(nil, x, nil, Mean),
		"unknown kind":           c.BagPool(g, x, nil, Kind(2)),
		"max without its input":  c.BagPoolGrad(x, g, nil, nil, nil, Max, false),
		"bags of floats":         c.BagPool(g, x, optest.Floats(t, []float32{0, 1, 2}, 3), Mean),
		"an empty bag":           c.BagPool(g, x, optest.Ints(t, 0, 0, 2), Mean),
		"descending bags":        c.BagPool(g, x, optest.Ints(t, 0, 3, 2), Max),
		"bags beyond the frames": c.BagPool(g, x, optest.Ints(t, 0, 1, 3), Max),
		"bags short of frames":   c.BagPoolGrad(x, g, nil, nil, optest.Ints(t, 0, 1, 1), Mean, false),
		"no offsets":             c.BagPool(g, x, optest.Ints(t), Mean),
	}
	for name, err := range cases {
		if !errors.Is(err, tensor.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
