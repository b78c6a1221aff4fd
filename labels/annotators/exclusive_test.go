package annotators

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/labels"
)

// oneClass describes simulated annotators of classes that exclude each other.
type oneClass struct {
	bags        int
	frequencies []float64     // class frequencies
	matrices    [][][]float64 // per annotator: p(answer | true class)
	least, most int           // annotators of a bag
	hard        float64       // share of bags on which everybody but a constant annotator guesses half of the answers
	seed        uint64
}

// drawn returns answers and true classes.
func (c oneClass) drawn() (Input, []int) {
	in := Input{Bags: c.bags, Annotators: len(c.matrices), Classes: len(c.frequencies)}
	s, truth := rng.New(c.seed), make([]int, c.bags)
	draw := func(p []float64) int {
		u := s.Float64()
		for k, v := range p {
			if u -= v; u < 0 {
				return k
			}
		}
		return len(p) - 1
	}
	for i := range truth {
		truth[i] = draw(c.frequencies)
		hard := s.Float64() < c.hard
		for _, j := range permuted(&s, len(c.matrices))[:c.least+s.Intn(c.most-c.least+1)] {
			row := c.matrices[j][truth[i]]
			k := draw(row)
			if hard && slices.Max(row) < 1 && s.Float64() < .5 {
				k = s.Intn(in.Classes)
			}
			in.Rows = append(in.Rows, Row{Bag: int32(i), Annotator: int32(j), Given: []int32{int32(k)}})
		}
	}
	return in, truth
}

// coin is the matrix of an annotator who is right with probability accuracy, and otherwise gives any other
// class.
func coin(classes int, accuracy float64) [][]float64 {
	m := make([][]float64, classes)
	for l := range m {
		m[l] = slices.Repeat([]float64{(1 - accuracy) / float64(classes-1)}, classes)
		m[l][l] = accuracy
	}
	return m
}

// always is the matrix of an annotator who gives one class.
func always(classes, k int) [][]float64 {
	m := make([][]float64, classes)
	for l := range m {
		m[l] = make([]float64, classes)
		m[l][k] = 1
	}
	return m
}

// lazyCrowd has ten annotators. Two always give the first class and one is nearly always wrong.
func lazyCrowd(seed uint64) oneClass {
	matrices := [][][]float64{always(5, 0), always(5, 0), coin(5, .1)}
	for j := range 7 {
		matrices = append(matrices, coin(5, .5+.06*float64(j)))
	}
	return oneClass{3000, []float64{.34, .24, .18, .14, .1}, matrices, 3, 5, .5, seed}
}

// right returns the share of bags whose most probable class is the true one, and the same share for majority
// votes. Tied votes count by their share.
func right(r *Result, in Input, truth []int) (found, votes float64) {
	counts, p := make([]float64, in.Bags*in.Classes), make([]float64, in.Classes)
	for _, row := range in.Rows {
		counts[int(row.Bag)*in.Classes+int(row.Given[0])]++
	}
	for i, class := range truth {
		if r.Posterior(i, p); labels.Largest(p) == class {
			found++
		}
		of := counts[i*in.Classes : (i+1)*in.Classes]
		if most := slices.Max(of); of[class] == most {
			tied := 0.
			for _, n := range of {
				if n == most {
					tied++
				}
			}
			votes += 1 / tied
		}
	}
	return found / float64(in.Bags), votes / float64(in.Bags)
}

