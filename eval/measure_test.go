package eval

import (
	"errors"
	"math"
	"slices"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
)

func TestRank_IsTheStableDescendingOrder(t *testing.T) {
	special := []float32{0, float32(math.Copysign(0, -1)), 1, -1, float32(math.Inf(1)), float32(math.Inf(-1)),
		math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, .5}
	var r ranker
	for trial := range 60 {
		s := rng.New(3, trial)
		scores := make([]float32, s.Intn(400))
		for i := range scores {
			switch s.Intn(3) {
			case 0:
				scores[i] = special[s.Intn(len(special))]
			case 1:
				scores[i] = float32(s.Intn(5)) / 4
			default:
				scores[i] = float32(s.Normal(0, 1))
			}
		}
		want := make([]int, len(scores))
		for i := range want {
			want[i] = i
		}
		slices.SortStableFunc(want, func(a, b int) int {
			switch {
			case scores[a] > scores[b]:
				return -1
			case scores[a] < scores[b]:
				return 1
			}
			return 0
		})
		got := r.rank(scores)
		for i := range want {
			if got.row(i) != want[i] {
				t.Fatalf("trial %d: rank %d is row %d, want %d", trial, i, got.row(i), want[i])
			}
			if i > 0 && got.tied(i-1, i) != (scores[want[i-1]] == scores[want[i]]) {
				t.Fatalf("trial %d: rank %d: tie not seen", trial, i)
			}
		}
	}
}

// TestHumanAgreement_FollowsThePrintedFormula writes the definition out in floating point: each
// step of its own, without the integer arithmetic of the product.
func TestHumanAgreement_FollowsThePrintedFormula(t *testing.T) {
	for trial := range 40 {
		s := rng.New(11, trial)
		n, k := 1+s.Intn(80), 2+s.Intn(20)
		scores, counts := make([]float32, n), make([]uint8, n)
		for i := range scores {
			scores[i] = float32(s.Intn(30)) / 30
			counts[i] = uint8(max(0, s.Intn(2*k+1)-k))
		}
		order := new(ranker).rank(scores)
		got := agreement(order, counts, k)
		var tp, fp, total float64
		for _, c := range counts {
			total += float64(c) * (1 - 1/float64(k))
		}
		if total == 0 {
			if got.AP.Defined() {
				t.Errorf("AP %v of a word never seen", got.AP)
			}
			continue
		}
		p, r := make([]float64, n), make([]float64, n+1)
		for i := range order {
			c := float64(counts[order.row(i)])
			tp += c * (1 - 1/float64(k))
			switch c {
			case 0:
				fp++
			case 1:
				fp += 1 / float64(k)
			}
			p[i], r[i+1] = tp/(tp+fp), tp/total
		}
		ap := 0.0
		for i := range p {
			ap += (r[i+1] - r[i]) * slices.Max(p[i:])
		}
		if math.Abs(float64(got.AP)-ap) > 1e-12 {
			t.Errorf("trial %d: AP %v, formula %v", trial, got.AP, ap)
		}
	}
}

