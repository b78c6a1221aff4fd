package audit

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/labels"
	"nmn/labels/audit/rows"
	"nmn/labels/rates"
)

type matrix[T any] struct {
	Shape []int
	Data  []T
}

// auditFixture holds what cleanlab and the posterior say about a few labels.
type auditFixture struct {
	Inputs struct {
		PredProbs matrix[float32] `json:"pred_probs"`
		Labels    matrix[uint16]  `json:"noisy_labels"`
		Q01, Q10  matrix[float64]
	}
	Expected struct {
		SelfConfidence matrix[float64] `json:"self_confidence"`
		QualityScore   matrix[float64] `json:"quality_score"`
		QualityRank    matrix[int]     `json:"quality_rank"`
		IssuesRanked   matrix[int]     `json:"issues_ranked"`
		IssuesPerClass [][]int         `json:"issues_per_class_ranked"`
		Thresholds     matrix[float64]
		NPrune         matrix[int]     `json:"n_prune"`
		Rho1           matrix[float64] `json:"rho1"`
		AuditScore     matrix[float64] `json:"audit_score"`
		AuditRank      matrix[int]     `json:"audit_rank_top100"`
		TrueFlips      matrix[uint16]  `json:"true_flips"`
	}
}

func fixture(t *testing.T) (*auditFixture, Input) {
	t.Helper()
	folder := os.Getenv("NMN_ORACLE")
	if folder == "" {
		folder = filepath.Join("testdata", "oracle")
	}
	b := expect.Value(os.ReadFile(filepath.Join(folder, "label_audit.json")))(t)
	var f auditFixture
	expect.OK(t, json.Unmarshal(b, &f))
	logits := expect.Value(rates.Logits(f.Inputs.PredProbs.Data))(t)
	in := Input{
		Bags: f.Inputs.PredProbs.Shape[0], Classes: f.Inputs.PredProbs.Shape[1], Logits: logits,
		Rates: &labels.Rates{Q01: f.Inputs.Q01.Data, Q10: f.Inputs.Q10.Data},
	}
	for i, z := range f.Inputs.Labels.Data {
		in.Labels = append(in.Labels, uint8(z))
		in.Truth = append(in.Truth, uint8(z^f.Expected.TrueFlips.Data[i]))
	}
	return &f, in
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-6) {
		t.Errorf("%s: %.9f, want %.9f", what, got, want)
	}
}

func TestRun_RanksLabelsAsTheFixture(t *testing.T) {
	f, in := fixture(t)
	r := expect.Value(Run(in, 0))(t)
	if len(r.Suspects) != len(in.Labels) {
		t.Fatalf("%d of %d labels are ranked", len(r.Suspects), len(in.Labels))
	}
	for i, s := range r.Suspects {
		cell := int(s.Bag)*in.Classes + int(s.Class)
		near(t, "rho", s.Rho(), f.Expected.Rho1.Data[cell])
		near(t, "audit score", 1-s.Error(), f.Expected.AuditScore.Data[cell])
		near(t, "p", s.P, float64(f.Inputs.PredProbs.Data[cell]))
		if i < len(f.Expected.AuditRank.Data) && cell != f.Expected.AuditRank.Data[i] {
			t.Errorf("rank %d is cell %d, want %d", i+1, cell, f.Expected.AuditRank.Data[i])
		}
	}
}

func TestConfident_AgreesWithCleanlab(t *testing.T) {
	f, in := fixture(t)
	p, k := f.Inputs.PredProbs.Data, in.Classes
	for i, z := range in.Labels {
		if s := float64(p[i]); z == 1 {
			near(t, "self-confidence", s, f.Expected.SelfConfidence.Data[i])
		}
	}
	var of rows.Aggregate
	for i := range in.Bags {
		of.Reset()
		for _, s := range f.Expected.SelfConfidence.Data[i*k : (i+1)*k] {
			of.Add(1 - s)
		}
		q, _ := of.Quality()
		near(t, "quality of a bag", q, f.Expected.QualityScore.Data[i])
	}
	flagged := map[int]bool{}
	for c := range k {
		var column []float32
		var z []uint8
		for i := range in.Bags {
			column, z = append(column, p[i*k+c]), append(z, in.Labels[i*k+c])
		}
		got := confident(column, z)
		if !slices.Equal(got, f.Expected.IssuesPerClass[c]) {
			t.Errorf("class %d: %v, want %v", c, got, f.Expected.IssuesPerClass[c])
		}
		for _, i := range got {
			flagged[i] = true
		}
		joint := labels.CountConfident(z, 2, func(i int, p []float64) {
			p[0], p[1] = 1-float64(column[i]), float64(column[i])
		})
		for z, threshold := range joint.Thresholds {
			near(t, "threshold", threshold, f.Expected.Thresholds.Data[2*c+z])
		}
	}
	var ranked []int
	for _, i := range f.Expected.QualityRank.Data {
		if flagged[i] {
			ranked = append(ranked, i)
		}
	}
	if !slices.Equal(ranked, f.Expected.IssuesRanked.Data) {
		t.Errorf("bags with an issue %v, want %v", ranked, f.Expected.IssuesRanked.Data)
	}
}

