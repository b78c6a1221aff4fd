package annotators

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
)

// asked3 are three annotators of two bags and three classes: the first was asked about all, the second too but leaves a
// label open, the third about two classes alone.
func asked3() *Input {
	return &Input{Bags: 2, Annotators: 3, Classes: 3, Rows: []Row{
		{Given: []int32{0, 1}}, {Annotator: 1, Given: []int32{0}, Unknown: []int32{1}},
		{Annotator: 2, Given: []int32{2}, Asked: []int32{0, 2}},
		{Bag: 1, Given: []int32{}}, {Bag: 1, Annotator: 1, Given: []int32{2}}}}
}

// Labels given, labels asked about and agreements equal the counts.
func TestAgreement_OfThreeAnnotators(t *testing.T) {
	e := newEstimator(asked3(), DefaultOptions())
	copy(e.rho, []float64{.9, .7, .6, .3}) // three labels of bag 0, one of bag 1
	copy(e.total.class, []float64{.9, .7, 1.1})
	for k := range e.prior {
		e.prior[k] = -100 // only labels that an annotator gave can hold
	}
	e.mostPrior = -100
	var r Result
	both, named := e.agreement(&r)
	// One pair of annotators shares a label of those that could, label 0 of bag 0; 2 of 7 answers.
	if r.Agreement != 2./7 || r.Consensus != 3 || math.Abs(r.Incorrect-.8) > 1e-12 || math.Abs(r.Missing-.5) > 1e-12 {
		t.Errorf("agreement %.3f, %d labels, %.3f incorrect and %.3f missing", r.Agreement, r.Consensus, r.Incorrect,
			r.Missing)
	}
	if !slices.Equal(both, []float64{4, 2, 2}) || !slices.Equal(named, []float64{2 + 3, 2 + 2, 1 + 2}) {
		t.Errorf("in both %g, named %g", both, named)
	}
	want := []counts{{6, 2}, {5, 2}, {2, 1}}
	if !slices.Equal(e.asked, want) {
		t.Errorf("asked and given %v, want %v", e.asked, want)
	}
	var cells []Cell
	for i := range 2 {
		e.each(i, func(c Cell) { cells = append(cells, c) })
	}
	if want := []Cell{{Class: 0, P: .9, Given: 2, Asked: 3, Holds: true},
		{Class: 1, P: .7, Given: 1, Asked: 1, Holds: true, at: 1}, {Class: 2, P: .6, Given: 1, Asked: 3, Holds: true, at: 2},
		{Class: 2, P: .3, Given: 1, Asked: 2, at: 3}}; !slices.Equal(cells,
		want) {
		t.Errorf("%+v, want %+v", cells, want)
	}
	e.vote() // shares of the annotators asked
	if want := []float64{2. / 3, 1, 1. / 3, .5}; !slices.Equal(e.rho, want) {
		t.Errorf("votes %g, want %g", e.rho, want)
	}
	if want := []float64{2. / 3, 1, 1./3 + .5}; !near(e.total.class, want) {
		t.Errorf("labels by votes %g, want %g", e.total.class, want)
	}
	// Expected true labels among those given, and among those that were asked for and not given.
	if !near(e.total.true1, []float64{2./3 + 1, 2./3 + .5, 1. / 3}) ||
		!near(e.total.true0, []float64{1./3 + .5, 1. / 3, 2. / 3}) {
		t.Errorf("true among given %g, among others %g", e.total.true1, e.total.true0)
	}
}

func near(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) < 1e-12 })
}

