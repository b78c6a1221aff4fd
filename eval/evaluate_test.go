package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"

	dense "gorgonia.org/tensor"

	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/labels"
	"nmn/text"
)

// drawInput makes a test set with tied scores, all references and all groups.
func drawInput(t testing.TB, bags, classes int) Input {
	t.Helper()
	r := rng.New(7, bags, classes)
	words := make([]text.Word, classes)
	for c := range words {
		words[c] = text.Word{Text: "w" + strings.Repeat("x", c%5) + string(rune('a'+c%26)) + strings.Repeat("y", c/26),
			POS: text.POS(c % text.POSCount)}
	}
	v, err := text.NewVocabulary(words)
	expect.OK(t, err)
	in := Input{Bags: bags, Classes: classes, CaptionsPerSample: 5, Vocabulary: v}
	for range bags * classes {
		y := uint8(0)
		if r.Float64() < .3 {
			y = 1
		}
		s := .6*float64(y)*r.Float64() + .4*r.Float64()
		if r.Float64() < .5 {
			s = math.Round(s*16) / 16
		}
		count := uint8(0)
		for range 5 {
			if r.Float64() < .5*float64(y) {
				count++
			}
		}
		in.Scores = append(in.Scores, float32(s))
		in.Observed = append(in.Observed, float32(s*.8+.1))
		in.Truth, in.Counts = append(in.Truth, y), append(in.Counts, count)
	}
	return in
}

func evaluate(t *testing.T, in Input, o Options) *Result {
	t.Helper()
	r, err := Evaluate(in, o)
	expect.OK(t, err)
	return r
}

func TestEvaluate_DoesNotDependOnProcessors(t *testing.T) {
	in := drawInput(t, 211, 37)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := evaluate(t, in, Options{})
	want, _ := json.Marshal(one)
	for _, processors := range []int{2, 3, 16} {
		runtime.GOMAXPROCS(processors)
		many := evaluate(t, in, Options{})
		if got, _ := json.Marshal(many); string(got) != string(want) {
			t.Errorf("%d processors give another result than one", processors)
		}
	}
}

func TestEvaluate_AgreesWithTheMeasuresOfEachWord(t *testing.T) {
	in := drawInput(t, 120, 21)
	r := evaluate(t, in, Options{})
	var verbs []Number
	for c := range in.Classes {
		scores, counts, truth := column(in.Scores, in.Classes, c), column(in.Counts, in.Classes, c),
			column(in.Truth, in.Classes, c)
		a := agreement(new(ranker).rank(scores), counts, 5)
		if *r.Words[c].Human != a {
			t.Errorf("word %d: %+v, alone %+v", c, *r.Words[c].Human, a)
		}
		ap, stable, err := AveragePrecision(scores, truth)
		expect.OK(t, err)
		if w := r.Words[c].Truth; w.AP != ap || w.StableAP != stable {
			t.Errorf("word %d: AP %v and %v, alone %v and %v", c, w.AP, w.StableAP, ap, stable)
		}
		if in.Vocabulary.Word(c).POS == text.VB {
			verbs = append(verbs, a.AP)
		}
	}
	if m, _ := mean(verbs); r.Human.AP.Group[text.VB] != m {
		t.Errorf("mean AP of the verbs: %v, want %v", r.Human.AP.Group[text.VB], m)
	}
	if r.Human.AP.Group[text.VB] == r.Human.AP.All {
		t.Error("the verbs' mean equals the mean of all words")
	}
	if r.GroupSize.All != 21 || r.GroupSize.Group[text.VB] != 3 {
		t.Errorf("group sizes: %+v", r.GroupSize)
	}
}

func column[T any](m []T, k, c int) []T {
	var out []T
	for i := c; i < len(m); i += k {
		out = append(out, m[i])
	}
	return out
}

