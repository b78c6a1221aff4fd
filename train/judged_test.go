package train

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"nmn/eval"
	"nmn/format/safetensors"
	"nmn/internal/durable"
	"nmn/internal/expect"
	"nmn/loader"
	"nmn/text"

	dense "gorgonia.org/tensor"
)

// best.safetensors changes only if the new checkpoint is better than all earlier ones.
func TestKeeper_BestStaysUntilThereIsABetterOne(t *testing.T) {
	dir := t.TempDir()
	k := NewCheckpointStore(frame, CheckpointStoreOptions{Directory: dir, Count: 1})
	k.Replace = func(path, _ string, about *Checkpoint, _ []safetensors.Tensor) (int64, error) {
		return 1, durable.Save(path, []byte(strconv.Itoa(about.Updates)))
	}
	for i, c := range []struct {
		value float64
		best  string // the step of best.safetensors at that time
	}{{.5, "1"}, {.4, "1"}, {.6, "3"}, {.6, "3"}, {.1, "3"}} {
		step := i + 1
		k.Offer(Best{Step: step, Value: c.value})
		check(t, k.save(State[Checkpoint]{Step: step, Position: step, About: &Checkpoint{Updates: step}}, observers{}))
		best, err := os.ReadFile(filepath.Join(dir, BestName))
		check(t, err)
		if string(best) != c.best {
			t.Errorf("step %d: %s is of step %s, want %s", step, BestName, best, c.best)
		}
	}
}

func TestMeasure_TakesEachFigureFromItsPlace(t *testing.T) {
	figures := func(base float64) *eval.MultiLabel {
		number := func(i float64) eval.ByGroup[eval.Number] {
			return eval.ByGroup[eval.Number]{All: eval.Number(base + i)}
		}
		return &eval.MultiLabel{AP: number(1), Brier: number(4), ECE: number(5), LogLoss: eval.Number(base + 6),
			OneClass: &eval.OneClass{Accuracy: eval.Number(base + 7)}, AtThreshold: eval.ByGroup[eval.F1]{
				All: eval.F1{OF1: eval.Number(base + 2), CF1: eval.Number(base + 3)}}}
	}
	r := &eval.Result{Measures: eval.Measures{Labels: figures(10), Truth: figures(20),
		Human: &eval.Human{AP: eval.ByGroup[eval.Number]{All: 30}}}}
	want := map[string]float64{"human_ap": 30, "loss": 16, "map": 11, "of1": 12, "cf1": 13, "brier": 14, "ece": 15,
		"true_map": 21, "true_of1": 22, "true_cf1": 23, "true_brier": 24, "true_ece": 25, "accuracy": 17, "true_accuracy": 27}
	for _, name := range Measures() {
		if got := Measure(name, r); float64(got) != want[name] {
			t.Errorf("%s is %v, want %v", name, got, want[name])
		}
		lower := slices.Contains([]string{"loss", "brier", "true_brier", "ece", "true_ece"}, name)
		if lowerIsBetter(name) != lower {
			t.Errorf("%s is better when lower: %t", name, !lower)
		}
	}
	if len(Measures()) != len(want) {
		t.Errorf("measures %q", Measures())
	}
	// With a noise model, training lowers the loss of the observed label through it. Only that loss may
	// decide when training ends.
	r.Observed = &eval.Measures{Labels: figures(40)}
	if got := Measure("loss", r); got != 46 {
		t.Errorf("the loss of a net with a noise model is %v, want the observed labels', 46", got)
	}
	if got := Measure("map", r); got != 11 {
		t.Errorf("map of a net with a noise model is %v, want the classifier's, 11", got)
	}
}

// wordsOf is a vocabulary of nouns.
func wordsOf(t *testing.T, words ...string) *text.Vocabulary {
	t.Helper()
	var all []text.Word
	for _, w := range words {
		all = append(all, text.Word{Text: w, POS: text.NN})
	}
	v, err := text.NewVocabulary(all)
	expect.OK(t, err)
	return v
}

func TestTrueRates_CountLabelsAgainstTheTruth(t *testing.T) {
	matrix := func(values ...uint8) *dense.Dense {
		return dense.New(dense.WithShape(5, 2), dense.WithBacking(values))
	}
	set := &loader.Set{Name: "five", Vocabulary: wordsOf(t, "cat", "dog"), IDs: []string{"a", "b", "c", "d", "e"},
		Vectors: rowsOf{{0}, {0}, {0}, {0}, {0}},
		Truth:   matrix(1, 0, 1, 0, 1, 0, 1, 0, 0, 0),
		Labels:  matrix(0, 0, 1, 1, 1, 0, 1, 0, 0, 0)}
	r, err := TrueRates(set)
	expect.OK(t, err)
	// 1 of 4 cats is missed, and the 1 other is not called a cat. There is no dog, and 1 of 5 others is
	// called one.
	if r.Q01[0] != .25 || r.Q10[0] != 0 || !math.IsNaN(r.Q01[1]) || r.Q10[1] != .2 {
		t.Errorf("q01 %v and q10 %v, want [0.25 NaN] and [0 0.2]", r.Q01, r.Q10)
	}
	set.Truth = nil
	if r, err := TrueRates(set); r != nil || err != nil {
		t.Errorf("without a truth: %v, %v", r, err)
	}
}

// A validation set whose classes are in another order would judge each class by the labels of another.
func TestNew_RefusesAValidationSetOfOtherWords(t *testing.T) {
	r := newRig()
	r.validation = true
	o := r.options(t)
	other := *o.Validation
	words := slices.Clone(other.Vocabulary.Words())
	words[1], words[2] = words[2], words[1]
	var err error
	other.Vocabulary, err = text.NewVocabulary(words)
	check(t, err)
	o.Validation = &other
	want := `class 2 is "` + words[2].Text + `" in the training set and "` + words[1].Text + `" in the validation set`
	expect.Refusal(t, expect.ErrorOf(New(o)), want)
}
