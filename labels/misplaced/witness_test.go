package misplaced

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"nmn/eval"
	"nmn/internal/expect"
	"nmn/internal/rng"
)

// pictures are the captions of a simulation, and what is true of them.
type pictures struct {
	classes  int
	captions [][][]int32 // as they are found
	own      [][][]int32 // before some were replaced
	foreign  [][]bool
	truth    []uint8 // bags × classes
}

// replaced simulates pictures with five captions each; of5 of them belong to other pictures. A picture has
// one of ten topics, and half the words of its topic hold. Captions mention a third of the words that hold,
// and hardly any other.
func replaced(bags, of5 int) *pictures {
	const classes, topics, captions = 60, 10, 5
	p := &pictures{classes: classes, truth: make([]uint8, bags*classes)}
	for n := range bags {
		s := rng.New(7, n)
		topic := s.Intn(topics)
		truth := p.truth[n*classes : (n+1)*classes]
		for c := range truth {
			rate := .08
			if c%topics == topic || c/6 == topic {
				rate = .5
			}
			if s.Float64() < rate {
				truth[c] = 1
			}
		}
		of := make([][]int32, captions)
		for i := range of {
			for c, y := range truth {
				if s.Float64() < []float64{.003, .35}[y] {
					of[i] = append(of[i], int32(c))
				}
			}
		}
		p.own = append(p.own, of)
	}
	for n, own := range p.own {
		s := rng.New(8, n)
		of, foreign := slices.Clone(own), make([]bool, captions)
		for _, slot := range rand.New(&s).Perm(captions)[:of5] {
			of[slot], foreign[slot] = p.own[(n+1+s.Intn(bags-1))%bags][s.Intn(captions)], true
		}
		p.captions, p.foreign = append(p.captions, of), append(p.foreign, foreign)
	}
	return p
}

// unlessShort skips what measures numbers of thousands of bags under -short, which is for the race detector.
func unlessShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("thousands of bags")
	}
}

func find(t *testing.T, in Input) *Result {
	t.Helper()
	return expect.Value(Find(context.Background(), in, DefaultOptions()))(t)
}

func finderOf(t *testing.T, in Input) *finder {
	t.Helper()
	return expect.Value(newFinder(context.Background(), in, Options{Seed: 1}))(t)
}

// auc is the probability that a foreign caption has less than an own one.
func auc(r *Result, foreign [][]bool) float64 { return float64(r.Judge(foreign, r.Kept(.5)).AUC) }

// dropped is the number of captions below a threshold.
func dropped(r *Result, threshold float64) (n int) {
	for _, kept := range r.Kept(threshold) {
		for _, k := range kept {
			if !k {
				n++
			}
		}
	}
	return n
}

// scored returns scores of a classifier with some information on the truth.
func (p *pictures) scored(strength float64) []float32 {
	scores := make([]float32, len(p.truth))
	s := rng.New(5)
	for i, y := range p.truth {
		scores[i] = float32(s.Normal(strength*(float64(y)-.5), 1))
	}
	return scores
}

// Scores judge pictures with one or two captions, and the share that they find is near the true one.
func TestFind_JudgesFewCaptionsByScores(t *testing.T) {
	unlessShort(t)
	for captions := 1; captions <= 2; captions++ {
		p := replaced(2000, 2)
		for n := range p.captions {
			p.captions[n], p.foreign[n] = p.captions[n][:captions], p.foreign[n][:captions]
		}
		r, err := Find(t.Context(), Input{Classes: p.classes, Captions: p.captions, Scores: p.scored(2)}, DefaultOptions())
		expect.OK(t, err)
		if !(r.Foreign > .35 && r.Foreign < .45) || r.Interval.Low > .4 || r.Interval.High < .4 {
			t.Errorf("%d captions each: %.3f foreign, from %.3f to %.3f, want about .4", captions, r.Foreign,
				r.Interval.Low, r.Interval.High)
		}
		if j := r.Judge(p.foreign, r.Kept(.5)); j.AUC < .85 {
			t.Errorf("%d captions each: AUC %.3f", captions, j.AUC)
		}
	}
}