func TestEvaluate_LabelsDefaultToMentionedWords(t *testing.T) {
	in := drawInput(t, 60, 9)
	implied := evaluate(t, in, Options{})
	in.Labels = make([]uint8, len(in.Counts))
	for i, c := range in.Counts {
		if c > 0 {
			in.Labels[i] = 1
		}
	}
	given := evaluate(t, in, Options{})
	if !reflect.DeepEqual(implied.Labels, given.Labels) || implied.Labels == nil {
		t.Error("labels left out differ from counts above zero")
	}
	if implied.Labels.AP.All == implied.Truth.AP.All {
		t.Error("labels and true labels are not told apart")
	}
}

func TestEvaluate_LogitsRankAndCalibrateAsTheirProbabilities(t *testing.T) {
	in := drawInput(t, 150, 8)
	in.Observed = nil
	p := evaluate(t, in, Options{})
	in.Scores = append([]float32(nil), in.Scores...)
	for i, s := range in.Scores {
		in.Scores[i] = float32(math.Log(float64(s) / (1 - float64(s)))) // also -Inf for 0
	}
	in.Logits = true
	o := evaluate(t, in, Options{})
	for _, c := range []struct {
		name string
		a, b Number
	}{
		{"AP", p.Truth.AP.All, o.Truth.AP.All}, {"Brier", p.Truth.Brier.All, o.Truth.Brier.All},
		{"OF1", p.Truth.AtThreshold.All.OF1, o.Truth.AtThreshold.All.OF1},
		{"top-3", p.Truth.AtTopKThreshold.All.OF1, o.Truth.AtTopKThreshold.All.OF1},
		{"plug-in threshold", Number(p.PlugIn), Number(o.PlugIn)},
		{"OF1 at plug-in", p.Truth.AtPlugIn.All.OF1, o.Truth.AtPlugIn.All.OF1},
	} {
		if !(math.Abs(float64(c.a-c.b)) < 1e-6) {
			t.Errorf("%s: %v from probabilities, %v from log-odds", c.name, c.a, c.b)
		}
	}
}

func TestEvaluate_LogitsKeepApartWhatRoundsToOne(t *testing.T) {
	in := Input{Bags: 2, Classes: 1, Scores: []float32{40, 60}, Labels: []uint8{0, 1}, Logits: true}
	r := evaluate(t, in, Options{})
	if r.Labels.AP.All != 1 {
		t.Errorf("AP %v, want 1: both probabilities round to 1 but the log-odds differ", r.Labels.AP.All)
	}
}

func TestEvaluate_ObservedPredictionIsEvaluatedBeside(t *testing.T) {
	in := drawInput(t, 80, 9)
	in.Observed = append([]float32(nil), in.Scores...)
	in.Observed[3] = 1 - in.Observed[3]
	r := evaluate(t, in, Options{})
	alone := in
	alone.Scores, alone.Observed = in.Observed, nil
	a := evaluate(t, alone, Options{})
	if !reflect.DeepEqual(*r.Observed, a.Measures) || reflect.DeepEqual(r.Measures, a.Measures) {
		t.Error("the observed prediction is not evaluated like a prediction of its own")
	}
}

