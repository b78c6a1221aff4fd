package train

import (
	"context"
	"errors"
	"math"
	"testing"

	"nmn/loader"
	"nmn/model"
	"nmn/tools/conform"
)

// softmaxed is q01 and q10 of class c of a confidence map [observed][true][class], written out.
func softmaxed(o func(observed, true int) float64) (q01, q10 float64) {
	share := func(observed, true int) float64 {
		return math.Exp(o(observed, true)) / (math.Exp(o(0, true)) + math.Exp(o(1, true)))
	}
	return share(0, 1), share(1, 0)
}

const hiddenUnits = 6

// noisy is a small net on features with weights of the noise model that are all different.
func noisy(t *testing.T, mode model.NoiseMode, input, classes int) *model.Net {
	t.Helper()
	c := model.MLP(input, classes, []int{hiddenUnits})
	c.Noise, c.Dropout = mode, 0
	net, err := model.New(c, conform.OpenDevice(t, 2))
	check(t, err)
	t.Cleanup(func() { check(t, net.Close()) })
	for n, p := range net.Params() {
		values := make([]float32, p.W.Len())
		for i := range values {
			values[i] = float32(math.Sin(float64(3*n + 7*i + 1)))
		}
		check(t, net.SetValues(p, values))
	}
	return net
}

func TestNoiseRates_AreTheSoftmaxOfTheBias(t *testing.T) {
	const classes = 5
	net := noisy(t, model.FeatureIndependent, 4, classes)
	b, err := net.Values(named(net, "nmn.bias"))
	check(t, err)
	q01, q10, err := NoiseRates(net)
	check(t, err)
	for c := range classes {
		want01, want10 := softmaxed(func(i, j int) float64 { return float64(b[(2*i+j)*classes+c]) })
		if math.Abs(float64(q01[c])-want01) > 1e-6 || math.Abs(float64(q10[c])-want10) > 1e-6 {
			t.Errorf("class %d: %g and %g, want %g and %g", c, q01[c], q10[c], want01, want10)
		}
	}
	b[2*classes] = float32(math.NaN())
	check(t, net.SetValues(named(net, "nmn.bias"), b))
	if _, _, err := NoiseRates(net); err == nil {
		t.Error("rates of damaged weights")
	}
	if _, _, err := NoiseRates(noisy(t, model.NoNoise, 4, classes)); !errors.Is(err, ErrNoNoiseModel) {
		t.Errorf("rates without a noise model: %v", err)
	}
}

// rowsOf are features in memory.
type rowsOf [][]float32

func (r rowsOf) Frames(int) int { return 1 }
func (r rowsOf) Width() int     { return len(r[0]) }
func (r rowsOf) Read(_ context.Context, bag, _ int, dst []float32) error {
	copy(dst, r[bag])
	return nil
}

func TestEachScore_RatesAreThoseOfTheEquations(t *testing.T) {
	const bags, input = 11, 4
	const k = 3
	net := noisy(t, model.FeatureDependent, input, k)
	rows := make(rowsOf, bags)
	for i := range rows {
		rows[i] = make([]float32, input)
		for j := range rows[i] {
			rows[i][j] = float32(math.Cos(float64(5*i + 3*j)))
		}
	}
	set := rowsSet(t, rows, "a", "b", "c")
	parameter := func(name string) []float32 {
		values, err := net.Values(named(net, name))
		check(t, err)
		return values
	}
	params := net.Params() // the hidden layer first
	w, b, u, c := parameter(params[0].Name), parameter(params[1].Name), parameter("nmn.weight"), parameter("nmn.bias")
	config := loader.DefaultConfig()
	config.BatchSize = 4 // the last batch is smaller
	visited := 0
	bad, err := EachScore(t.Context(), nil, net, set, config, func(bag int, _, q01, q10 []float32) {
		if bag != visited {
			t.Errorf("bag %d, want %d", bag, visited)
		}
		visited++
		g := make([]float64, hiddenUnits)
		for h := range g {
			g[h] = float64(b[h])
			for j, x := range rows[bag] {
				g[h] += float64(w[h*input+j]) * float64(x)
			}
			g[h] = max(g[h], 0)
		}
		for class := range k {
			want01, want10 := softmaxed(func(observed, true int) float64 {
				at := (2*observed+true)*k + class
				o := float64(c[at])
				for h, v := range g {
					o += float64(u[at*hiddenUnits+h]) * v
				}
				return o
			})
			if math.Abs(float64(q01[class])-want01) > 1e-5 || math.Abs(float64(q10[class])-want10) > 1e-5 {
				t.Errorf("bag %d, class %d: %g and %g, want %g and %g", bag, class, q01[class], q10[class],
					want01, want10)
			}
		}
	})
	check(t, err)
	if visited != bags || len(bad) != 0 {
		t.Errorf("%d bags visited and %d bad, want all %d", visited, len(bad), bags)
	}
	if _, _, err := NoiseRates(net); !errors.Is(err, ErrNoNoiseModel) {
		t.Errorf("rates for all bags: %v", err)
	}
}
