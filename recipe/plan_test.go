package recipe

import (
	"math"
	"strings"
	"testing"

	dense "gorgonia.org/tensor"

	"nmn/eval"
	"nmn/internal/expect"
	"nmn/labels/audit/multiclass"
	"nmn/labels/rates"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/text"
)

func TestJudge_RanksLabelsByTheirPosterior(t *testing.T) {
	v, err := text.NewVocabulary([]text.Word{{Text: "a"}, {Text: "b"}})
	expect.OK(t, err)
	set := &loader.Set{Vocabulary: v, IDs: []string{"0", "1", "2"},
		Labels: dense.New(dense.WithShape(3, 2), dense.WithBacking([]uint8{1, 0, 0, 1, 1, 0})),
		Truth:  dense.New(dense.WithShape(3, 2), dense.WithBacking([]uint8{0, 0, 0, 1, 1, 1}))}
	var s labelScores
	z := set.Labels.Uint8s()
	q01, q10 := []float32{.3, .4}, []float32{.1, .05}
	s.add(0, z[:2], []float32{-1, 1}, q01, q10)
	s.add(2, z[4:], []float32{2, 3}, nil, nil) // bag 1 could not be read
	want := []float64{1 - math.Log(.7/.1), 1 + math.Log(.4/.95), -2, 3}
	for i, w := range want {
		if math.Abs(float64(s.Doubts[i])-w) > 1e-6 {
			t.Errorf("doubt %d is %v, want %v", i, s.Doubts[i], w)
		}
	}
	// By doubt: bag 2 b (missing: wrong), bag 0 b (right), bag 0 a (incorrect: wrong), bag 2 a (right).
	a, err := s.audit(set, false, "here")
	if err != nil || a.From != "here" || math.Abs(float64(a.AP)-(1+2./3)/2) > 1e-9 || a.MissingAP != 1 ||
		a.IncorrectAP != 1 || a.At1000.Defined() {
		t.Errorf("audit %+v, %v", a, err)
	}
	// With exclusive classes, only present labels count, which have one average precision.
	a, err = s.audit(set, true, "here")
	if err != nil || a.AP != 1 || a.IncorrectAP.Defined() || a.MissingAP.Defined() {
		t.Errorf("audit of exclusive classes %+v, %v", a, err)
	}
	if a := auditOfClasses(&multiclass.Judgement{Posterior: multiclass.Ranking{AP: .5}}); a.AP != .5 ||
		a.IncorrectAP.Defined() || a.MissingAP.Defined() {
		t.Errorf("audit of classes %+v", a)
	}
}

func TestRecipe_BeliefsAreThePosteriorOfKnownNoise(t *testing.T) {
	r := &Recipe{
		Options: Options{Data: &dataset.Splits{Train: &loader.Set{Labels: dense.New(dense.WithShape(2, 2),
			dense.WithBacking([]uint8{1, 1, 0, 0}))}}},
		found: &rates.Result{Classes: []rates.Class{{Q01: .3, Q10: .1},
			{Q01: .3, Q10: .1, Diagnoses: []rates.Diagnosis{rates.NotPredicted}}}},
		noisy: &round{logits: []float32{-1, -1, 2, 2}},
	}
	p := func(o float64) float64 { return 1 / (1 + math.Exp(-o)) }
	set := .7 * p(-1) / (.7*p(-1) + .1*(1-p(-1)))
	unset := .3 * p(2) / (.3*p(2) + .9*(1-p(2)))
	for floor, want := range map[bool][]float64{false: {set, 1, unset, 0},
		true: {(set + p(-1)) / 2, 1, (unset + p(2)) / 2, 0}} {
		r.Settings.Recipe.Floor = floor
		for i, got := range r.beliefs().Float32s() {
			if math.Abs(float64(got)-want[i]) > 1e-6 {
				t.Errorf("floor %t: belief %d is %v, want %v", floor, i, got, want[i])
			}
		}
	}
}

func TestPruned_LeavesOutWhatIsRatherWrong(t *testing.T) {
	r := &Recipe{
		Options: Options{Data: &dataset.Splits{Train: &loader.Set{Labels: dense.New(dense.WithShape(2, 2),
			dense.WithBacking([]uint8{1, 1, 0, 0}))}}},
		found: &rates.Result{Classes: []rates.Class{{Q01: .3, Q10: .1},
			{Q01: .3, Q10: .1, Diagnoses: []rates.Diagnosis{rates.NotPredicted}}}},
		// Log-odds of y for z=1 are o + log 7, for z=0 o + log(1/3): the first and the third are rather wrong.
		noisy: &round{logits: []float32{-2, -2, 1.2, 1.2}},
	}
	want := []float32{loader.Unknown, 1, loader.Unknown, 0}
	for i, got := range r.pruned().Float32s() {
		if got != want[i] {
			t.Errorf("target %d is %v, want %v", i, got, want[i])
		}
	}
	r.noisy.logits = []float32{-1.9, 5, 1, -5}
	for i, got := range r.pruned().Float32s() {
		if got != float32(r.Data.Train.Labels.Uint8s()[i]) {
			t.Errorf("target %d is %v though the label is rather right", i, got)
		}
	}
}

// Measures of a single picture, and of pictures that were learned, show nothing.
func TestJudgement_DropsMeasuresThatShowNothing(t *testing.T) {
	for _, c := range []struct {
		heldOut        bool
		bags, positive int
		want           string
	}{
		{true, 1, 1, "each label is on all or on none of what is measured (1)"},
		{false, 9, 4, "nothing was held out"},
		{true, 9, 4, ""},
	} {
		j := Judgement{Evaluation: &eval.Result{Bags: c.bags, Classes: 1,
			Measures: eval.Measures{PlugIn: .4, Labels: &eval.MultiLabel{}},
			Words: []eval.Word{{Word: "cat",
				WordMeasures: eval.WordMeasures{Labels: &eval.WordLabels{Positives: c.positive, AP: 1}}}}}}
		j.dropMeasures(c.heldOut)
		if !strings.Contains(j.NotMeasured, c.want) || j.Evaluation.Measured() != (c.want == "") ||
			j.Evaluation.PlugIn != .4 {
			t.Errorf("%d pictures: %q, measured %t", c.bags, j.NotMeasured, j.Evaluation.Measured())
		}
	}
}
