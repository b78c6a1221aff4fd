package pool

import (
	"errors"
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

func TestShapes_ThatDoNotFitAreRefused(t *testing.T) {
	c := newTestCPU(t, 1)
	x, y := drawn(t, 1, 2, 5, 5, 4), optest.Floats(t, nil, 2, 3, 3, 4)
	g := optest.Floats(t, nil, 2, 4)
	cases := map[string]error{
		"no input":               c.MaxPool(y, nil),
		"no output":              c.MaxPool(nil, x),
		"empty map":              c.MaxPool(optest.Floats(t, nil, 2, 0, 0, 4), optest.Floats(t, nil, 2, 0, 0, 4)),
		"no gradient":            c.MaxPoolGrad(nil, y, x, y, false),
		"gradient of the output": c.MaxPoolGrad(x, x, x, y, false),
		"integers":               c.BagPool(g, optest.Ints(t, 1), nil, Mean),
		"vector of other bags":   c.BagPool(optest.Floats(t, nil, 3, 4), x, nil, Mean),
		"no vector":              c.BagPool(nil, x, nil, Mean),
		"unknown kind":           c.BagPool(g, x, nil, Kind(2)),
		"max without its input":  c.BagPoolGrad(x, g, nil, nil, nil, Max, false),
		"no offsets":             c.BagPool(g, x, optest.Ints(t), Mean),
	}
	for name, err := range cases {
		if !errors.Is(err, tensor.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
