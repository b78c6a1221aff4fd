package audit

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"nmn/eval"
	"nmn/format/table"
	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/labels/rates"
)

// confused draws labels, 3 % missing and .2 % incorrect. The net takes each bag of the second class for one of
// the first, too, and is surer of these.
func confused(seed uint64, bags, classes int) Input {
	s := rng.New(seed)
	in := Input{Bags: bags, Classes: classes}
	for range bags {
		first, second := s.Float64() < .2, s.Float64() < .05
		for c := range classes {
			y := s.Float64() < .15
			o := s.Normal(-2, .8)
			switch {
			case c == 0:
				if y = first && !second; y {
					o = s.Normal(.5, .7)
				}
				if second {
					o = s.Normal(1.5, .4)
				}
			case c == 1:
				y = second
				fallthrough
			default:
				if y {
					o = s.Normal(2, .8)
				}
			}
			z, truth := uint8(0), uint8(0)
			if y {
				truth = 1
			}
			if wrong := s.Float64(); y && wrong >= .03 || !y && wrong < .002 {
				z = 1
			}
			in.Logits, in.Labels, in.Truth = append(in.Logits, float32(o)), append(in.Labels, z), append(in.Truth, truth)
		}
	}
	return in
}

// first40 returns the expected and the true number of wrong labels among the first 40 suspects.
func first40(in *Input, suspects []Suspect) (said, wrong float64) {
	for _, s := range suspects[:40] {
		said += s.Error() / 40
		if in.wrong(int(s.Bag)*in.Classes + int(s.Class)) {
			wrong += 1. / 40
		}
	}
	return said, wrong
}

func TestScores_ErrorsOfTheNetAreNotNoise(t *testing.T) {
	for seed := range uint64(3) {
		in := confused(seed+1, 600, 5)
		alone := in
		audited(t, &alone, rates.Input{Bags: in.Bags, Classes: in.Classes, Scores: in.Logits, Labels: in.Labels})
		r := expect.Value(Run(alone, .01))(t)
		said, wrong := first40(&in, r.Suspects)
		if said-wrong < .2 {
			t.Errorf("each score alone: %.2f are said to be wrong, %.2f are: the test tests nothing", said, wrong)
		}
		report, err := Scores(t.Context(), &eval.Input{Bags: in.Bags, Classes: in.Classes, Scores: in.Logits,
			Labels: in.Labels,
			Truth:  in.Truth}, Options{Estimation: rates.DefaultOptions(), MinError: .01})
		expect.OK(t, err)
		if said, wrong = first40(&in, report.Suspects); math.Abs(said-wrong) > .15 {
			t.Errorf("%.2f are said to be wrong, %.2f are", said, wrong)
		}
	}
}

// Weights fitted to the labels that they score would separate random ones.
func TestCombine_HoldsLabelsOut(t *testing.T) {
	s := rng.New(5)
	in := Input{Bags: 60, Classes: 40}
	for range in.Bags * in.Classes {
		z := uint8(0)
		if s.Float64() < .4 {
			z = 1
		}
		in.Logits, in.Labels = append(in.Logits, float32(s.Normal(0, 1))), append(in.Labels, z)
	}
	var sum, n [2]float64
	for i, o := range combine(&in) {
		z := in.Labels[i]
		sum[z], n[z] = sum[z]+float64(o), n[z]+1
	}
	if apart := sum[1]/n[1] - sum[0]/n[0]; apart > .15 {
		t.Errorf("scores of random labels are %.2f apart", apart)
	}
}

func TestCombine_UnknownLabelsAreScored(t *testing.T) {
	in := confused(1, 300, 4)
	for i := 0; i < len(in.Labels); i += 7 {
		in.Labels[i] = table.Unknown
	}
	for bag := range in.Bags {
		in.Labels[bag*in.Classes+3] = 0
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := combine(&in)
	runtime.GOMAXPROCS(3)
	if !slices.Equal(one, combine(&in)) {
		t.Error("scores depend on the number of threads")
	}
	for i, o := range one {
		if c := i % in.Classes; math.IsNaN(float64(o)) || (o == in.Logits[i]) != (c == 3) {
			t.Fatalf("class %d: %v was %v", c, o, in.Logits[i])
		}
	}
}

func TestCombine_LeavesOutWhatItCannotDo(t *testing.T) {
	nan := float32(math.NaN())
	for _, in := range []Input{
		{Bags: 2, Classes: 1, Logits: []float32{1, 2}, Labels: []uint8{0, 1}},
		{Bags: 1, Classes: 2, Logits: []float32{1, nan}, Labels: []uint8{0, 1}},
		{Bags: 1, Classes: 2, Logits: []float32{1, 2}, Labels: []uint8{0, 7}},
		{Bags: 1, Classes: 2, Logits: []float32{1}, Labels: []uint8{0, 1}},
		{Bags: 1e6, Classes: 100},
	} {
		if got := combine(&in); got != nil {
			t.Errorf("%d bags, %d classes: %v", in.Bags, in.Classes, got)
		}
	}
	equal := Input{Bags: 4, Classes: 2, Logits: make([]float32, 8), Labels: []uint8{0, 1, 1, 0, 1, 1, 0, 0}}
	for _, o := range combine(&equal) {
		if f := float64(o); math.IsNaN(f) || math.IsInf(f, 0) {
			t.Errorf("equal scores become %v", o)
		}
	}
}