func TestOverlap_OfWhoSharesBags(t *testing.T) {
	// 0, 1 and 2 are linked by bags, 3 and 4 too, 5 is alone, 6 idle.
	var rows []Row
	for bag, list := range [][]int32{{0, 1}, {2, 1}, {3, 4}, {5}, {0}, {5}, {4, 3}} {
		for _, j := range list {
			rows = append(rows, Row{Bag: int32(bag), Annotator: j, Given: []int32{j % 2}})
		}
	}
	in := &Input{Bags: 8, Annotators: 7, Classes: 3, Rows: rows}
	want := overlap{shared: []int{1, 2, 1, 2, 2, 0, 0}, bags: []int{2, 2, 1, 2, 2, 2, 0}, most: 2, groups: 3, named: 2}
	if got := in.overlap(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestIdentifiable_TwoAnnotatorsNeedTwoLabels(t *testing.T) {
	for _, c := range []struct {
		o      overlap
		logits bool
		says   string
	}{
		{overlap{bags: []int{2, 2}, most: 2, named: 2}, false, ""},
		{overlap{bags: []int{2, 2}, most: 2, named: 1}, false, "two annotators and one label"},
		{overlap{bags: []int{2, 0, 2}, most: 2, named: 1}, false, "two annotators and one label"},
		{overlap{bags: []int{2, 1, 2}, most: 2, named: 1}, false, ""},
		{overlap{bags: []int{2, 2}, most: 2, named: 1}, true, ""},
		{overlap{bags: []int{2, 2, 2}, most: 1, named: 3}, false, "each sample has one annotator"},
		{overlap{bags: []int{2}, most: 1, named: 1}, true, ""},
		{overlap{bags: []int{2, 2, 2}, most: 3}, true, "no annotator gave a label"},
	} {
		in := &Input{Bags: 9}
		if c.logits {
			in.Logits = []float32{}
		}
		err := in.identifiable(c.o)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v, logits %t: %v, want %q", c.o, c.logits, err, c.says)
		}
	}
}

func TestNote_SaysWhatHoldsOfAll(t *testing.T) {
	const (
		alone      = "2 of 5 annotators share no sample with another one: they have the rates of all annotators."
		groups     = "Annotators fall into 4 groups that share no sample: rates are best compared within a group."
		two        = "Two annotators: when they differ, only the frequencies of labels show which is right."
		open       = "Labels do not show how often all annotators are wrong together: rates have no intervals."
		same       = "Annotators agree on every label, so they cannot be ranked."
		chance     = "Overall, annotators are no better than chance: the labels carry no information."
		classifier = "Each sample has one annotator: reliabilities depend on the classifier alone."
	)
	five := overlap{bags: []int{3, 3, 3, 1, 0, 1}, shared: []int{3, 3, 3, 0, 0, 0}, most: 2, groups: 3}
	apart := five
	apart.groups = 4
	pairOnly := overlap{bags: []int{3, 0, 3}, shared: []int{3, 0, 3}, most: 2, groups: 1}
	for i, c := range []struct {
		o      overlap
		logits bool
		told   bool
		r      Result
		want   []string
	}{
		{five, false, true, Result{}, []string{alone}},
		{five, true, true, Result{}, nil},
		{apart, false, true, Result{}, []string{alone, groups}},
		{apart, true, true, Result{}, nil},
		{pairOnly, false, true, Result{Agreement: .5}, []string{two}},
		{pairOnly, true, true, Result{Agreement: .5}, nil},
		{pairOnly, false, false, Result{Agreement: 1, PooledQ01: .5, PooledQ10: .5}, []string{two, open, same, chance}},
		{overlap{bags: []int{1, 1, 1}, shared: make([]int, 3), most: 1, groups: 3}, true, true,
			Result{Agreement: math.NaN(), PooledQ01: .6, PooledQ10: .3}, []string{classifier}},
		{overlap{bags: []int{2, 2, 2}, shared: []int{2, 2, 2}, most: 2, groups: 1}, true, true, Result{}, nil},
		{overlap{bags: []int{4, 4, 4, 4}, shared: []int{4, 4, 4, 4}, most: 2, groups: 2}, false, true, Result{},
			[]string{strings.Replace(groups, "4", "2", 1)}},
	} {
		e := &estimator{in: &Input{}, overlap: c.o}
		if c.logits {
			e.in.Logits = []float32{}
		}
		if c.r.note(e.in, e.overlap, c.told); !slices.Equal(c.r.Notes, c.want) {
			t.Errorf("case %d: %q, want %q", i, c.r.Notes, c.want)
		}
	}
}

// An annotator who gives all bags the same labels gets a remark from five bags and three wrong labels on.
func TestResult_RemarksOnTheSameLabelsFromSomeBagsOn(t *testing.T) {
	for _, c := range []struct {
		bags, wrong int
		told        bool
	}{{5, 5, true}, {4, 4, false}, {9, 2, true}, {9, 1, false}} {
		in := Input{Bags: 40, Annotators: 7, Classes: 3}
		for i := range int32(40) {
			for j := range int32(6) {
				in.Rows = append(in.Rows, Row{Bag: i, Annotator: j, Given: []int32{i % 3}})
			}
		}
		for n := range c.bags { // class 1 is wrong in these bags, class 0 is right
			bag := int32(3 * n)
			if n < c.wrong {
				bag++
			}
			in.Rows = append(in.Rows, Row{Bag: bag, Annotator: 6, Given: []int32{0}})
		}
		for _, byLabel := range []bool{false, true} {
			o := DefaultOptions()
			o.ByLabel = byLabel
			r := expect.Value(Estimate(t.Context(), in, o))(t)
			if told := slices.Contains(r.Annotators[6].Remarks, AlwaysSame); told != c.told {
				t.Errorf("%+v, by label %t: %q, %.2f incorrect and %.2f missing", c, byLabel, r.Annotators[6].Remarks,
					r.Annotators[6].Incorrect, r.Annotators[6].Missing)
			}
		}
	}
}

func TestSame_IsWhatWasGivenOfWhatWasAsked(t *testing.T) {
	in := &Input{Bags: 3, Annotators: 5, Classes: 2, Rows: []Row{
		{Given: []int32{1}}, {Bag: 1, Given: []int32{1}}, {Bag: 2, Given: []int32{1}}, // the same
		{Annotator: 1, Given: []int32{1}}, {Bag: 1, Annotator: 1, Given: []int32{}},
		{Bag: 2, Annotator: 1, Given: []int32{1}},
		{Annotator: 2, Given: []int32{1}}, {Bag: 1, Annotator: 2, Given: []int32{1}, Asked: []int32{1}},
		{Bag: 1, Annotator: 3, Given: []int32{0}}}}
	if got, want := in.same(), []bool{true, false, false, true, false}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Each visits all labels that a row names, and labels that probably hold although no annotator gave them.
func TestEach_VisitsLikelyLabelsThatNoAnnotatorGave(t *testing.T) {
	c := crowd{bags: 60, pairs: some(4, pair{.5, .01}, pair{.8, .02}), prior: []float64{.9, .1, .95, .3}, each: 2, seed: 3}
	unnamed := 0
	for _, informed := range []float64{0, 1} {
		c.informed = informed
		in, _ := c.simulated()
		r := estimated(t, in)
		p, evidence := make([]float64, 4), make([]float64, 4)
		for i, rows := range rowsOf(&in) {
			r.Posterior(i, p)
			r.Evidence(i, evidence)
			var want, got []string
			for k := range p {
				given := 0
				for _, row := range rows {
					if slices.Contains(row.Given, int32(k)) {
						given++
					}
				}
				if given > 0 || p[k] >= .5 {
					want = append(want, fmt.Sprintln(k, p[k], evidence[k], given, 2))
				}
				if given == 0 && p[k] >= .5 {
					unnamed++
				}
			}
			r.Each(i, func(c Cell) { got = append(got, fmt.Sprintln(c.Class, c.P, c.Evidence, c.Given, c.Asked)) })
			if !slices.Equal(got, want) {
				t.Fatalf("bag %d: %q, want %q", i, got, want)
			}
		}
	}
	if unnamed < 20 {
		t.Errorf("%d likely labels that no annotator gave: too few to test with", unnamed)
	}
}
