package recipe

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	dense "gorgonia.org/tensor"

	"nmn/internal/expect"
	"nmn/labels/misplaced"
	"nmn/labels/rates"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/loader/manifest"
	"nmn/train"
)

// loneCaptions returns a set in which every bag has one caption, which the scores of a fakeTrainer do not predict.
func loneCaptions(t *testing.T, bags int) *loader.Set {
	t.Helper()
	s := namedSet(t, bags)
	s.CaptionsInUse = make([][][]int32, bags)
	for n := range s.CaptionsInUse {
		caption := []int32{}
		if n/2%2 == 1 {
			caption = append(caption, 0)
		}
		if n%3 == 1 {
			caption = append(caption, 1)
		}
		s.CaptionsInUse[n] = [][]int32{caption}
	}
	s.Captions = s.CaptionsInUse
	s.Labels, _ = loader.CaptionMatrices(s.CaptionsInUse, 2)
	return s
}

// captionsRecipe is a recipe with online rates, whose stage 1 has left the same score for every bag.
func captionsRecipe(t *testing.T, f *fakeTrainer, set *loader.Set, messages *[]string) *Recipe {
	t.Helper()
	s := Settings{Arm: CaptionFilter, NoiseRates: Online, Recipe: Config{Form: Estimate, Captions: Witness},
		Train: train.ScenesPreset()}
	s.Train.Stage1Epochs, s.Train.Stage2Epochs, s.Train.MaxSteps = 2, 2, 0
	r := New(Options{Settings: s, Data: &dataset.Splits{Train: set}, Dir: t.TempDir(), Trainer: f,
		Message: func(topic, text string) { *messages = append(*messages, topic+": "+text) }})
	index, logits := make([]int, set.Len()), make([]float32, 2*set.Len())
	for i := range index {
		index[i] = i
	}
	scores := &train.Scores{Index: index, Logits: dense.New(dense.WithShape(set.Len(), 2), dense.WithBacking(logits))}
	expect.OK(t, r.keepOnline(t.Context(), scores))
	return r
}

// Captions without evidence for or against them are taken as they are: no other net is trained, the arm is
// HeldRates, and a message gives the reason.
func TestCaptions_AreTakenAsTheyAreWithoutWitnesses(t *testing.T) {
	f, messages := &fakeTrainer{}, []string(nil)
	r := captionsRecipe(t, f, loneCaptions(t, 300), &messages)
	s, run := r.Settings, t.TempDir()
	s.Arm = CaptionFilter
	p, err := MakePlan(t.Context(), &s, r, f, r.Data, filepath.Join(run, "run"), filepath.Join(run, "stage1",
		train.LastName))
	expect.OK(t, err)
	if p.Captions == nil || p.Captions.Refused == "" || p.Captions.Doubted != 0 || p.Captions.Captions != 300 {
		t.Fatalf("of captions without witnesses: %+v", p.Captions)
	}
	if len(f.trainings) != 0 || p.Evidence != nil || p.Data.Train != r.Data.Train || p.From != "" {
		t.Errorf("%d nets trained, stage 2 from %q on %s", len(f.trainings), p.From, p.Data.Train.Name)
	}
	if !p.Config.Noise.Frozen {
		t.Errorf("the noise model is %+v, not that of held-rates", p.Config.Noise)
	}
	said := strings.Join(messages, "\n")
	if !strings.Contains(said, "witness: Captions are used as they are: "+p.Captions.Refused) {
		t.Errorf("people hear %q", said)
	}
}