func TestAveragePrecision_RefusesBadInput(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	_, _, label := AveragePrecision([]float32{1}, []uint8{2})
	_, _, score := AveragePrecision([]float32{nan}, []uint8{1})
	_, plugIn := PlugInThreshold([]float32{inf}, false)
	_, plugInNaN := PlugInThreshold([]float32{nan}, true)
	for i, err := range []error{label, score, plugIn, plugInNaN} {
		if !errors.Is(err, ErrValue) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}

func TestPlugInThreshold_IsTheBestOfAllThresholds(t *testing.T) {
	for trial := range 60 {
		s := rng.New(5, trial)
		p := make([]float32, 1+s.Intn(300))
		total := 0.0
		for i := range p {
			p[i] = float32(math.Pow(s.Float64(), 1+float64(trial%6)))
			if trial%2 == 0 {
				p[i] = float32(math.Round(float64(p[i])*8) / 8)
			}
			total += float64(p[i])
		}
		expected := func(theta float64) float64 {
			n, sum := 0.0, 0.0
			for _, v := range p {
				if float64(v) >= theta {
					n++
					sum += float64(v)
				}
			}
			return 2 * sum / (n + total)
		}
		best := 0.0
		for _, v := range p {
			best = max(best, expected(float64(v)))
		}
		theta, err := PlugInThreshold(p, false)
		expect.OK(t, err)
		if total == 0 {
			continue
		}
		if got := expected(theta); math.Abs(got-best) > 1e-12 {
			t.Errorf("trial %d: threshold %v gives %v, the best gives %v", trial, theta, got, best)
		}
		if !slices.Contains(p, float32(theta)) {
			t.Errorf("trial %d: %v is none of the probabilities", trial, theta)
		}
	}
	if theta, err := PlugInThreshold([]float32{0, 0}, false); err != nil || theta != 1 {
		t.Errorf("all zero: %v, %v", theta, err)
	}
}

func TestTopClasses_LowerIndexWinsTies(t *testing.T) {
	for _, c := range []struct {
		row  []float32
		want []int32
	}{
		{[]float32{.1, .9, .5, .9, .5}, []int32{1, 3, 2}},
		{[]float32{.5, .5, .5, .5}, []int32{0, 1, 2}},
		{[]float32{.1, .2, .3, .4}, []int32{3, 2, 1}},
	} {
		best := make([]int32, 3)
		topClasses(c.row, best)
		if !slices.Equal(best, c.want) {
			t.Errorf("%v: classes %v, want %v", c.row, best, c.want)
		}
	}
}

func TestCalibration_BinsAreClosedAbove(t *testing.T) {
	for p, want := range map[float64]int{0: 0, 1e-9: 0, 1. / 15: 0, .0667: 1, 1: 14, .5: 7} {
		if got := binOf(p); got != want {
			t.Errorf("%v is in bin %d, want %d", p, got, want)
		}
	}
	var c calibration
	if b, e := c.brier(), c.probability.error(); b.Defined() || e.Defined() {
		t.Errorf("of nothing: %v %v", b, e)
	}
	c.add([]float64{.8, .8, .2}, []uint8{1, 0, 0})
	if b, e := c.brier(), c.probability.error(); math.Abs(float64(b)-.24) > 1e-12 || math.Abs(float64(e)-.8/3) > 1e-12 {
		t.Errorf("Brier %v, ECE %v; want .24 and .26667", b, e)
	}
}

func TestF1_ClassMeansAndOverallDiffer(t *testing.T) {
	of := []confusion{{hits: 1, predicted: 1, positives: 4}, {}, {hits: 3, predicted: 6, positives: 3}}
	f := newF1([]int{0, 1, 2}, func(c int) confusion { return of[c] })
	want := F1{OP: 4. / 7, OR: 4. / 7, OF1: 4. / 7, CP: .5, CR: 1.25 / 3, CF1: Number(harmonic(.5, 1.25/3)),
		MacroF1: Number((.4 + 2./3) / 3)}
	if math.Abs(float64(f.OF1-want.OF1)) > 1e-12 || f.CP != want.CP || f.CR != want.CR || f.CF1 != want.CF1 ||
		math.Abs(float64(f.MacroF1-want.MacroF1)) > 1e-12 {
		t.Errorf("%+v, want %+v", f, want)
	}
	if empty := newF1(nil, nil); empty.OF1.Defined() || empty.CF1.Defined() {
		t.Errorf("of no class: %+v", empty)
	}
}

// bestBySorting tries every prefix of the sorted probabilities.
func bestBySorting(p []float64) (theta float64) {
	slices.SortFunc(p, func(a, b float64) int {
		if a > b {
			return -1
		}
		return 1
	})
	all, sum, best := 0.0, 0.0, -1.0
	for _, v := range p {
		all += v
	}
	for i, v := range p {
		sum += v
		if f := 2 * sum / (float64(i+1) + all); f > best && (i+1 == len(p) || p[i+1] != v) {
			best, theta = f, v
		}
	}
	return theta
}

func TestPlugInThresholds_AreTheBestOfAllCuts(t *testing.T) {
	const bags, classes = 400, 7
	s := rng.New(5)
	scores := make([]float32, bags*classes)
	for i := range scores {
		scores[i] = float32(s.Normal(float64(i%classes)-4, 2))
	}
	got, err := PlugInThresholds(scores, bags, classes, true)
	expect.OK(t, err)
	for c := range classes {
		var p []float64
		for i := range bags {
			p = append(p, sigmoid(float64(scores[i*classes+c])))
		}
		if want := bestBySorting(p); math.Abs(got[c]-want) > 1e-12 {
			t.Errorf("class %d: threshold %.12f, want %.12f", c, got[c], want)
		}
	}
	if _, err := PlugInThresholds(scores[1:], bags, classes, true); !errors.Is(err, ErrShape) {
		t.Errorf("one score too few: %v", err)
	}
}