func TestFind_CaptionsOfScenes(t *testing.T) {
	unlessShort(t)
	for _, test := range []struct {
		of5        int
		scores     float64 // strength; 0 for none
		low, high  float64 // share found
		auc        float64 // at least
		dropAtMost float64
	}{
		{of5: 0, high: .02, dropAtMost: .01},
		{of5: 1, low: .17, high: .28, auc: .92, dropAtMost: .3},
		{of5: 2, low: .37, high: .5, auc: .9, dropAtMost: .5},
		{of5: 2, scores: 2, low: .37, high: .48, auc: .95, dropAtMost: .5},
		{of5: 3, scores: 2, low: .55, high: .68, auc: .85, dropAtMost: .75},
		{of5: 4, scores: 2, low: .7, high: .88, auc: .75, dropAtMost: 1},
	} {
		p := replaced(2000, test.of5)
		in := Input{Classes: p.classes, Captions: p.captions}
		if test.scores > 0 {
			in.Scores = p.scored(test.scores)
		}
		r := find(t, in)
		share := float64(dropped(r, .5)) / 10000
		t.Logf("%d of 5 foreign, scores %g: share %.3f, interval %.3f, dropped %.3f, AUC %.3f, gain %.3f", test.of5,
			test.scores, r.Foreign, r.Interval, share, auc(r, p.foreign), r.Gain)
		if r.Refusal != "" {
			t.Errorf("%d of 5 foreign, scores %g: refused: %s", test.of5, test.scores, r.Refusal)
		}
		if r.ByScores != (test.of5 == 4) || r.Foreign < test.low || r.Foreign > test.high || share > test.dropAtMost ||
			test.of5 > 0 && !(auc(r, p.foreign) > test.auc) {
			t.Errorf("%d of 5 foreign, scores %g: out of what is expected: %+v", test.of5, test.scores, test)
		}
		if share := eval.Number(r.Foreign); !(r.Interval.Low <= share && share <= r.Interval.High) {
			t.Errorf("%d of 5 foreign: the share %g is not in its interval %v", test.of5, r.Foreign, r.Interval)
		}
		if truth := eval.Number(test.of5) / 5; truth < r.Interval.Low || truth > r.Interval.High {
			t.Errorf("%d of 5 foreign: the interval %v does not hold the true share", test.of5, r.Interval)
		}
	}
}

// Foreign captions are found if they come mostly to some bags, all from one other bag, or from similar bags.
// The topics of the simulation are few, so bags of the same topic are similar.
func TestFind_KindsOfForeignCaptions(t *testing.T) {
	unlessShort(t)
	for _, test := range []struct {
		kind        string
		off         float64 // error of the share, at most
		auc, recall float64 // at least; recall at an expected precision of .9
	}{
		{kind: "uneven", off: .06, auc: .94, recall: .7},
		{kind: "pair", off: .06, auc: .9, recall: .45},
		{kind: "similar", off: .2, auc: .85},
	} {
		p := replaced(2000, 0)
		foreign := 0
		for n := range p.captions {
			s := rng.New(11, n)
			slots := rand.New(&s).Perm(5)[:2]
			if test.kind == "uneven" {
				slots = slots[:0]
				for c := range 5 {
					if s.Float64() < []float64{.05, .1, .9}[n%3] {
						slots = append(slots, c)
					}
				}
			}
			donor := (n + 1 + s.Intn(1999)) % 2000
			for i, slot := range slots {
				switch {
				case test.kind == "similar":
					donor = p.likest(n, &s)
				case test.kind == "uneven":
					donor = (n + 1 + s.Intn(1999)) % 2000
				}
				p.captions[n][slot], p.foreign[n][slot] = p.own[donor][i], true
				foreign++
			}
		}
		r := find(t, Input{Classes: p.classes, Captions: p.captions})
		threshold, _ := r.Precision(.9)
		share, j := float64(foreign)/10000, r.Judge(p.foreign, r.Kept(threshold))
		t.Logf("%s: share %.3f of %.3f, %+v", test.kind, r.Foreign, share, j)
		if r.Refusal != "" || math.Abs(r.Foreign-share) > test.off || !(float64(j.AUC) > test.auc) ||
			!(float64(j.Recall) > test.recall) || j.Precision < .8 {
			t.Errorf("%s: out of what is expected: %+v, refused %q", test.kind, test, r.Refusal)
		}
	}
}