// A model with one pair of rates took two annotators who always give one class for the truth: 34 % of the
// bags were right, and no label was reported as wrong.
func TestEstimate_AnnotatorsOfOneClassDoNotDecide(t *testing.T) {
	for seed := range uint64(3) {
		in, truth := lazyCrowd(seed).drawn()
		r := estimated(t, in)
		found, votes := right(r, in, truth)
		wrong, _ := r.ConsensusShares()
		if found < votes+.05 || math.Abs(float64(wrong)-(1-found)) > .07 {
			t.Errorf("seed %d: %.3f are right, votes %.3f; %.3f are said to be wrong", seed, found, votes, wrong)
		}
		if r.Consensus != in.Bags || !r.Exclusive {
			t.Errorf("seed %d: %d classes of the consensus, exclusive %t", seed, r.Consensus, r.Exclusive)
		}
		for j, a := range r.Annotators {
			switch lazy := j < 2; {
			case (j < 3) != (slices.Contains(a.Remarks, NoBetter) || slices.Contains(a.Remarks, Reversed)),
				lazy != slices.Contains(a.Remarks, AlwaysSame), lazy && a.Accuracy > .45, j == 9 && a.Accuracy < .6:
				t.Errorf("seed %d: annotator %d: %+v", seed, j, a)
			}
		}
	}
}

// A third of the annotators copy from each other what one of them guesses: their answers for a bag count once.
func TestEstimate_CopiesAreNoSecondWitness(t *testing.T) {
	c := oneClass{bags: 2000, frequencies: slices.Repeat([]float64{.2}, 5), least: 5, most: 5, seed: 1}
	for j := range 20 {
		c.matrices = append(c.matrices, coin(5, .5+.02*float64(j)))
	}
	in, truth := c.drawn()
	s := rng.New(2)
	copied := make([]int32, in.Bags)
	for i := range copied {
		copied[i] = int32(s.Intn(5))
	}
	const copiers = 7
	for i := range in.Rows {
		if row := &in.Rows[i]; row.Annotator < copiers {
			row.Given = []int32{copied[row.Bag]}
		}
	}
	r := estimated(t, in)
	found, votes := right(r, in, truth)
	if found < votes+.05 {
		t.Errorf("%.3f are right, votes %.3f", found, votes)
	}
	if n := len(r.Notes); n == 0 || !strings.HasPrefix(r.Notes[n-1], "6 annotators copy another one") {
		t.Errorf("notes %q", r.Notes)
	}
	for j, a := range r.Annotators {
		if (j < copiers) != slices.Contains(a.Remarks, NoBetter) {
			t.Errorf("annotator %d: %+v", j, a)
		}
	}
}

// An annotator who is nearly always right agrees with similar annotators, but copies none of them.
func TestCopies_NotOfTheBest(t *testing.T) {
	c := oneClass{bags: 1000, frequencies: []float64{.5, .3, .2}, least: 4, most: 4, seed: 1}
	for j := range 10 {
		c.matrices = append(c.matrices, coin(3, []float64{.6, .98}[j/6]))
	}
	in, _ := c.drawn()
	if _, n := in.copies(nil); n != 0 {
		t.Errorf("%d annotators are taken to copy", n)
	}
}

