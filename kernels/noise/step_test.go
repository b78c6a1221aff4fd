package noise

import (
	"fmt"
	"math"
	"testing"

	"nmn/kernels/tensor"
	"nmn/tools/optest"
)

// printedLoss is the loss of one bag and class by the paper's formula, in float64. It uses none of the
// product's forms. confidence is O as [i][j], nil for no noise model.
func printedLoss(o []float64, confidence *[2][2]float64, z float64, mil bool) float64 {
	miss, mean := 1.0, 0.0 // miss = 1 - p, kept apart for its digits
	for _, v := range o {
		miss *= 1 / (1 + math.Exp(v))
		mean += v / float64(len(o))
	}
	if !mil {
		miss = 1 / (1 + math.Exp(mean))
	}
	p := 1 - miss
	if confidence == nil {
		return -z*math.Log(p) - (1-z)*math.Log(miss)
	}
	i := int(z)
	var q [2]float64 // q_zj
	for j := range 2 {
		q[j] = math.Exp(confidence[i][j]) / (math.Exp(confidence[0][j]) + math.Exp(confidence[1][j]))
	}
	return -math.Log(q[0]*miss + q[1]*p)
}

// column reads one class of one bag from a batch.
func (in stepInput) column(bag, class int) (o []float64, confidence [2][2]float64, z float64) {
	for s := range in.cells {
		o = append(o, float64(in.logits.Float32s()[(bag*in.cells+s)*in.classes+class]))
	}
	for entry := range 4 {
		confidence[entry/2][entry%2] = float64(in.confidence.Float32s()[(bag*4+entry)*in.classes+class])
	}
	return o, confidence, float64(in.labels.Float32s()[bag*in.classes+class])
}

func near(t *testing.T, what string, got float32, want, relative, absolute float64) {
	t.Helper()
	if !(math.Abs(float64(got)-want) <= absolute+relative*math.Abs(want)) {
		t.Errorf("%s = %g, want %g", what, got, want)
	}
}

// difference is the central difference of f with respect to x.
func difference(x *float64, h float64, f func() float64) float64 {
	keep := *x
	*x = keep + h
	up := f()
	*x = keep - h
	down := f()
	*x = keep
	return (up - down) / (2 * h)
}

// A transition with equal columns has no information: the label does not move the classifier.
func TestNoiseStep_UselessLabelsTeachNothing(t *testing.T) {
	in := drawStep(t, 5, 2, 4, 6)
	for bag := range in.bags {
		for i := range 2 {
			row := in.confidence.Float32s()[(bag*4+2*i)*in.classes:]
			copy(row[in.classes:2*in.classes], row[:in.classes]) // O_i1 = O_i0
		}
	}
	out := in.newOutput(t)
	if err := newTestCPU(t, 1).NoiseStep(out, in.logits, in.confidence, in.labels, nil,
		StepParams{MIL: true, Scale: 1}); err != nil {
		t.Fatal(err)
	}
	for i, d := range out.DLogits.Float32s() {
		if d != 0 {
			t.Errorf("gradient of logit %d is %g, want 0", i, d)
		}
	}
	for i, rho := range out.Posterior.Float32s() {
		near(t, "posterior", rho, float64(out.Prob.Float32s()[i]), 1e-6, 0)
	}
}

// Columns of q sum to one, so the gradients of a column of O sum to zero. Probabilities lie in their range.
func TestNoiseStep_ColumnsAndRanges(t *testing.T) {
	in := drawStep(t, 11, 5, 3, 70)
	out := in.newOutput(t)
	if err := newTestCPU(t, 2).NoiseStep(out, in.logits, in.confidence, in.labels, nil,
		StepParams{MIL: true, Scale: 3}); err != nil {
		t.Fatal(err)
	}
	k := in.classes
	for bag := range in.bags {
		for class := range k {
			d := out.DO.Float32s()[bag*4*k+class:]
			if d[0] != -d[2*k] || d[k] != -d[3*k] {
				t.Errorf("bag %d, class %d: gradients of the columns sum to %g and %g", bag, class, d[0]+d[2*k], d[k]+d[3*k])
			}
			for name, x := range map[string]*tensor.Tensor{"prob": out.Prob, "observed": out.Observed,
				"posterior": out.Posterior} {
				if v := x.Float32s()[bag*k+class]; !(v >= 0 && v <= 1) {
					t.Errorf("%s of bag %d, class %d is %g", name, bag, class, v)
				}
			}
		}
	}
}

