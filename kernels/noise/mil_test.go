package noise

import (
	"errors"
	"math"
	"testing"

	"nmn/kernels/tensor"
	"nmn/tools/optest"
)

// noisyOR computes the probabilities of bags.
func noisyOR(c *CPU, p, o, bags *tensor.Tensor) error {
	return c.NoiseStep(StepOutput{Prob: p}, o, nil, nil, bags, StepParams{MIL: true})
}

func TestNoisyOR_AtLeastTheLargestInstanceAndAtMostTheirSum(t *testing.T) {
	in := drawStep(t, 2, 6, 9, blockClasses+3)
	p := optest.Floats(t, nil, 6, in.classes)
	optest.Must(t, noisyOR(newTestCPU(t, 2), p, in.logits, nil))
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
	optest.Must(t, noisyOR(newTestCPU(t, 1), p, optest.Floats(t, o, 6, 1, 1, 1), nil))
	for i, v := range o {
		near(t, "probability", p.Float32s()[i], 1/(1+math.Exp(-float64(v))), 2e-7, 0)
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
		p := optest.Floats(t, nil, 3, 3)
		if err := noisyOR(c, p, in.logits, optest.Ints(t, test.offsets...)); !errors.Is(err, tensor.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
