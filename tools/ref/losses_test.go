package ref

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"
)

// The loss as Ridnik et al. print it, on the probability itself.
func printedAsymmetric(o []float64, z, positive, negative, margin float64, mil bool) float64 {
	_, p, _, _ := printed(o, nil, 1, mil)
	m := math.Max(p-margin, 0)
	return -z*math.Pow(1-p, positive)*math.Log(p) - (1-z)*math.Pow(m, negative)*math.Log(1-m)
}

func TestAsymmetric_IsThePrintedLossAndItsDerivative(t *testing.T) {
	for _, mil := range []bool{false, true} {
		for _, z := range []float64{0, 1, .3} {
			for _, f := range [][3]float64{{0, 4, .05}, {0, 0, 0}, {1, 2, 0}, {.5, 0, .2}, {2, 1, .6}, {0, 3, .99}} {
				for _, o := range [][]float64{{-1.2, .4, -3, 1.1}, {-4, -5}, {2.5}} {
					loss := func() float64 { return printedAsymmetric(o, z, f[0], f[1], f[2], mil) }
					got := Asymmetric(o, z, f[0], f[1], f[2], mil)
					near(t, "loss", got.Loss, loss(), 1e-12)
					for s := range o {
						near(t, "dL/do", got.DLogits[s], Central(loss, o, s, 1e-4), 1e-7)
					}
				}
			}
		}
	}
}

func TestAsymmetric_WithoutFocusIsTheCrossEntropyUpToExtremes(t *testing.T) {
	for _, o := range [][]float64{{-1e4}, {-700, -30}, {-30, 1}, {3, -1e3}, {1e4, 30}} {
		for _, z := range []float64{-1, 0, .25, 1} {
			for _, mil := range []bool{false, true} {
				got, want := Asymmetric(o, z, 0, 0, 0, mil), NoiseStep(o, nil, z, mil)
				near(t, "loss", got.Loss, want.Loss, 1e-12)
				for s := range o {
					near(t, "dL/do", got.DLogits[s], want.DLogits[s], 1e-12)
				}
			}
		}
	}
}

func TestLargeLosses_KnownAnswers(t *testing.T) {
	nan := math.NaN()
	o := []float64{3, 1, 2, 2, nan, 2, -1, 9}
	z := []float64{1, 0, 0, 0, 0, 0, 0, -1}
	for _, c := range []struct {
		count int
		want  []float64
	}{
		{0, z}, {-3, z},
		{1, []float64{1, 0, 7, 0, 0, 0, 0, -1}}, // the first of three equal ones
		{2, []float64{1, 0, 7, 7, 0, 0, 0, -1}},
		{4, []float64{1, 7, 7, 7, 0, 7, 0, -1}},
		{9, []float64{1, 7, 7, 7, 0, 7, 7, -1}}, // all that have a loss
	} {
		if got := LargeLosses(o, z, c.count, 7); !slices.Equal(got, c.want) {
			t.Errorf("%d of %v with labels %v: %v, want %v", c.count, o, z, got, c.want)
		}
	}
}

// The loss by evidence as it is printed, on the probability itself.
func printedEvidence(o []float64, e float64, mil bool) float64 {
	_, p, _, _ := printed(o, nil, 1, mil)
	return -math.Log((p*math.Exp(e) + 1 - p) / math.Max(1, math.Exp(e)))
}

func TestEvidence_IsThePrintedLossAndItsDerivative(t *testing.T) {
	for _, mil := range []bool{false, true} {
		for _, e := range []float64{-20, -3, -.5, -1e-3, 0, 1e-3, .7, 4, 30} {
			for _, o := range [][]float64{{-1.2, .4, -3, 1.1}, {-4, -5}, {2.5}} {
				loss := func() float64 { return printedEvidence(o, e, mil) }
				got := Evidence(o, e, mil)
				near(t, "loss", got.Loss, loss(), 1e-12)
				for s := range o {
					near(t, "dL/do", got.DLogits[s], Central(loss, o, s, 1e-4), 1e-7)
				}
			}
		}
	}
}

// Evidence from the likelihood ratio of a label equals the noise model of one class with that label.
func TestEvidence_OfALabelIsTheNoiseModelOfIt(t *testing.T) {
	confidence := &[2][2]float64{{1.2, -.3}, {-.8, .9}} // O_ij
	for _, z := range []int{0, 1} {
		e := -Softplus(confidence[1-z][1]-confidence[z][1]) + Softplus(confidence[1-z][0]-confidence[z][0])
		for _, mil := range []bool{false, true} {
			o := []float64{-1.2, .4, -3}
			got, want := Evidence(o, e, mil), NoiseStep(o, confidence, float64(z), mil)
			near(t, "rho", got.Posterior, want.Posterior, 1e-14)
			for s := range o {
				near(t, "dL/do", got.DLogits[s], want.DLogits[s], 1e-14)
			}
		}
	}
}

// The numbers of testdata/evidence.py, which computes in decimal arithmetic of 60 digits.
func TestEvidence_IsThatOfDecimalArithmetic(t *testing.T) {
	text, err := os.ReadFile("testdata/evidence.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		O         []float64 `json:"o"`
		Evidence  float64   `json:"evidence"`
		MIL       bool      `json:"mil"`
		Loss      float64   `json:"loss"`
		Posterior float64   `json:"posterior"`
		DO        []float64 `json:"d_o"`
	}
	if err := json.Unmarshal(text, &rows); err != nil || len(rows) < 100 {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	relative := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-12*math.Abs(want)+1e-300) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	for _, r := range rows {
		got := Evidence(r.O, r.Evidence, r.MIL)
		near(t, "loss", got.Loss, r.Loss, 1e-13)
		relative("rho", got.Posterior, r.Posterior)
		for s, want := range r.DO {
			relative("dL/do", got.DLogits[s], want)
		}
	}
}