func TestEvaluate_RefusesWhatHasNoMeaning(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		name   string
		change func(*Input)
		want   error
		says   string
	}{
		{"NaN score", func(in *Input) { in.Scores[9*2+4] = nan }, ErrValue, "row 3 (c), column 5"},
		{"NaN observed", func(in *Input) { in.Observed[0] = nan }, ErrValue, "observed scores: row 1"},
		{"infinite probability", func(in *Input) { in.Scores[0] = float32(math.Inf(1)) }, ErrValue, "row 1"},
		{"scores short", func(in *Input) { in.Scores = in.Scores[1:] }, ErrShape, "3 samples × 9 classes"},
		{"counts of another shape", func(in *Input) { in.Counts = in.Counts[:9] }, ErrShape, "caption counts"},
		{"count above captions", func(in *Input) { in.Counts[10] = 6 }, ErrValue, "row 2 (b), column 2"},
		{"one caption", func(in *Input) { in.CaptionsPerSample = 1 }, ErrValue, "captions per sample"},
		{"label 2", func(in *Input) { in.Labels = make([]uint8, 27); in.Labels[26] = 2 }, ErrValue,
			"row 3 (c), column 9"},
		{"no reference", func(in *Input) { in.Truth, in.Counts = nil, nil }, ErrShape, "hold the scores against"},
		{"no bags", func(in *Input) { in.Bags = 0 }, ErrShape, "nothing to evaluate"},
		{"true label 2", func(in *Input) { in.Truth[3] = 2 }, ErrValue, "true labels"},
		{"truth short", func(in *Input) { in.Truth = in.Truth[1:] }, ErrShape, "true labels"},
		{"words short", func(in *Input) { in.Vocabulary, in.Words = nil, []string{"cat"} }, ErrShape,
			"1 names for 9 classes"},
		{"vocabulary of another size", func(in *Input) { in.Classes = 3; in.Bags = 9; in.IDs = nil }, ErrShape,
			"vocabulary of 9"},
		{"identifiers short", func(in *Input) { in.IDs = in.IDs[:1] }, ErrShape, "identifiers"},
		{"rate above one", func(in *Input) {
			in.Rates = &labels.Rates{Q01: make([]float64, 9), Q10: make([]float64, 9)}
			in.Rates.Q10[2] = 1.1
		}, ErrValue, "class 3"},
		{"rates short", func(in *Input) { in.Rates = &labels.Rates{Q01: make([]float64, 8), Q10: make([]float64, 9)} },
			ErrShape, "8 and 9 rates"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := drawInput(t, 3, 9)
			in.IDs = []string{"a", "b", "c"}
			c.change(&in)
			_, err := Evaluate(in, Options{})
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %v naming %q", err, c.want, c.says)
			}
		})
	}
	if _, err := Evaluate(drawInput(t, 3, 9), Options{Threshold: math.NaN()}); !errors.Is(err, ErrValue) {
		t.Errorf("NaN threshold: %v", err)
	}
}

func TestEvaluate_CountsScoresThatAreNoProbability(t *testing.T) {
	in := drawInput(t, 30, 9)
	in.Scores[5], in.Scores[17] = -2, 1.5
	in.Scores[6], in.Scores[18] = 0, 1 // these are
	r, err := Evaluate(in, Options{})
	expect.OK(t, err)
	if r.OutsideRange != 2 || r.PlugIn < 0 || r.PlugIn > 1 {
		t.Errorf("%d outside the range, plug-in threshold %v", r.OutsideRange, r.PlugIn)
	}
	in.Logits = true
	if r, err = Evaluate(in, Options{}); err != nil || r.OutsideRange != 0 {
		t.Errorf("as log-odds: %d outside the range, %v", r.OutsideRange, err)
	}
}

func TestResult_JSONReadsBackEqual(t *testing.T) {
	in := drawInput(t, 40, 9)
	for i := range in.Bags { // a word never seen
		in.Counts[i*9], in.Truth[i*9] = 0, 0
	}
	in.Rates = &labels.Rates{Q01: make([]float64, 9), Q10: make([]float64, 9)}
	r := evaluate(t, in, Options{})
	b, err := json.Marshal(r)
	expect.OK(t, err)
	if !strings.Contains(string(b), `"ap":null`) || !strings.Contains(string(b), `{"NN":`) {
		t.Errorf("no null for the word never seen, or no group names: %.300s", b)
	}
	var back Result
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if rewritten, _ := json.Marshal(back); string(rewritten) != string(b) {
		t.Error("reading the result back changes it")
	}
	if !math.IsNaN(float64(back.Words[0].Human.AP)) {
		t.Error("null is not read as undefined")
	}
	for _, bad := range []string{`{"NN":1}`, `{"NN":1,"All":2}`, `{}`} {
		if err := json.Unmarshal([]byte(bad), &back.GroupSize); err == nil {
			t.Errorf("groups with columns missing are read: %s", bad)
		}
	}
}

