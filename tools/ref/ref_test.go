package ref

import (
	"math"
	"testing"
)

func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Max(1, math.Abs(want))) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// wave gives numbers of both signs without a pattern that sums away.
func wave(n int, phase float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 2 * math.Sin(1.7*float64(i)*float64(i)+phase)
	}
	return x
}

// The known answers that the authors of Philox publish with their library.
func TestPhilox_KnownAnswers(t *testing.T) {
	const ones = math.MaxUint32
	for _, c := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{[4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{ones, ones, ones, ones}, [2]uint32{ones, ones}, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		if got := Philox(c.counter, c.key); got != c.want {
			t.Errorf("Philox(%x, %x) = %x, want %x", c.counter, c.key, got, c.want)
		}
	}
}

func TestConv_GradientsAreThoseOfForward(t *testing.T) {
	for _, g := range []Conv{
		{2, 4, 3, 2, 3, 3, 3, 1, 1}, {1, 5, 4, 1, 2, 3, 2, 0, 0}, {2, 1, 1, 3, 2, 1, 1, 0, 1}, {1, 3, 3, 1, 1, 5, 5, 2, 1},
		{1, 6, 5, 2, 2, 3, 3, 1, 2}, {1, 5, 4, 2, 1, 1, 1, 0, 2}, {1, 7, 8, 1, 2, 2, 3, 0, 3},
	} {
		x, w, b := wave(g.N*g.H*g.W*g.C, 0), wave(g.K*g.R*g.S*g.C, 1), wave(g.K, 2)
		dy := wave(g.N*g.P()*g.Q()*g.K, 3)
		loss := func() float64 { return Dot(dy, g.Forward(x, w, b)) }
		for what, c := range map[string]struct{ at, got []float64 }{
			"dx": {x, g.GradData(dy, w)}, "dw": {w, g.GradFilter(x, dy)}, "db": {b, g.GradBias(dy)},
		} {
			for i := range c.got {
				near(t, what, c.got[i], Central(loss, c.at, i, 1e-3), 1e-9)
			}
		}
	}
}

// The equations of the paper, section 3, as printed: without logarithms, with products and quotients.
func printed(o []float64, confidence *[2][2]float64, z float64, mil bool) (loss, p1, observed, rho1 float64) {
	if mil {
		product := 1.0
		for _, v := range o {
			product *= 1 - 1/(1+math.Exp(-v))
		}
		p1 = 1 - product
	} else {
		mean := 0.0
		for _, v := range o {
			mean += v
		}
		p1 = 1 / (1 + math.Exp(-mean/float64(len(o))))
	}
	if confidence == nil {
		return -z*math.Log(p1) - (1-z)*math.Log(1-p1), p1, p1, z
	}
	q := func(i, j int) float64 {
		return math.Exp(confidence[i][j]) / (math.Exp(confidence[0][j]) + math.Exp(confidence[1][j]))
	}
	observed = q(1, 0)*(1-p1) + q(1, 1)*p1
	pz := z*observed + (1-z)*(1-observed)
	return -math.Log(pz), p1, observed, q(int(z), 1) * p1 / pz
}

func TestNoiseStep_IsThePrintedEquationAndItsDerivative(t *testing.T) {
	for _, mil := range []bool{false, true} {
		for _, z := range []float64{0, 1, 0.3} {
			for _, confidence := range []*[2][2]float64{nil, {{1.5, -0.5}, {-1, 2}}, {{-1, 2}, {0.5, -3}}, {{2, 2}, {2, 2}}} {
				if confidence != nil && z != 0 && z != 1 {
					continue
				}
				o := []float64{-1.2, 0.4, -3, 1.1}
				got := NoiseStep(o, confidence, z, mil)
				loss, p1, observed, rho1 := printed(o, confidence, z, mil)
				near(t, "loss", got.Loss, loss, 1e-12)
				near(t, "p1", got.Prob, p1, 1e-12)
				near(t, "observed", got.Observed, observed, 1e-12)
				near(t, "rho1", got.Posterior, rho1, 1e-12)
				near(t, "bag logit", got.BagLogit, math.Log(p1/(1-p1)), 1e-12)
				f := func() float64 { loss, _, _, _ := printed(o, confidence, z, mil); return loss }
				for s := range o {
					near(t, "dL/do", got.DLogits[s], Central(f, o, s, 1e-4), 1e-7)
				}
				if confidence == nil {
					continue
				}
				for i := range 2 {
					for j := range 2 {
						near(t, "dL/dO", got.DO[i][j], Central(f, confidence[i][:], j, 1e-4), 1e-7)
					}
				}
			}
		}
	}
}

func TestNoiseStep_ExtremesStayFinite(t *testing.T) {
	values := []float64{-1e4, -1e3, -30, 0, 30, 1e3, 1e4}
	for _, a := range values {
		for _, b := range values {
			for _, c := range []float64{-1e3, 0, 1e3} {
				for _, z := range []float64{0, 1} {
					for _, mil := range []bool{false, true} {
						s := NoiseStep([]float64{a, b}, &[2][2]float64{{c, -c}, {-c, 500}}, z, mil)
						for _, v := range append(s.DLogits, s.Loss, s.Prob, s.Observed, s.Posterior, s.BagLogit, s.DO[0][0], s.DO[0][1],
							s.DO[1][0], s.DO[1][1]) {
							if math.IsNaN(v) || math.IsInf(v, 0) {
								t.Fatalf("o %v %v, O %v, z %v, mil %v: %+v", a, b, c, z, mil, s)
							}
						}
					}
				}
			}
		}
	}
}

func TestMaxPool_FirstOfEqualElementsTakesAll(t *testing.T) {
	m := Map{1, 3, 3, 1}
	x := []float64{1, 1, -0, 1, 1, 0, 2, 5, 5}
	want := []float64{10, 0, 20, 0, 0, 0, 0, 30, 40}
	for i, d := range MaxPoolGrad(m, []float64{10, 20, 30, 40}, x, false) {
		if d != want[i] {
			t.Errorf("element %d: %v, want %v", i, d, want[i])
		}
	}
	if d := MaxPoolGrad(m, []float64{10, 20, 30, 40}, x, true); d[2] != 0 || d[0] != 10 {
		t.Errorf("after a ReLU: %v", d)
	}
}

func TestPooling_GradientsAreThoseOfForward(t *testing.T) {
	m, bags := Map{5, 3, 5, 2}, []int{0, 1, 4, 5}
	x := wave(m.Len(), 0.2)
	check := func(what string, forward func() []float64, grad func(dy []float64) []float64) {
		t.Helper()
		dy := wave(len(forward()), 5)
		for i, d := range grad(dy) {
			near(t, what, d, Central(func() float64 { return Dot(dy, forward()) }, x, i, 1e-6), 1e-7)
		}
	}
	check("max", func() []float64 {
		return MaxPool(m, x)
	}, func(dy []float64) []float64 { return MaxPoolGrad(m, dy, x, false) })
	check("bag mean", func() []float64 {
		return BagMean(m, x, bags)
	}, func(dy []float64) []float64 { return BagMeanGrad(m, dy, bags) })
	check("bag max", func() []float64 {
		return BagMax(m, x, bags)
	}, func(dy []float64) []float64 { return BagMaxGrad(m, dy, x, bags) })
}

func TestUpdate_FollowsHandWorkedSteps(t *testing.T) {
	w, m := []float64{2}, []float64{0.5}
	SGD(w, []float64{3}, m, 0.1, 0.01, 0.9)
	near(t, "momentum", m[0], 0.45+3.02, 1e-15)
	near(t, "weight", w[0], 2-0.347, 1e-15)
	SGD(w, []float64{3}, m, 0, 0.01, 0.9)
	near(t, "frozen", w[0], 2-0.347, 1e-15)
	// In its first step Adam moves by lr, whatever the gradient's size is.
	w, m = []float64{2}, []float64{0}
	Adam(w, []float64{1e-3}, m, []float64{0}, 0.1, 0, 0.9, 0.999, 0, 1)
	near(t, "Adam's first step", w[0], 1.9, 1e-12)
	near(t, "norm", Norm([]float64{3}, []float64{0, 4}), 5, 1e-15)
	near(t, "clip", Clip([]float64{3}, 5, 2.5)[0], 1.5, 1e-15)
	near(t, "no clip", Clip([]float64{3}, 5, 6)[0], 3, 1e-15)
}

func TestDropoutMask_DependsOnKeyNotOnRow(t *testing.T) {
	a, b := DropoutMask([]int32{7, -3}, 10, 0.5, 9), DropoutMask([]int32{-3, 7}, 10, 0.5, 9)
	kept := 0.0
	for i := range 10 {
		if a[i] != b[10+i] || a[10+i] != b[i] {
			t.Fatalf("masks %v and %v", a, b)
		}
	}
	for _, v := range DropoutMask(make([]int32, 1), 100_000, 0.3, 1) {
		kept += v
	}
	near(t, "share kept", kept/100_000, 0.7, 0.006)
}

func TestNormalize_MirrorsTheValidPartOnly(t *testing.T) {
	pixels := []uint8{1, 2, 3, 4, 5, 6, 9, 9, 9} // one row of three pixels, two of them valid
	got := Normalize(Map{1, 1, 3, 4}, pixels, [][2]int{{1, 2}}, []uint8{1}, [3]float64{1, 1, 1}, [3]float64{1, 2, 3})
	for i, want := range []float64{3, 8, 15, 0, 0, 2, 6, 0, 0, 0, 0, 0} {
		near(t, "x", got[i], want, 0)
	}
}