func TestConfident_FindsNothingAmongEqualLabels(t *testing.T) {
	for z := range uint8(2) {
		if got := confident([]float32{.9, .1}, []uint8{z, z}); got != nil {
			t.Errorf("all %d: %v", z, got)
		}
	}
}

// noisy draws bags of classes with rates .3 and .05, scores as they are, and the truth.
func noisy(bags, classes int) Input {
	in := Input{Bags: bags, Classes: classes, Rates: &labels.Rates{}}
	s := rng.New(3)
	for range classes {
		in.Rates.Q01, in.Rates.Q10 = append(in.Rates.Q01, .3), append(in.Rates.Q10, .05)
	}
	for range bags * classes {
		o := s.Normal(-1.5, 3)
		y := uint8(0)
		if s.Float64() < rates.Sigmoid(o) {
			y = 1
		}
		z := y
		if u := s.Float64(); y == 1 && u < .3 || y == 0 && u < .05 {
			z = 1 - y
		}
		in.Logits, in.Truth, in.Labels = append(in.Logits, float32(o)), append(in.Truth, y), append(in.Labels, z)
	}
	return in
}

// With the right rates the probabilities match the outcomes: among the first suspects as many are wrong as
// expected, and expected numbers per class are near the true ones.
func TestAtPrecision_KeepsWhatItPromises(t *testing.T) {
	in := noisy(4000, 5)
	r := expect.Value(Run(in, .01))(t)
	last := len(r.Suspects)
	for _, precision := range []float64{.8, .9, .95, .99} {
		k := AtPrecision(r.Suspects, precision)
		if k == 0 || k > last {
			t.Fatalf("precision %g: %d labels, %d at the one before", precision, k, last)
		}
		last = k
		if got := float64(ExpectedPrecision(r.Suspects[:k])); got < precision {
			t.Errorf("precision %g: %d labels of expected precision %g", precision, k, got)
		}
		if k < len(r.Suspects) && r.Suspects[k].Error() >= .5 &&
			float64(ExpectedPrecision(r.Suspects[:k+1])) >= precision {
			t.Errorf("precision %g: one label more would do", precision)
		}
		hits := 0
		for _, s := range r.Suspects[:k] {
			cell := int(s.Bag)*in.Classes + int(s.Class)
			hits += int(in.Labels[cell] ^ in.Truth[cell])
		}
		expected := float64(ExpectedPrecision(r.Suspects[:k]))
		slack := 3 * math.Sqrt(expected*(1-expected)/float64(k))
		if found := float64(hits) / float64(k); math.Abs(found-expected) > slack {
			t.Errorf("of %d labels %.3f are wrong, expected were %.3f ± %.3f", k, found, expected, slack)
		}
	}
	for c, class := range r.Classes {
		incorrect, missing := 0.0, 0.0
		for i := c; i < len(in.Labels); i += in.Classes {
			if in.Labels[i] > in.Truth[i] {
				incorrect++
			} else if in.Labels[i] < in.Truth[i] {
				missing++
			}
		}
		if math.Abs(class.ExpectedIncorrect-incorrect) > 4*math.Sqrt(incorrect) ||
			math.Abs(class.ExpectedMissing-missing) > 4*math.Sqrt(missing) {
			t.Errorf("class %d: expected %.0f incorrect and %.0f missing, there are %.0f and %.0f",
				c, class.ExpectedIncorrect, class.ExpectedMissing, incorrect, missing)
		}
	}
	if k := AtPrecision(nil, .9); k != 0 {
		t.Errorf("no suspects: %d", k)
	}
	if k := AtPrecision(r.Suspects, 0); k >= len(r.Suspects) || r.Suspects[k-1].Error() < .5 {
		t.Errorf("precision 0 takes %d labels, some more likely right than wrong", k)
	}
}

func TestRun_LeavesOutClassesOfUnknownRates(t *testing.T) {
	in := noisy(300, 3)
	in.Rates.Q01[1], in.Rates.Q10[1] = math.NaN(), math.NaN()
	r := expect.Value(Run(in, .2))(t)
	for _, s := range r.Suspects {
		if s.Class == 1 {
			t.Fatalf("a label of a class of unknown rates is suspected: %+v", s)
		}
	}
	if c := r.Classes[1]; c.Audited || c.Positives == 0 || c.ExpectedMissing != 0 {
		t.Errorf("the class is %+v", c)
	}
	audited := r.Classes[0]
	if !audited.Audited || audited.Incorrect+audited.Missing == 0 || audited.Incorrect == audited.Missing {
		t.Errorf("another class is %+v", audited)
	}
	report := Report{Input: in, Result: r}
	if s := report.Summary(0).Classes[0]; s.Incorrect != audited.Incorrect || s.Missing != audited.Missing ||
		float64(s.ExpectedIncorrect) != audited.ExpectedIncorrect ||
		float64(s.ExpectedMissing) != audited.ExpectedMissing {
		t.Errorf("the class is %+v in the summary, %+v in the result", s, audited)
	}
}

