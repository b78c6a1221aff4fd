package activation

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

func drawn(t testing.TB, seed uint64, shape ...int) *tensor.Tensor {
	stream := rng.New(seed)
	return optest.Normal(t, &stream, 1, shape...)
}

func same(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i, w := range want {
		if math.Float32bits(got[i]) != math.Float32bits(w) {
			t.Fatalf("%s: element %d is %g, want %g", what, i, got[i], w)
		}
	}
}

func TestDropout_KeepsTheRateAndTheMean(t *testing.T) {
	const n, rate = 200_000, 0.3
	data := make([]float32, n)
	for i := range data {
		data[i] = 1
	}
	x := optest.Floats(t, data, 1, n)
	optest.Must(t, newTestCPU(t, 1).Dropout(x, x, optest.Ints(t, 1), optest.Ints(t, 3, 0), rate))
	zeros, sum := 0, 0.0
	for _, v := range x.Float32s() {
		if v == 0 {
			zeros++
		}
		sum += float64(v)
	}
	deviation := math.Sqrt(rate * (1 - rate) / n)
	if math.Abs(float64(zeros)/n-rate) > 5*deviation || math.Abs(sum/n-1) > 5*deviation/(1-rate) {
		t.Errorf("%d of %d elements dropped, mean %g", zeros, n, sum/n)
	}
}

func TestShapesAndRates_ThatDoNotFitAreRefused(t *testing.T) {
	c := newTestCPU(t, 1)
	x, keys, seed := drawn(t, 1, 2, 3), optest.Ints(t, 1, 2), optest.Ints(t, 1, 2)
	for name, err := range map[string]error{
		"another shape":             c.Dropout(drawn(t, 1, 3, 2), x, keys, seed, 0.5),
		"nothing to drop of":        c.Dropout(x, nil, keys, seed, 0.5),
		"no destination":            c.Dropout(nil, x, keys, seed, 0.5),
		"integers":                  c.Dropout(keys, keys, keys, seed, 0.5),
		"gradient of another shape": c.DropoutGrad(x, drawn(t, 1, 6), keys, seed, 0.5),
		"no keys":                   c.Dropout(x, x, nil, seed, 0.5),
		"no rows":                   c.Dropout(drawn(t, 1), drawn(t, 1), keys, seed, 0.5),
		"no seed":                   c.Dropout(x, x, keys, nil, 0.5),
		"a seed of one word":        c.DropoutGrad(x, x, keys, optest.Ints(t, 1), 0.5),
		"empty rows":                c.Dropout(drawn(t, 1, 2, 0), drawn(t, 1, 2, 0), keys, seed, 0.5),
	} {
		if !errors.Is(err, tensor.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, rate := range []float32{-0.1, 1, 1.5, float32(math.NaN()), float32(math.Inf(1))} {
		if err := c.Dropout(x, x, keys, seed, rate); !errors.Is(err, ErrRate) {
			t.Errorf("rate %g: %v", rate, err)
		}
	}
}

func TestDropout_ThreadsAndLevelsChangeNoBit(t *testing.T) {
	const row = 2*blockLength + 77
	x, keys, seed := drawn(t, 3, 2, row), optest.Ints(t, 11, -12), optest.Ints(t, 5, 0)
	var first []float32
	optest.EachHost(func(level simd.Level, threads int) {
		y := optest.Floats(t, make([]float32, 2*row), 2, row)
		optest.Must(t, newCPUAt(t, threads, level).Dropout(y, x, keys, seed, 0.3))
		if first == nil {
			first = y.Float32s()
		}
		same(t, fmt.Sprintf("%s, %d threads", level, threads), y.Float32s(), first)
	})
}