// likest is the bag of ten random ones whose truth is most like that of a bag.
func (p *pictures) likest(n int, s *rng.Stream) (likest int) {
	most := -1
	for range 10 {
		other, same := (n+1+s.Intn(len(p.own)-1))%len(p.own), 0
		for c := range p.classes {
			if p.truth[n*p.classes+c] == 1 && p.truth[other*p.classes+c] == 1 {
				same++
			}
		}
		if same > most {
			likest, most = other, same
		}
	}
	return likest
}

// If four of five captions are foreign, the rest find no caption to agree with: nothing is dropped.
func TestFind_RefusesWhatCannotBeTold(t *testing.T) {
	unlessShort(t)
	p := replaced(2000, 4)
	k := p.classes
	lone := make([][][]int32, len(p.own))
	for n := range lone {
		lone[n] = p.own[n][:1]
	}
	equal := make([][][]int32, 500)
	for n := range equal {
		equal[n] = [][]int32{{1, 2}, {1, 2}}
	}
	for name, in := range map[string]Input{
		"most foreign":  {Classes: k, Captions: p.captions},
		"one a bag":     {Classes: k, Captions: lone},
		"all equal":     {Classes: k, Captions: equal},
		"no words":      {Classes: k, Captions: make2(500, 3)},
		"few":           {Classes: k, Captions: p.own[:10]},
		"one bag":       {Classes: k, Captions: [][][]int32{slices.Concat(p.own[:100]...)}},
		"no captions":   {Classes: k, Captions: make([][][]int32, 7)},
		"no bags":       {Classes: k},
		"random scores": {Classes: k, Captions: p.captions, Scores: make([]float32, 2000*k)},
	} {
		t.Run(name, func(t *testing.T) {
			r := find(t, in)
			if r.Refusal == "" {
				t.Errorf("nothing is refused; the share is %g, the gain %g", r.Foreign, r.Gain)
			}
			if len(in.Captions) > 0 && len(in.Captions[0]) > 0 { // nothing is known of them, or something
				r.Reasons(0, 0, 3)
			}
			if threshold, dropped := r.Precision(.1); threshold != 0 || dropped != 0 {
				t.Errorf("%d captions can be dropped below %g", dropped, threshold)
			}
			for n, kept := range r.Kept(1) {
				for c, k := range kept {
					if p := r.Own[n][c]; !k || math.IsNaN(p) || p < 0 || p > 1 {
						t.Fatalf("bag %d, caption %d: kept %t, own %g", n, c, k, p)
					}
				}
			}
		})
	}
}

func make2(bags, captions int) [][][]int32 {
	out := make([][][]int32, bags)
	for n := range out {
		out[n] = make([][]int32, captions)
	}
	return out
}

// Bags differ: none, one or many captions, with and without scores.
func TestFind_BagsOfAllKinds(t *testing.T) {
	unlessShort(t)
	p := replaced(2000, 2)
	k, captions, foreign := p.classes, p.captions, p.foreign
	in := Input{Classes: k, Captions: captions}
	for n := range captions {
		switch n % 5 {
		case 0:
			captions[n], foreign[n] = captions[n][:n/5%3], foreign[n][:n/5%3]
		case 1:
			captions[n], foreign[n] = captions[n][:3], foreign[n][:3]
		}
	}
	for n := 1000; n < 1200; n++ { // many captions in one bag, as many foreign ones as elsewhere, and they agree
		captions[7] = append(slices.Clone(captions[7]), captions[n]...)
		captions[n], foreign[n] = nil, nil
	}
	foreign[7] = nil // which of these are its own is unknown
	all := p.scored(2)
	for n := 1; n < len(captions); n += 2 {
		in.Scored = append(in.Scored, n)
		in.Scores = append(in.Scores, all[n*k:(n+1)*k]...)
	}
	r := find(t, in)
	if len(r.Own[7]) < 700 {
		t.Errorf("bag 7 has %d captions", len(r.Own[7]))
	}
	if r.Refusal != "" || r.Foreign < .3 || r.Foreign > .5 || auc(r, p.foreign) < .9 {
		t.Errorf("share %g, AUC %g, %q", r.Foreign, auc(r, p.foreign), r.Refusal)
	}
	for n, kept := range r.Kept(1) { // no evidence for or against them
		if len(captions[n]) == 1 && n%2 == 0 && !kept[0] {
			t.Fatalf("bag %d: its only caption, without scores, is dropped", n)
		}
	}
	if len(r.Remarks) == 0 {
		t.Error("captions without witnesses are not told of")
	}
}