// Labels by name have no parts of speech: every figure is one over all of them.
func TestEvaluate_WithoutPartsOfSpeechHasNoGroups(t *testing.T) {
	in := drawInput(t, 20, 3)
	words := make([]text.Word, 3)
	for c := range words {
		words[c] = text.Word{Text: in.Vocabulary.Word(c).Text, POS: text.Others}
	}
	grouped, err := Evaluate(in, Options{})
	expect.OK(t, err)
	if in.Vocabulary, err = text.NewVocabulary(words); err != nil {
		t.Fatal(err)
	}
	r := evaluate(t, in, Options{})
	if r.GroupSize.Group != nil || r.Labels.AP.Group != nil || r.Labels.AP.All != grouped.Labels.AP.All {
		t.Errorf("groups %v, AP %v, with parts of speech %v", r.GroupSize, r.Labels.AP, grouped.Labels.AP.All)
	}
	b, err := json.Marshal(r.Labels.AP)
	if want := fmt.Sprintf(`{"All":%v}`, float64(r.Labels.AP.All)); err != nil || string(b) != want {
		t.Errorf("written as %s, want %s: %v", b, want, err)
	}
	back := ByGroup[Number]{Group: make([]Number, text.POSCount)}
	if err := json.Unmarshal(b, &back); err != nil || back.Group != nil || back.All != r.Labels.AP.All {
		t.Errorf("read back as %+v: %v", back, err)
	}
}

func TestTransition_ErrorPerClassAndMean(t *testing.T) {
	in := drawInput(t, 30, 3)
	in.Rates = &labels.Rates{Q01: []float64{.3, .2, .1}, Q10: []float64{.1, .1, .1}}
	in.TrueRates = &labels.Rates{Q01: []float64{.4, math.NaN(), .1}, Q10: []float64{.1, .2, .4}}
	r := evaluate(t, in, Options{})
	x := r.Transition
	if math.Abs(float64(x.Q01Error.All)-.05) > 1e-12 || math.Abs(float64(x.Q10Error.All)-.4/3) > 1e-12 {
		t.Errorf("mean errors %v and %v, want .05 and .1333", x.Q01Error.All, x.Q10Error.All)
	}
	if x.Q01Error.Group[text.VB].Defined() || math.Abs(float64(x.Q10Error.Group[text.VB])-.1) > 1e-12 {
		t.Errorf("the group whose T01 is unknown: %+v", x)
	}
	if r.Words[0].Q01 != .3 || r.Words[0].T01 != .4 || r.Words[1].T01.Defined() {
		t.Errorf("words: %+v", r.Words)
	}
}

func TestTrueRates_CountsFlips(t *testing.T) {
	r, err := TrueRates([]uint8{1, 0, 0, 0, 1, 0}, []uint8{1, 1, 1, 1, 0, 1}, 3, 2)
	expect.OK(t, err)
	if r.Q01[0] != .5 || r.Q01[1] != 1 || r.Q10[0] != 1 || !math.IsNaN(r.Q10[1]) {
		t.Errorf("rates %+v", r)
	}
	if _, err := TrueRates([]uint8{2}, []uint8{1}, 1, 1); !errors.Is(err, ErrValue) {
		t.Errorf("label 2: %v", err)
	}
}

