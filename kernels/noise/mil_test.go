package noise

import (
	"errors"
	"math"
	"testing"

	"nmn/internal/rng"
	"nmn/kernels/tensor"
	"nmn/tools/optest"
)

func TestNoisyOR_AtLeastTheLargestInstanceAndAtMostTheirSum(t *testing.T) {
	in := drawStep(t, 2, 6, 9, blockClasses+3)
	p := optest.Floats(t, nil, 6, in.classes)
	if err := newTestCPU(t, 2).NoisyOR(p, in.logits, nil); err != nil {
		t.Fatal(err)
	}
	for bag := range in.bags {
		for class := range in.classes {
			o, _, _ := in.column(bag, class)
			largest, sum := 0.0, 0.0
			for _, v := range o {
				s := 1 / (1 + math.Exp(-v))
				largest, sum = max(largest, s), sum+s
			}
			if v := float64(p.Float32s()[bag*in.classes+class]); !(v >= largest*(1-1e-6) && v <= min(sum, 1)*(1+1e-6)) {
				t.Errorf("bag %d, class %d: %g is not in [%g, %g]", bag, class, v, largest, min(sum, 1))
			}
		}
	}
}

// One instance is not pooled, and the order of instances does not matter.
func TestNoisyOR_OneInstanceIsItself(t *testing.T) {
	o := []float32{-80, -17, -1, 0, 2, 30}
	p := optest.Floats(t, nil, 6, 1)
	if err := newTestCPU(t, 1).NoisyOR(p, optest.Floats(t, o, 6, 1, 1, 1), nil); err != nil {
		t.Fatal(err)
	}
	for i, v := range o {
		near(t, "probability", p.Float32s()[i], 1/(1+math.Exp(-float64(v))), 2e-7, 0)
	}
}

func TestNoisyORGrad_IsTheDerivative(t *testing.T) {
	in := drawStep(t, 4, 4, 5, 3)
	stream := rng.New(9)
	dp := optest.Normal(t, &stream, 1, 2, 3)
	offsets := optest.Ints(t, 0, 1, 4)
	do := optest.Floats(t, nil, in.logits.Shape()...)
	if err := newTestCPU(t, 2).NoisyORGrad(do, dp, in.logits, offsets); err != nil {
		t.Fatal(err)
	}
	for bag := range 2 {
		lo, hi := int(offsets.Int32s()[bag])*5, int(offsets.Int32s()[bag+1])*5
		for class := range 3 {
			o := make([]float64, hi-lo)
			for s := range o {
				o[s] = float64(in.logits.Float32s()[(lo+s)*3+class])
			}
			for s := range o {
				d := difference(&o[s], 1e-5, func() float64 {
					miss := 1.0
					for _, v := range o {
						miss /= 1 + math.Exp(v)
					}
					return 1 - miss
				})
				near(t, "gradient", do.Float32s()[(lo+s)*3+class], d*float64(dp.Float32s()[bag*3+class]), 1e-5, 1e-9)
			}
		}
	}
}

func TestNoisyOR_RefusesBagsThatDoNotFit(t *testing.T) {
	in := drawStep(t, 1, 4, 2, 3)
	c := newTestCPU(t, 1)
	cases := map[string]struct{ offsets []int32 }{
		"empty bag":         {[]int32{0, 2, 2, 4}},
		"descending":        {[]int32{0, 3, 1, 4}},
		"not from 0":        {[]int32{1, 2, 3, 4}},
		"short of the end":  {[]int32{0, 1, 2, 3}},
		"beyond the end":    {[]int32{0, 1, 2, 5}},
		"far beyond":        {[]int32{0, math.MaxInt32, 2, 4}},
		"negative":          {[]int32{0, -1, 2, 4}},
		"no bag":            {[]int32{0}},
		"no offset at all":  {[]int32{}},
		"wrong bag tensors": {[]int32{0, 4}},
	}
	for name, test := range cases {
		p, do := optest.Floats(t, nil, 3, 3), optest.Floats(t, nil, 4, 2, 1, 3)
		bags := optest.Ints(t, test.offsets...)
		for _, err := range []error{c.NoisyOR(p, in.logits, bags), c.NoisyORGrad(do, p, in.logits, bags),
			c.NoiseStep(StepOutput{Prob: p}, in.logits, nil, nil, bags, StepParams{MIL: true})} {
			if !errors.Is(err, tensor.ErrShape) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestNoisyOR_AllocatesNothing(t *testing.T) {
	in := drawStep(t, 8, 3, 4, 70)
	c, p, do, offsets := newTestCPU(t, 2), optest.Floats(t, nil, 2, 70), optest.Floats(t, nil, 3, 4, 1, 70),
		optest.Ints(t, 0, 1, 3)
	allocations := testing.AllocsPerRun(20, func() {
		if err := errors.Join(c.NoisyOR(p, in.logits, offsets), c.NoisyORGrad(do, p, in.logits, offsets)); err != nil {
			t.Fatal(err)
		}
	})
	if allocations != 0 {
		t.Errorf("%g allocations", allocations)
	}
}
