package annotators

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/labels/rates"
)

func byLabelOptions() Options {
	o := DefaultOptions()
	o.ByLabel = true
	return o
}

// With one label there is nothing to join: rates are the expected shares, which the prior has not drawn, and intervals
// have the same width.
func TestEstimate_OneLabelByLabel(t *testing.T) {
	c := crowd{bags: 2000, pairs: some(8, pair{.1, .02}, pair{.4, .15}), prior: []float64{.3}, each: 4, seed: 5}
	in, _ := c.simulated()
	want := estimated(t, in)
	got := expect.Value(Estimate(t.Context(), in, byLabelOptions()))(t)
	width := func(i rates.Interval) float64 { return i.High - i.Low }
	for j, a := range want.Annotators {
		b := got.Annotators[j]
		if math.Abs(a.Q01-b.Q01) > .02 || math.Abs(a.Q10-b.Q10) > .01 || a.Agreement != b.Agreement || a.Asked != b.Asked ||
			math.Abs(a.Accuracy-b.Accuracy) > 1e-9 || a.Bags != b.Bags || a.Shared != b.Shared {
			t.Errorf("annotator %d: %+v, by label %+v", j, a, b)
		}
		for _, w := range [][2]float64{{width(a.Q01Interval), width(b.Q01Interval)}, {width(a.Q10Interval),
			width(b.Q10Interval)}} {
			if !(math.Abs(w[0]-w[1]) < .1*w[0]) {
				t.Errorf("annotator %d: an interval of width %.4f, by label %.4f", j, w[0], w[1])
			}
		}
	}
	if got.Agreement != want.Agreement || got.Incorrect != want.Incorrect || got.Missing != want.Missing ||
		got.Strength01 != want.Strength01 || got.PooledQ10 != want.PooledQ10 || got.Objective != want.Objective {
		t.Errorf("%+v, by label %+v", want, got)
	}
}

func TestEstimate_ByLabelRemarks(t *testing.T) {
	// No annotator gives class 1; annotator 7 guesses, 8 always gives class 0, 9 shares no bag, 10 is idle,
	// 11 is reversed, and 12 looks at two bags.
	c := crowd{bags: 500, pairs: append(some(7, pair{.1, .02}, pair{.3, .1}), pair{.6, .4}), prior: frequencies(3, .2, .4),
		each: 4, seed: 6}
	in, truth := c.simulated()
	for i := range in.Rows {
		for n, k := range in.Rows[i].Given {
			in.Rows[i].Given[n] = k + min(k, 1) // 0, 2, 3
		}
	}
	for i := range int32(500) {
		opposite := []int32{}
		for k, class := range []int32{0, 2, 3} {
			if !truth[int(i)*3+k] {
				opposite = append(opposite, class)
			}
		}
		in.Rows = append(in.Rows, Row{Bag: i, Annotator: 8, Given: []int32{0}}, Row{Bag: i, Annotator: 11,
			Given: opposite})
	}
	in.Rows = append(in.Rows, Row{Bag: 500, Annotator: 9, Given: []int32{0}},
		Row{Annotator: 12, Given: []int32{0}}, Row{Bag: 1, Annotator: 12, Given: []int32{}})
	in.Bags, in.Annotators, in.Classes = 501, 13, 4
	r := expect.Value(Estimate(t.Context(), in, byLabelOptions()))(t)
	finite(t, r)
	for j, want := range map[int]Remark{7: NoBetter, 8: AlwaysSame, 9: Alone, 10: Idle, 11: Reversed, 12: MostlyPrior} {
		if !slices.Contains(r.Annotators[j].Remarks, want) {
			t.Errorf("annotator %d: %q, want %q", j, r.Annotators[j].Remarks, want)
		}
	}
	for j := range 7 {
		if len(r.Annotators[j].Remarks) > 0 {
			t.Errorf("annotator %d: %q", j, r.Annotators[j].Remarks)
		}
	}
	if len(r.parts) != 3 || !math.IsNaN(r.Annotators[10].Accuracy) || r.Annotators[9].Told {
		t.Errorf("%d labels, %+v", len(r.parts), r.Annotators[9:11])
	}
}