// equal demands equal bits in all tensors of two outputs.
func equal(t *testing.T, a, b StepOutput) {
	t.Helper()
	pairs := [][2]*tensor.Tensor{{a.Loss, b.Loss}, {a.DLogits, b.DLogits}, {a.DO, b.DO}, {a.Prob, b.Prob},
		{a.Observed, b.Observed}, {a.Posterior, b.Posterior}, {a.BagLogit, b.BagLogit}}
	for n, pair := range pairs {
		if pair[0] == nil || pair[1] == nil {
			continue
		}
		for i, v := range pair[0].Float32s() {
			if w := pair[1].Float32s()[i]; math.Float32bits(v) != math.Float32bits(w) {
				t.Errorf("tensor %d, element %d: %g and %g", n, i, v, w)
			}
		}
	}
}

// A bag of one cell and a bag of many, cut into parts, give the printed loss and its derivatives, and equal
// bits for any number of threads.
func TestNoiseStep_PartsOfBagsAreJoined(t *testing.T) {
	const cells, classes = 20001, 2
	if parts := (geometry{N: 2, T: cells, H: 1, W: 1, K: classes}).cutParts(); parts < 2 {
		t.Fatalf("cut into %d parts", parts)
	}
	in := drawStep(t, 41, cells, 1, classes)
	for i := range in.logits.Float32s() {
		in.logits.Float32s()[i] -= 11
	}
	confidence, _ := in.confidence.Rows(0, 2)
	labels, _ := in.labels.Rows(0, 2)
	offsets := optest.Ints(t, 0, 1, cells)
	for _, mil := range []bool{true, false} {
		var first StepOutput
		for _, threads := range []int{1, 2, 5} {
			out := StepOutput{Loss: optest.Floats(t, nil, 2), DLogits: optest.Floats(t, nil, cells, 1, 1, classes),
				DO: optest.Floats(t, nil, 2, 2, 2, classes)}
			optest.Must(t, newTestCPU(t, threads).NoiseStep(out, in.logits, confidence, labels, offsets,
				StepParams{MIL: mil, Scale: 1}))
			if threads == 1 {
				first = out
			}
			equal(t, first, out)
		}
		for bag, frames := range [][2]int{{0, 1}, {1, cells}} {
			total := 0.0
			for class := range classes {
				o := make([]float64, 0, cells)
				for frame := frames[0]; frame < frames[1]; frame++ {
					o = append(o, float64(in.logits.Float32s()[frame*classes+class]))
				}
				_, matrix, z := in.column(bag, class)
				total += printedLoss(o, &matrix, z, mil)
				for i := 0; i < len(o); i += 4999 {
					d := difference(&o[i], 1e-3, func() float64 { return printedLoss(o, &matrix, z, mil) })
					near(t, "dLogits", first.DLogits.Float32s()[(frames[0]+i)*classes+class], d, 1e-4, 1e-9)
				}
			}
			near(t, "loss", first.Loss.Float32s()[bag], total, 1e-6, 0)
		}
	}
}

// Each destination alone gets the result that it gets together with the others.
func TestNoiseStep_DestinationsMayBeLeftOut(t *testing.T) {
	in := drawStep(t, 19, 2, 3, 4)
	for _, mil := range []bool{true, false} {
		c, p := newTestCPU(t, 1), StepParams{MIL: mil, Scale: 1}
		all := in.newOutput(t)
		if err := c.NoiseStep(all, in.logits, in.confidence, in.labels, nil, p); err != nil {
			t.Fatal(err)
		}
		for n := range 7 {
			one, labels := StepOutput{}, in.labels
			fresh := in.newOutput(t)
			switch n {
			case 0:
				one.Loss = fresh.Loss
			case 1:
				one.DLogits = fresh.DLogits
			case 2:
				one.DO = fresh.DO
			case 3:
				one.Prob, labels = fresh.Prob, nil
			case 4:
				one.Observed, labels = fresh.Observed, nil
			case 5:
				one.Posterior = fresh.Posterior
			case 6:
				one.BagLogit, labels = fresh.BagLogit, nil
			}
			if err := c.NoiseStep(one, in.logits, in.confidence, labels, nil, p); err != nil {
				t.Fatal(err)
			}
			equal(t, all, one)
		}
	}
}