func TestFind_DependsOnInputAndSeedAlone(t *testing.T) {
	bags := 1000
	if testing.Short() {
		bags = 300
	}
	p := replaced(bags, 3)
	in := Input{Classes: p.classes, Captions: p.captions, Scores: p.scored(1)}
	want := find(t, in)
	before := runtime.GOMAXPROCS(1)
	one := find(t, in)
	runtime.GOMAXPROCS(5)
	five := find(t, in)
	runtime.GOMAXPROCS(before)
	for _, got := range []*Result{one, five} {
		if !reflect.DeepEqual(got.Own, want.Own) || got.Interval != want.Interval || !slices.Equal(got.A, want.A) {
			t.Fatal("the result depends on the number of goroutines")
		}
	}
	other := expect.Value(Find(context.Background(), in, Options{Seed: 2}))(t)
	if math.Abs(other.Foreign-want.Foreign) > .1 {
		t.Errorf("with another seed the share is %g, was %g", other.Foreign, want.Foreign)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Find(ctx, in, Options{}); err != context.Canceled {
		t.Errorf("after a signal: %v", err)
	}
}

func TestReasons_NameWhatSpeaksAgainst(t *testing.T) {
	unlessShort(t)
	p := replaced(2000, 1)
	captions, foreign := p.captions, p.foreign
	r := find(t, Input{Classes: p.classes, Captions: captions})
	against, checked := 0, 0
	for n, of := range foreign {
		for c, f := range of {
			if !f || r.Own[n][c] > .2 || len(captions[n][c]) == 0 {
				continue
			}
			checked++
			reasons := r.Reasons(n, c, 3)
			for i, reason := range reasons {
				if reason.Weight >= 0 || i > 0 && reason.Weight < reasons[i-1].Weight ||
					reason.Mentioned != slices.Contains(captions[n][c], int32(reason.Class)) {
					t.Fatalf("bag %d, caption %d: %+v", n, c, reasons)
				}
			}
			if len(reasons) > 0 && reasons[0].Mentioned && !slices.Contains(p.own[n][c], int32(reasons[0].Class)) {
				against++
			}
		}
	}
	if checked < 500 || float64(against) < .4*float64(checked) {
		t.Errorf("of %d captions that are foreign, a word of the foreign one speaks most against %d", checked, against)
	}
}

// The share is found somewhat too high, and with it the precision.
func TestPrecision_DropsWhatIsForeignAtThatRate(t *testing.T) {
	unlessShort(t)
	p := replaced(3000, 2)
	foreign := p.foreign
	r := find(t, Input{Classes: p.classes, Captions: p.captions})
	before := len(foreign) * 5
	for _, precision := range []float64{.6, .8, .95, .999} {
		threshold, n := r.Precision(precision)
		if below := dropped(r, threshold); below != n || n > before || n < 500 && precision < .99 {
			t.Errorf("precision %g: %d below %g, told %d", precision, below, threshold, n)
		}
		if got := r.Judge(foreign, r.Kept(threshold)).Precision; n > 0 && float64(got) < precision-.13 {
			t.Errorf("precision %g: %.3f of %d are foreign", precision, got, n)
		}
		before = n
	}
}

func TestCheck_NamesWhatIsWrong(t *testing.T) {
	good := Input{Classes: 3, Captions: [][][]int32{{{0, 2}}, {{1}, {}}}}
	expect.OK(t, good.Check())
	nan := float32(math.NaN())
	for name, in := range map[string]Input{
		"no classes":   {Captions: good.Captions},
		"short scores": {Classes: 3, Captions: good.Captions, Scores: make([]float32, 5)},
		"NaN":          {Classes: 3, Captions: good.Captions, Scores: []float32{0, 0, 0, 0, nan, 0}},
		"other scores": {Classes: 3, Captions: good.Captions, Scores: make([]float32, 6), Scored: []int{1}},
	} {
		if _, err := Find(context.Background(), in, DefaultOptions()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