func TestEstimate_ByLabelIsBounded(t *testing.T) {
	in := Input{Bags: 1, Annotators: 1, Classes: maxByLabel + 1, Rows: []Row{{Given: []int32{0}}}}
	if _, err := Estimate(t.Context(), in, byLabelOptions()); !errors.Is(err, ErrInput) ||
		!strings.Contains(err.Error(), "too many to be estimated label by label") {
		t.Errorf("%v", err)
	}
}

// Reported intervals hold the rate, and there are none if the labels carry no information.
func TestEstimate_IntervalsHoldTheRate(t *testing.T) {
	for seed := range uint64(6) {
		c := crowd{bags: 30, pairs: some(6, pair{.2, .2}, pair{.5, .5}), prior: frequencies(2, .2, .5), each: 2, seed: seed}
		in, _ := c.simulated()
		r := estimated(t, in)
		for j, a := range r.Annotators {
			for _, v := range []struct {
				i rates.Interval
				q float64
			}{{a.Q01Interval, a.Q01}, {a.Q10Interval, a.Q10}} {
				if a.Told != (v.i.Low < v.q && v.q < v.i.High && v.i.Low >= 0 && v.i.High <= 1) {
					t.Errorf("seed %d, annotator %d: rate %g in %+v, told %v", seed, j, v.q, v.i, a.Told)
				}
			}
		}
	}
	if _, ok := (information{1, 1, 1}).covariance(); ok {
		t.Error("information of one direction is inverted")
	}
	if v, ok := (information{2, 1, 4}).covariance(); !ok || math.Abs(v.i01-4./7)+math.Abs(v.both+1./7)+
		math.Abs(v.i10-2./7) > 1e-12 {
		t.Errorf("%+v", v)
	}
}

func TestReport_AnnotatorsFile(t *testing.T) {
	told := Annotator{Bags: 3, Shared: 2, Asked: 6, Given: 1, Q01: .25, Q01Interval: rates.Interval{Low: .125, High: .5},
		Q10: .0625, Q10Interval: rates.Interval{Low: .03125, High: .0703125},
		Informedness: .6875, Accuracy: .75, Incorrect: .5, Missing: 1.5,
		Agreement: .2, Remarks: []Remark{NoBetter, AlwaysSame}}
	none := rates.Interval{Low: math.NaN(), High: math.NaN()}
	r := &Report{&Table{AnnotatorNames: []string{"ann", "b,c"}}, &Result{Annotators: []Annotator{told,
		{Q01: .5, Q10: .5, Q01Interval: none, Q10Interval: none, Accuracy: math.NaN(), Agreement: math.NaN()}}}}
	path := filepath.Join(t.TempDir(), "a.csv")
	expect.OK(t, r.WriteAnnotatorsFile(path))
	want :=
		"annotator,samples,shared,asked,given,q01,q01_low,q01_high,q10,q10_low,q10_high,informedness,accuracy,incorrect," +
			"missing,agreement,remarks\n" +
			"ann,3,2,6,1,0.25,0.125,0.5,0.0625,0.03125,0.0703125,0.6875,0.75,0.5,1.5,0.2,no better than chance; the same " +
			"labels for every sample\n" +
			"\"b,c\",0,0,0,0,0.5,,,0.5,,,0,,0,0,,\n"
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	r.Words, r.BagIDs, r.Result.Bags, r.Result.Classes = []string{"w"}, []string{"b"}, 1, 1
	for _, ending := range []string{".csv", ".jsonl", ".npy"} {
		path := filepath.Join(t.TempDir(), "none", "x"+ending)
		for i, write := range []func(string) error{r.WriteAnnotatorsFile, r.WriteLabelsFile, r.WriteConsensusFile,
			r.WriteEvidenceFile} {
			if err := write(path); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%d: %v does not name %s", i, err, path)
			}
		}
	}
}