// Bags with one caption are judged by nets that have not learned them: each learns the evidence of one half, and scores
// the other.
func TestCaptions_AreJudgedByHalves(t *testing.T) {
	const bags = 300
	f, messages := &fakeTrainer{}, []string(nil)
	set := loneCaptions(t, bags)
	for n := range bags { // as the scores say
		set.CaptionsInUse[n] = [][]int32{{int32(n % 2)}}
	}
	r := captionsRecipe(t, f, set, &messages)
	in := misplaced.Input{Classes: 2, Captions: set.CaptionsInUse, Scores: make([]float32, 2*bags)}
	for i := range in.Scores {
		in.Scores[i] = float32(2 * (1 - 2*((i/2+i)%2)))
	}
	first, err := r.judge(t.Context(), in)
	expect.OK(t, err)
	all, err := first.Evidence(t.Context())
	expect.OK(t, err)
	if _, err := r.witnessOutOfFold(t.Context(), first, 2); err != nil {
		t.Fatal(err)
	}
	if len(f.trainings) != halves || len(f.scored) != halves {
		t.Fatalf("%d nets trained and %d scored, want %d", len(f.trainings), len(f.scored), halves)
	}
	number, times := map[string]int{}, map[string]int{}
	for n, id := range set.IDs {
		number[id] = n
	}
	for _, training := range f.trainings {
		e := training.Evidence.Float32s()
		for row, id := range training.Data.Train.IDs {
			times[id]++
			if n := number[id]; !slices.Equal(e[2*row:2*row+2], all[2*n:2*n+2]) {
				t.Errorf("bag %s has the evidence %v, want %v", id, e[2*row:2*row+2], all[2*n:2*n+2])
			}
		}
	}
	for id, n := range number {
		if times[id] != 1 {
			t.Errorf("bag %d was learned by %d nets, want 1", n, times[id])
		}
	}
	if !fewCaptions(set.CaptionsInUse) {
		t.Error("one caption for each bag is not few")
	}
}

// What is found is found once for all arms of a group.
func TestCaptions_AreJudgedOnce(t *testing.T) {
	f, messages := &fakeTrainer{}, []string(nil)
	r := captionsRecipe(t, f, loneCaptions(t, 300), &messages)
	first, err := r.witness(t.Context(), "stage1")
	expect.OK(t, err)
	again, err := r.witness(t.Context(), "elsewhere")
	if err != nil || again != first || len(f.scored) != 1 || f.scored[0] != "stage1" {
		t.Errorf("scores of %q were asked for (%v)", f.scored, err)
	}
}

// Captions that differ from the other captions of their bag were replaced; if none differs, nothing is inferred.
func TestReplacedCaptions(t *testing.T) {
	own := [][][]int32{{{0}, {1, 2}}, {{}, {3}}}
	set := &loader.Set{Captions: own, CaptionsInUse: own}
	if got := replacedCaptions(set); got != nil {
		t.Errorf("nothing was replaced: %v", got)
	}
	set.CaptionsInUse = [][][]int32{{{0}, {1}}, {{}, {3}}}
	got := replacedCaptions(set)
	if len(got) != 2 || got[0][0] || !got[0][1] || got[1][0] || got[1][1] {
		t.Errorf("caption 2 of bag 1 was replaced: %v", got)
	}
	set.Captions = nil
	if got := replacedCaptions(set); got != nil {
		t.Errorf("what was before is not known: %v", got)
	}
}

// Shifted evidence leaves each class in as many bags as the rates expect. A class without rates, and data without
// verified bags, keep their evidence.
func TestAnchor_KeepsThePrevalence(t *testing.T) {
	r := &Recipe{
		Options: Options{Settings: Settings{NoiseRates: FoldsOf + "2"}, Data: &dataset.Splits{}},
		plain:   &round{logits: []float32{-3, 0, -1, 0, .5, 0}, bags: []int{2, 0, 3}},
		found:   &rates.Result{Classes: []rates.Class{{A: 1.5, B: .4}, {A: 1, Diagnoses: []rates.Diagnosis{rates.TooFew}}}},
	}
	before := []float32{-.4, 1, 3, 1, -.7, 1, -.9, 1}
	evidence := append([]float32(nil), before...)
	expect.OK(t, r.anchor(t.Context(), evidence))
	for i, e := range evidence {
		if e != before[i] {
			t.Fatalf("nothing is verified, and evidence %d is %v, was %v", i, e, before[i])
		}
	}
	r.Data.Verified = &manifest.Verified{Bags: []int{1}}
	expect.OK(t, r.anchor(t.Context(), evidence))
	learned, expected := 0.0, 0.0
	for i, bag := range r.plain.bags {
		l := 1.5*float64(r.plain.logits[2*i]) + .4
		learned, expected = learned+rates.Sigmoid(l+float64(evidence[2*bag])), expected+rates.Sigmoid(l)
	}
	if math.Abs(learned-expected) > 1e-5 {
		t.Errorf("the class is in %v of 3 bags, want %v", learned, expected)
	}
	shift := evidence[0] - before[0]
	for bag := range 4 {
		if got := evidence[2*bag] - before[2*bag]; math.Abs(float64(got-shift)) > 1e-5 || evidence[2*bag+1] != 1 {
			t.Errorf("bag %d: shifted by %v, want %v; without rates %v", bag, got, shift, evidence[2*bag+1])
		}
	}
}