// A bag of many cells crosses the point at which the running product may be folded, and the point at which
// the cells are cut into parts. p is far from, near and far beyond float32's range.
func TestNoiseStep_ManyCells(t *testing.T) {
	for _, cells := range []int{foldAfter - 1, foldAfter, foldAfter + 1, 3744, 20000} {
		for _, o := range []float64{-1e4, -1000, -200, -90, -40, -30, -16, 0, 3, 1e4} {
			data := make([]float32, cells)
			for i := range data {
				data[i] = float32(o)
			}
			out := StepOutput{Loss: optest.Floats(t, nil, 1), DLogits: optest.Floats(t, nil, 1, cells, 1, 1),
				BagLogit: optest.Floats(t, nil, 1, 1)}
			err := newTestCPU(t, 1).NoiseStep(out, optest.Floats(t, data, 1, cells, 1, 1), nil, optest.Floats(t, []float32{1},
				1, 1), nil,
				StepParams{MIL: true, Scale: 1})
			if err != nil {
				t.Fatal(err)
			}
			// Equal instances: Lb = S·softplus(o), log(expm1(Lb)) the bag's logit.
			sum := float64(cells) * softplus(o)
			logit := sum + math.Log(-math.Expm1(-sum))
			share := -1 / float64(cells) // p -> 0: -softmax
			if o < -50 {
				logit = o + math.Log(float64(cells))
			} else {
				share = -math.Exp(-sum) / -math.Expm1(-sum) / (1 + math.Exp(-o))
			}
			near(t, fmt.Sprintf("bag logit of %d cells at %g", cells, o), out.BagLogit.Float32s()[0], logit, 1e-6, 0)
			near(t, fmt.Sprintf("loss of %d cells at %g", cells, o), out.Loss.Float32s()[0], softplus(-logit), 1e-6, 1e-30)
			near(t, fmt.Sprintf("gradient of %d cells at %g", cells, o), out.DLogits.Float32s()[cells/2], share, 2e-5, 1e-35)
		}
	}
}

func TestNoiseStep_NaNLogitSurfaces(t *testing.T) {
	for _, mil := range []bool{true, false} {
		in := drawStep(t, 31, 1, 3, 2)
		in.logits.Float32s()[2] = float32(math.NaN()) // cell 1, class 0
		out := in.newOutput(t)
		if err := newTestCPU(t, 1).NoiseStep(out, in.logits, in.confidence, in.labels, nil,
			StepParams{MIL: mil, Scale: 1}); err != nil {
			t.Fatal(err)
		}
		if !math.IsNaN(float64(out.Loss.Float32s()[0])) || !math.IsNaN(float64(out.Prob.Float32s()[0])) ||
			!math.IsNaN(float64(out.DLogits.Float32s()[0])) {
			t.Errorf("mil %t: NaN in a logit gave loss %g, probability %g, gradient %g", mil,
				out.Loss.Float32s()[0], out.Prob.Float32s()[0], out.DLogits.Float32s()[0])
		}
		if v := out.Prob.Float32s()[1]; math.IsNaN(float64(v)) {
			t.Error("the NaN has spread to another class")
		}
	}
}

func TestNoiseStep_NaNConfidenceSurfaces(t *testing.T) {
	for entry := range 4 {
		in := drawStep(t, 37, 1, 2, 3)
		in.confidence.Float32s()[entry*3+1] = float32(math.NaN())
		out := in.newOutput(t)
		if err := newTestCPU(t, 1).NoiseStep(out, in.logits, in.confidence, in.labels, nil,
			StepParams{MIL: true, Scale: 1}); err != nil {
			t.Fatal(err)
		}
		if !math.IsNaN(float64(out.Loss.Float32s()[0])) {
			t.Errorf("NaN in confidence %d gave loss %g", entry, out.Loss.Float32s()[0])
		}
		if v := out.Observed.Float32s(); math.IsNaN(float64(v[0])) || math.IsNaN(float64(v[2])) {
			t.Error("the NaN has spread to another class")
		}
	}
}