func TestExclusive_OnlyAnswersOfOneClass(t *testing.T) {
	one := Row{Given: []int32{0}}
	for name, c := range map[string]struct {
		row     Row
		classes int
		want    bool
	}{
		"one class":    {Row{Bag: 1, Given: []int32{1}}, 2, true},
		"two":          {Row{Bag: 1, Given: []int32{0, 1}}, 2, false},
		"none":         {Row{Bag: 1}, 2, false},
		"unknown":      {Row{Bag: 1, Given: []int32{1}, Unknown: []int32{0}}, 2, false},
		"asked":        {Row{Bag: 1, Given: []int32{1}, Asked: []int32{1}}, 2, false},
		"single class": {Row{Bag: 1, Given: []int32{0}}, 1, false},
	} {
		in := Input{Bags: 2, Annotators: 1, Classes: c.classes, Rows: []Row{one, c.row}}
		if got := in.exclusive(); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// Tables for matrices would not fit into memory.
func TestEstimate_ManyClassesAreTakenAsNotExclusive(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: thousands of classes")
	}
	in := Input{Bags: 9, Annotators: 3, Classes: 12_000}
	for i := range int32(27) {
		in.Rows = append(in.Rows, Row{Bag: i / 3, Annotator: i % 3, Given: []int32{i / 3 % 3}})
	}
	r := estimated(t, in)
	if n := len(r.Notes); r.Exclusive || n == 0 || !strings.Contains(r.Notes[n-1], "27 rows × 12000 labels are too many") {
		t.Errorf("exclusive %t, notes %q", r.Exclusive, r.Notes)
	}
}

func TestExclusive_EvidenceLeadsFromFrequencyToPosterior(t *testing.T) {
	in, _ := lazyCrowd(4).drawn()
	r := estimated(t, in)
	p, e := make([]float64, 5), make([]float64, 5)
	for i := range in.Bags {
		r.Posterior(i, p)
		r.Evidence(i, e)
		sum := 0.
		for k, v := range p {
			sum += v
			want, _ := sigmoidSoftplus(math.Log(r.Prior[k]/(1-r.Prior[k])) + e[k])
			if math.Abs(v-want) > 1e-9 {
				t.Fatalf("bag %d, class %d: posterior %v, evidence leads to %v", i, k, v, want)
			}
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Fatalf("bag %d: posteriors %v", i, p)
		}
	}
}

func TestExclusive_FindsRates(t *testing.T) {
	held, all := 0, 0
	for seed := range uint64(5) {
		c := oneClass{bags: 800, frequencies: []float64{.5, .3, .2}, least: 4, most: 4, seed: seed}
		for j := range 12 {
			a := .55 + .03*float64(j)
			c.matrices = append(c.matrices, [][]float64{{a, (1 - a) / 2, (1 - a) / 2}, {.3, .6, .1}, {.05, 1 - a - .05, a}})
		}
		in, _ := c.drawn()
		for j, a := range estimated(t, in).Annotators {
			q01 := 1 - (2*(.55+.03*float64(j))+.6)/3
			if all++; a.Q01Interval.Low <= q01 && q01 <= a.Q01Interval.High {
				held++
			}
			if math.Abs(a.Q01-q01) > .15 {
				t.Errorf("seed %d, annotator %d: q01 %.3f, drawn with %.3f", seed, j, a.Q01, q01)
			}
		}
	}
	t.Logf("intervals hold %d of %d rates", held, all)
	if held < all*8/10 {
		t.Errorf("intervals of 95 %% hold %d of %d rates", held, all)
	}
}

// Nothing depends on the number of goroutines, nor on the order of rows but for rounding.
func TestExclusive_ProcessorsAndOrderDoNotMatter(t *testing.T) {
	in, _ := lazyCrowd(5).drawn()
	all := told(estimated(t, in))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	r := estimated(t, in)
	if told(r) != all {
		t.Error("one processor gives another result")
	}
	shuffled, s := in, rng.New(1)
	shuffled.Rows = slices.Clone(in.Rows)
	for i, at := range permuted(&s, len(in.Rows)) {
		shuffled.Rows[i] = in.Rows[at]
	}
	moved := estimated(t, shuffled)
	p, q := make([]float64, 5), make([]float64, 5)
	for i := range in.Bags {
		r.Posterior(i, p)
		moved.Posterior(i, q)
		for k := range p {
			if math.Abs(p[k]-q[k]) > 1e-6 {
				t.Fatalf("bag %d: %v in order, %v shuffled", i, p, q)
			}
		}
	}
}

func TestExclusive_WithClassifier(t *testing.T) {
	in, truth := lazyCrowd(6).drawn()
	s := rng.New(6)
	in.Logits = make([]float32, in.Bags*in.Classes)
	for i := range in.Logits {
		in.Logits[i] = float32(s.Normal(-1.5, 1.5))
		if i%in.Classes == truth[i/in.Classes] {
			in.Logits[i] += 3
		}
	}
	r := estimated(t, in)
	found, _ := right(r, in, truth)
	in.Logits = nil
	without, _ := right(estimated(t, in), in, truth)
	if found < without+.03 {
		t.Errorf("%.3f are right with a classifier, %.3f without", found, without)
	}
}

func TestExclusive_UnusualCrowds(t *testing.T) {
	rows := func(list ...[3]int32) (in Input) {
		for _, l := range list {
			in.Rows = append(in.Rows, Row{Bag: l[0], Annotator: l[1], Given: []int32{l[2]}})
			in.Bags, in.Annotators = max(in.Bags, int(l[0])+1), max(in.Annotators, int(l[1])+1)
		}
		in.Classes = 3 // no annotator gives the last one
		return in
	}
	p := make([]float64, 3)
	t.Run("one answer each", func(t *testing.T) {
		r := estimated(t, rows([3]int32{0, 0, 0}, [3]int32{0, 1, 0}, [3]int32{0, 2, 1}, [3]int32{1, 3, 1}))
		if r.Posterior(0, p); labels.Largest(p) != 0 || p[2] > p[1] || !slices.Contains(r.Annotators[3].Remarks, Alone) ||
			!slices.Contains(r.Annotators[0].Remarks, MostlyPrior) {
			t.Errorf("%v, %+v", p, r)
		}
	})
	t.Run("all alike", func(t *testing.T) {
		var list [][3]int32
		for i := range int32(60) {
			list = append(list, [3]int32{i / 3, i % 3, 0})
		}
		r := estimated(t, rows(list...))
		if r.Consensus != 20 || r.Incorrect > 1.4 || !slices.ContainsFunc(r.Notes, func(s string) bool {
			return strings.Contains(s, "agree on every label")
		}) {
			t.Errorf("%+v", r)
		}
	})
	t.Run("a thousand answers for one bag, and one that nobody answered", func(t *testing.T) {
		var list [][3]int32
		for j := range int32(1000) {
			list = append(list, [3]int32{0, j, min(j%4, 1)}, [3]int32{1 + j%7, j, j % 2})
		}
		in := rows(list...)
		in.Bags++
		r := estimated(t, in)
		if r.Posterior(0, p); p[1] < .99 || r.Consensus != 8 {
			t.Errorf("%v, consensus %d", p, r.Consensus)
		}
		r.Each(8, func(c Cell) { t.Errorf("a label of a bag that nobody answered: %+v", c) })
	})
}

// Answers for bags of unequal difficulty are not independent given the truth: they count less.
func TestTemper_WhereBagsDifferInDifficulty(t *testing.T) {
	for _, hard := range []float64{0, .3} {
		c := oneClass{bags: 3000, frequencies: slices.Repeat([]float64{.25}, 4), least: 5, most: 5, hard: hard, seed: 1}
		for j := range 20 {
			c.matrices = append(c.matrices, coin(4, .7+.01*float64(j)))
		}
		in, truth := c.drawn()
		x := newExclusive(&in, DefaultOptions(), in.overlap(), make([]bool, len(in.Rows)))
		x.vote()
		expect.OK(t, x.climb(t.Context()))
		before, rates := x.result(), slices.Clone(x.rates)
		x.temper()
		if changed := !slices.Equal(rates, x.rates); changed != (hard > 0) {
			t.Errorf("%g are hard: rates change %t", hard, changed)
		}
		after := x.result()
		found, _ := right(after, in, truth)
		off := math.Abs(after.Incorrect/3000 - (1 - found))
		if off > .02 || hard > 0 && after.Incorrect <= before.Incorrect {
			t.Errorf("%g are hard: %.3f are wrong, said to be %.3f, before %.3f", hard, 1-found, after.Incorrect/3000,
				before.Incorrect/3000)
		}
	}
}

// All figures of a result as text, to the last digit.
func told(r *Result) string {
	var b strings.Builder
	parts := r.parts
	r.parts = nil
	fmt.Fprintf(&b, "%+v\n", *r)
	r.parts = parts
	p, e := make([]float64, r.Classes), make([]float64, r.Classes)
	for i := range r.Bags {
		r.Posterior(i, p)
		r.Evidence(i, e)
		fmt.Fprintln(&b, p, e)
		r.Each(i, func(c Cell) { fmt.Fprint(&b, c) })
	}
	return b.String()
}
