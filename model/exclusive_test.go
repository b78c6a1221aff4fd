package model

import (
	"math"
	"testing"

	"nmn/internal/expect"
	"nmn/tools/conform"
)

func TestExclusive_NeedsWhatItCanHave(t *testing.T) {
	good := Scenes(3, false)
	good.Exclusive = true
	expect.OK(t, good.Validate())
	for name, change := range map[string]func(*Config){
		"one class": func(c *Config) { c.Classes = 1 },
		"mil":       func(c *Config) { *c = Scenes(3, true); c.Exclusive = true },
		"fd":        func(c *Config) { c.Noise = FeatureDependent },
	} {
		c := good
		if change(&c); c.Validate() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// The matrix that a net starts with is the one that it holds, with rows that sum to one and no zeros.
func TestExclusive_HoldsItsTransition(t *testing.T) {
	config := MLP(4, 3, nil)
	config.Exclusive, config.Noise = true, FeatureIndependent
	net := newNet(t, conform.OpenCPU(t, 1), config)
	init := PaperInit(1)
	for _, test := range []struct {
		from, want []float32
		bad        bool
	}{
		{want: []float32{1, 0, 0, 0, 1, 0, 0, 0, 1}},
		{from: []float32{.6, .4, 0, 0, .5, .5, 1, 0, 0}, want: []float32{.6, .4, 0, 0, .5, .5, 1, 0, 0}},
		{from: []float32{1, 0, 0, 1}, bad: true},
		{from: []float32{.6, .4, 0, 0, -.5, .5, 1, 0, 0}, bad: true},
	} {
		init.Transition = test.from
		if err := net.Init(init); (err != nil) != test.bad {
			t.Fatalf("%v: %v", test.from, err)
		}
		if test.bad {
			continue
		}
		got, err := net.Transition()
		expect.OK(t, err)
		for i, q := range got {
			if q <= 0 || math.Abs(float64(q-test.want[i])) > 1e-5 {
				t.Errorf("T is %v, want %v", got, test.want)
				break
			}
		}
	}
}