// Near certainty keeps its order: probabilities that float64 rounds to 1 have different log-odds.
func TestRun_KeepsTheOrderOfNearCertainty(t *testing.T) {
	in := Input{Bags: 3, Classes: 1, Logits: []float32{-60, -9000, -80}, Labels: []uint8{1, 1, 1},
		Rates: &labels.Rates{Q01: []float64{.1}, Q10: []float64{.1}}}
	r := expect.Value(Run(in, .5))(t)
	if len(r.Suspects) != 3 || r.Suspects[0].Bag != 1 || r.Suspects[1].Bag != 2 || r.Suspects[2].Bag != 0 {
		t.Errorf("suspects %+v", r.Suspects)
	}
}

func TestJudge_PrefersThePosteriorWhereRatesDiffer(t *testing.T) {
	in := noisy(3000, 4)
	j, err := Judge(in, []int{10, 100, 1 << 20})
	expect.OK(t, err)
	if !(j.Posterior.AP > j.Difference.AP+.02) {
		t.Errorf("AP of the posterior %.3f, of |z-p| %.3f", j.Posterior.AP, j.Difference.AP)
	}
	if !(j.Posterior.PrecisionAt[10] >= .9) || !(j.Posterior.PrecisionAt[100] >= .8) ||
		j.Posterior.PrecisionAt[1<<20].Defined() || len(j.Posterior.PrecisionAt) != 3 {
		t.Errorf("precision at k: %v", j.Posterior.PrecisionAt)
	}
	// Among labels of one kind and one rate both orders are the same.
	one := noisy(3000, 1)
	j, err = Judge(one, nil)
	expect.OK(t, err)
	near(t, "AP of incorrect labels", float64(j.Posterior.IncorrectAP), float64(j.Difference.IncorrectAP))
	near(t, "AP of missing labels", float64(j.Posterior.MissingAP), float64(j.Difference.MissingAP))
	n := j.Confident.Labels
	near(t, "flagged labels that are wrong, by precision and by recall", float64(j.Confident.Precision)*float64(n),
		float64(j.Confident.Recall)*float64(j.Wrong))
	if n == 0 || !(j.Confident.Precision > .3) || !(j.Confident.Recall > .3) {
		t.Errorf("confident learning: %+v", j.Confident)
	}
	judged, err := Judge(one, []int{n})
	if err != nil || judged.Posterior.PrecisionAt[n] != j.Confident.PosteriorPrecision {
		t.Errorf("precision at %d is %v, %v, beside confident learning %v",
			n, judged.Posterior.PrecisionAt[n], err, j.Confident.PosteriorPrecision)
	}
}

// By hand. Among the labels given, the wrong one comes first: AP 1. Among the labels not given, it comes
// second: AP 1/2. Among all, the wrong ones come first and fourth: AP (1/1 + 2/4)/2.
func TestRank_ByHand(t *testing.T) {
	scores := []float32{.9, .5, .8, .3}
	z, truth := []uint8{1, 1, 0, 0}, []uint8{0, 1, 0, 1}
	r := expect.Value(Rank(scores, z, truth, []int{1, 2}))(t)
	near(t, "AP of incorrect labels", float64(r.IncorrectAP), 1)
	near(t, "AP of missing labels", float64(r.MissingAP), .5)
	near(t, "AP", float64(r.AP), .75)
	near(t, "precision of the first", float64(r.PrecisionAt[1]), 1)
	near(t, "precision of the first two", float64(r.PrecisionAt[2]), .5)
}

// Labels of a class with unknown rates come after all others in the order that is judged.
func TestJudge_ClassesOfUnknownRatesComeLast(t *testing.T) {
	in := small()
	in.Truth = []uint8{1, 0, 0, 1, 0, 1} // "dog" is wrong of the first and the last bag
	in.Rates.Q01[0], in.Rates.Q10[0] = math.NaN(), math.NaN()
	j := expect.Value(Judge(in, []int{2, 3}))(t)
	near(t, "AP", float64(j.Posterior.AP), 1)
	near(t, "precision of the first two", float64(j.Posterior.PrecisionAt[2]), 1)
	near(t, "precision of the first three", float64(j.Posterior.PrecisionAt[3]), 2./3)
}