func TestUint8Matrix_IsCheckedAndShared(t *testing.T) {
	d := dense.New(dense.WithShape(2, 3), dense.WithBacking([]uint8{1, 2, 3, 4, 5, 6}))
	v, n, k, err := Uint8Matrix(d)
	if err != nil || n != 2 || k != 3 || &v[0] != &d.Uint8s()[0] {
		t.Errorf("%v %d %d %v", v, n, k, err)
	}
	if err := d.T(); err != nil {
		t.Fatal(err)
	}
	floats := dense.New(dense.WithShape(2, 3), dense.WithBacking(make([]float32, 6)))
	for what, d := range map[string]*dense.Dense{"float32": floats, "nil": nil, "transposed view": d} {
		if _, _, _, err := Uint8Matrix(d); !errors.Is(err, ErrShape) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func BenchmarkEvaluate(b *testing.B) {
	in := drawInput(b, 40504, 100)
	in.Observed, in.Truth = nil, nil
	b.SetBytes(int64(in.Bags * in.Classes * 4))
	for b.Loop() {
		if _, err := Evaluate(in, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestEvaluate_LogLossIsTheLossOfTraining(t *testing.T) {
	in := Input{Bags: 2, Classes: 2, Scores: []float32{0, 2, -1, 1e4}, Logits: true, Labels: []uint8{1, 0, 0, 1},
		Truth: []uint8{0, 0, 0, 0}}
	in.Scores[3] = float32(math.Inf(1))
	r, err := Evaluate(in, Options{})
	expect.OK(t, err)
	softplus := func(x float64) float64 { return math.Log1p(math.Exp(x)) }
	if want := (math.Ln2 + softplus(2) + softplus(-1)) / 2; math.Abs(float64(r.Labels.LogLoss)-want) > 1e-12 {
		t.Errorf("loss %v, want %v", r.Labels.LogLoss, want)
	}
	if want := (math.Ln2 + softplus(2) + softplus(-1) + 100) / 2; math.Abs(float64(r.Truth.LogLoss)-want) > 1e-12 {
		t.Errorf("against the truth %v, want %v", r.Truth.LogLoss, want)
	}
	in = Input{Bags: 1, Classes: 2, Scores: []float32{.25, 0}, Labels: []uint8{1, 1}}
	if r, err = Evaluate(in, Options{}); err != nil || math.Abs(float64(r.Labels.LogLoss)-math.Log(4)-100) > 1e-6 {
		t.Errorf("of probabilities: %v, %v", r.Labels.LogLoss, err)
	}
}

func TestNoiseRates_NothingWithoutEstimates(t *testing.T) {
	if r := (*Result)(nil).NoiseRates(); r != nil {
		t.Errorf("of nothing: %v", r)
	}
	if r := new(Result).NoiseRates(); r != nil {
		t.Errorf("of an evaluation without rates: %v", r)
	}
}

// A label is predicted if its score is at or above the threshold: two of three cells, and one of these holds.
func TestEvaluate_TheThresholdItselfPredicts(t *testing.T) {
	r, err := Evaluate(Input{Bags: 3, Classes: 1, Scores: []float32{.5, .75, .25}, Labels: []uint8{1, 0, 0}},
		Options{Threshold: .5, PlugIn: .25})
	expect.OK(t, err)
	if f := r.Labels.AtThreshold.All; f.OP != .5 || f.OR != 1 {
		t.Errorf("precision %v and recall %v at .5, want 1/2 and 1", f.OP, f.OR)
	}
	if f := r.Labels.AtPlugIn.All; math.Abs(float64(f.OP)-1./3) > 1e-12 || f.OR != 1 {
		t.Errorf("precision %v and recall %v at .25, want 1/3 and 1", f.OP, f.OR)
	}
}

// A given plug-in threshold was found for p(y=1|I); the threshold of p(z=1|I) is computed from its own probabilities.
func TestEvaluate_ObservedScoresHaveTheirOwnPlugIn(t *testing.T) {
	in := drawInput(t, 60, 9)
	r := evaluate(t, in, Options{PlugIn: .9})
	own, err := PlugInThreshold(in.Observed, false)
	if err != nil || own == .9 {
		t.Fatal(own, err)
	}
	if r.PlugIn != .9 || r.Observed.PlugIn != own {
		t.Errorf("thresholds %v and %v, want .9, which was given, and %v", r.PlugIn, r.Observed.PlugIn, own)
	}
}
