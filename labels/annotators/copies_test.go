package annotators

import (
	"math"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
)

// copied draws a crowd of ten, of whom three copy guesses of their own.
func copied(seed uint64) (in Input, truth []bool) {
	c := crowd{bags: 1000, pairs: some(10, pair{.2, .05}, pair{.45, .2}), prior: frequencies(5, .15, .4), each: 4,
		seed: seed}
	in, truth = c.simulated()
	s := rng.New(seed + 100)
	guess := make([][]int32, in.Bags)
	for i := range guess {
		guess[i] = []int32{}
		for k, p := range c.prior {
			if s.Float64() < p {
				guess[i] = append(guess[i], int32(k))
			}
		}
	}
	for i := range in.Rows {
		if r := &in.Rows[i]; r.Annotator < 3 {
			r.Given = guess[r.Bag]
		}
	}
	return in, truth
}

// wrong counts the labels of the consensus that differ from the truth.
func wrong(r *Result, truth []bool) (n int) {
	for i := range r.Bags {
		holds := make([]bool, r.Classes)
		r.Each(i, func(c Cell) { holds[c.Class] = c.Holds })
		for k, y := range truth[i*r.Classes : (i+1)*r.Classes] {
			if holds[k] != y {
				n++
			}
		}
	}
	return n
}

// Copies of one list of guesses count once: no label is decided by how many annotators have the list.
func TestEstimate_CopiedLabelsCountOnce(t *testing.T) {
	for seed := range uint64(3) {
		in, truth := copied(seed)
		for _, alone := range []bool{false, true} {
			o := DefaultOptions()
			o.ByLabel = alone
			r := expect.Value(Estimate(t.Context(), in, o))(t)
			each := estimateLabels
			if o.ByLabel {
				each = byLabel
			}
			twice := expect.Value(each(t.Context(), &in, o))(t)
			if n, before := wrong(r, truth), wrong(twice, truth); 10*n > 8*before {
				t.Errorf("seed %d, by label %v: %d labels are wrong, and %d if each copy counts", seed, alone, n, before)
			}
			if n := len(r.Notes); n == 0 || !strings.HasPrefix(r.Notes[n-1], "2 annotators copy another one") {
				t.Errorf("notes %q", r.Notes)
			}
			for j, a := range r.Annotators {
				if copies := slices.Contains(a.Remarks, Copies); copies != (j == 1 || j == 2) {
					t.Errorf("annotator %d: %+v", j, a)
				} else if j < 3 && math.Abs(a.Informedness) > .25 {
					t.Errorf("annotator %d guesses, and has an informedness of %.2f", j, a.Informedness)
				}
			}
			rows := make([]int, in.Annotators)
			for i := range in.Rows {
				rows[in.Rows[i].Annotator]++
			}
			for j, a := range r.Annotators {
				if a.Bags != rows[j] || a.Asked != float64(5*rows[j]) {
					t.Errorf("annotator %d has %d bags and %v labels, want %d", j, a.Bags, a.Asked, rows[j])
				}
			}
		}
	}
}

// Annotators who are nearly always right agree like copies do, and so do annotators of whom all agree.
func TestCopies_AgreementIsNoCopying(t *testing.T) {
	for name, pairs := range map[string][]pair{
		"two experts": append(some(8, pair{.3, .1}, pair{.4, .15}), pair{.01, .001}, pair{.01, .001}),
		"experts":     some(10, pair{.01, .001}, pair{.02, .002}),
		"guesses":     some(10, pair{.5, .5}, pair{.5, .5}),
	} {
		in, _ := crowd{bags: 1000, pairs: pairs, prior: frequencies(5, .15, .4), each: 4, seed: 1}.simulated()
		if _, n := in.copies(in.constant()); n != 0 {
			t.Errorf("%s: %d annotators are taken to copy", name, n)
		}
	}
}

// Agreement counts the labels that both annotators answer, however rows say which these are.
func TestAgreement_OfTheLabelsThatBothAnswer(t *testing.T) {
	chance := []float64{.5, .4, .3, .2}
	for name, c := range map[string]struct {
		r, o Row
		want agreement
	}{
		"all":      {Row{Given: []int32{0, 1}}, Row{Given: []int32{1, 3}}, agreement{2, 1.4}},
		"unknown":  {Row{Given: []int32{0}, Unknown: []int32{2, 3}}, Row{Given: []int32{1}, Unknown: []int32{0, 3}}, agreement{1, .4}},
		"asked":    {Row{Given: []int32{0}, Asked: []int32{0, 2}}, Row{Given: []int32{2}}, agreement{2, .8}},
		"both":     {Row{Given: []int32{0}, Asked: []int32{0, 2}}, Row{Asked: []int32{2, 3}}, agreement{0, .3}},
		"nothing":  {Row{Asked: []int32{}}, Row{Given: []int32{2}}, agreement{}},
		"one open": {Row{Asked: []int32{0, 1}, Unknown: []int32{1}}, Row{Given: []int32{0}}, agreement{1, .5}},
	} {
		for _, rows := range [...][2]*Row{{&c.r, &c.o}, {&c.o, &c.r}} {
			var got agreement
			got.compare(rows[0], rows[1], chance, 1.4)
			if got.differ != c.want.differ || math.Abs(got.chance-c.want.chance) > 1e-12 {
				t.Errorf("%s: %+v, want %+v", name, got, c.want)
			}
		}
	}
}
