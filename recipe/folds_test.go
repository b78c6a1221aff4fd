package recipe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	dense "gorgonia.org/tensor"

	"nmn/eval"
	"nmn/internal/expect"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/model"
	"nmn/text"
	"nmn/train"
)

// vectors are features in memory.
type vectors [][]float32

func (v vectors) Frames(int) int { return 1 }
func (v vectors) Width() int     { return len(v[0]) }
func (v vectors) Read(_ context.Context, bag, _ int, dst []float32) error {
	copy(dst, v[bag])
	return nil
}

// namedSet is a set of bags "0", "1", ... of one feature, their number, and two classes: the labels of the first are
// true; of the second bags 1, 4, ... have the label, and all but bag 0 should.
func namedSet(t *testing.T, bags int) *loader.Set {
	t.Helper()
	v, err := text.NewVocabulary([]text.Word{{Text: "cat", POS: text.NN}, {Text: "dog", POS: text.NN}})
	expect.OK(t, err)
	s := &loader.Set{Name: "numbers", Vocabulary: v}
	labels, truth, rows := make([]uint8, 2*bags), make([]uint8, 2*bags), make(vectors, bags)
	for i := range bags {
		s.IDs = append(s.IDs, fmt.Sprint(i))
		rows[i] = []float32{float32(i)}
		labels[2*i], labels[2*i+1] = uint8(i%2), uint8(i%3%2)
		truth[2*i], truth[2*i+1] = uint8(i%2), uint8(min(i, 1))
	}
	s.Vectors, s.Labels, s.Truth = rows, loader.Matrix(labels, 2), loader.Matrix(truth, 2)
	return s
}

// fakeTrainer trains nothing: it notes what it should train, and gives losses and scores of its own.
type fakeTrainer struct {
	trainings []Training
	losses    [][]float64 // of each fold, for each epoch: mean over what it holds out
	scored    []string    // folders of nets
}

func (f *fakeTrainer) Prepare(_ context.Context, dir string) error { return os.MkdirAll(dir, 0o777) }

// Score gives all labels log-odds of n/2 for a net that was trained n times, and a half more to the labels of odd bags.
func (f *fakeTrainer) Score(_ context.Context, dir string, set *loader.Set) ([]float32, error) {
	f.scored = append(f.scored, dir)
	logits := make([]float32, 2*set.Len())
	for i := range logits {
		logits[i] = float32(len(f.trainings)+i/2%2) / 2
	}
	return logits, nil
}

// TrainNet evaluates each epoch with the loss of the fold, and with logits that are the number of the bag and a
// hundred for each epoch.
func (f *fakeTrainer) TrainNet(_ context.Context, t Training) error {
	f.trainings = append(f.trainings, t)
	if t.Evaluated == nil {
		return nil
	}
	losses := f.losses[(len(f.trainings)-1)%len(f.losses)]
	if err := os.MkdirAll(t.Dir, 0o777); err != nil {
		return err
	}
	for i, loss := range losses {
		held := t.Data.Validation
		scores := &train.Scores{}
		var logits []float32
		for bag, id := range held.IDs {
			var number float32
			fmt.Sscan(id, &number)
			scores.Index, logits = append(scores.Index, bag), append(logits, number+float32(100*(i+1)), 0)
		}
		scores.Logits = dense.New(dense.WithShape(held.Len(), 2), dense.WithBacking(logits))
		e := &train.Evaluated{Epoch: i + 1, Scores: scores,
			Result: &eval.Result{Measures: eval.Measures{Labels: &eval.MultiLabel{LogLoss: eval.Number(loss)}}}}
		if err := t.Evaluated(e); err != nil {
			return err
		}
	}
	return nil
}

// crossFitted returns a recipe with three folds of seven bags; the first fold holds three out.
func crossFitted(t *testing.T, seed uint64, trainer Trainer) *Recipe {
	t.Helper()
	s := Settings{NoiseRates: FoldsOf + "3", Recipe: Config{Form: Estimate, FoldEpochs: 2}, Train: train.ScenesPreset()}
	s.Train.Seed, s.Train.Patience, s.Train.KeepBest, s.Train.BestBy = seed, 5, 1, "map"
	return New(Options{Settings: s, Data: &dataset.Splits{Train: namedSet(t, 7)}, Dir: t.TempDir(), Trainer: trainer})
}

// A net of a fold learns from all bags but those that it is asked about, whose labels as they are, not the true ones,
// say how well it does.
func TestFolds_NoNetLearnsWhatItIsAskedAbout(t *testing.T) {
	f := &fakeTrainer{losses: [][]float64{{1, 2}}}
	r := crossFitted(t, 1, f)
	for _, round := range []struct {
		name  string
		noise model.NoiseMode
	}{{PlainRound, model.NoNoise}, {NoisyRound, model.FeatureIndependent}} {
		if _, err := r.folds(t.Context(), round.name, round.noise, r.Settings.Train); err != nil {
			t.Fatal(err)
		}
	}
	if len(f.trainings) != 6 {
		t.Fatalf("%d nets, want 3 in each round", len(f.trainings))
	}
	z, k := r.Data.Train.Labels.Uint8s(), 2
	seeds, dirs := map[uint64]string{}, map[string]bool{}
	for i, n := range f.trainings {
		name := fmt.Sprintf("net %d (%s)", i+1, n.Title)
		learned, held := n.Data.Train, n.Data.Validation
		all := slices.Sorted(slices.Values(slices.Concat(learned.IDs, held.IDs)))
		if !slices.Equal(all, r.Data.Train.IDs) {
			t.Errorf("%s learns from %q and is asked about %q", name, learned.IDs, held.IDs)
		}
		for _, set := range []*loader.Set{learned, held} {
			for row, id := range set.IDs {
				at := slices.Index(r.Data.Train.IDs, id)
				if got := set.Labels.Uint8s()[row*k : (row+1)*k]; !slices.Equal(got, z[at*k:(at+1)*k]) {
					t.Errorf("%s: bag %s has the labels %v", name, id, got)
				}
			}
		}
		if other, twice := seeds[n.Config.Seed]; twice || n.Config.Seed == r.Settings.Train.Seed {
			t.Errorf("%s has the seed of %q", name, other)
		}
		seeds[n.Config.Seed] = name
		if dirs[n.Dir] {
			t.Errorf("%s is trained in %s, as another", name, n.Dir)
		}
		dirs[n.Dir] = true
		c := n.Config
		if c.Stage1Epochs != 2 || c.Patience != 0 || c.KeepBest != 0 || c.EvaluateEpochs != 1 || c.EvaluateSteps != 0 ||
			c.BestBy != "loss" || n.Targets != nil || n.From != "" {
			t.Errorf("%s is trained with %+v", name, c)
		}
		if want := []model.NoiseMode{model.NoNoise, model.FeatureIndependent}[i/3]; n.Arm.Noise != want {
			t.Errorf("%s has the noise model %s, want %s", name, n.Arm.Noise, want)
		}
	}
}

// A fold counts by its bags: of the losses below, the plain mean of three folds is less in the second epoch, that
// over all bags in the first.
func TestFolds_BestEpochIsThatOfAllBags(t *testing.T) {
	f := &fakeTrainer{losses: [][]float64{{1, 2.1}, {2, 1.35}, {2, 1.35}}}
	r := crossFitted(t, 1, f)
	round, err := r.folds(t.Context(), PlainRound, model.NoNoise, r.Settings.Train)
	expect.OK(t, err)
	if first := len(f.trainings[0].Data.Validation.IDs); first != 3 {
		t.Fatalf("the first fold holds out %d bags, want 3", first)
	}
	if got, want := fmt.Sprintf("%.4f", round.loss), "[1.5714 1.6714]"; round.best != 1 || got != want {
		t.Errorf("the best epoch is %d of %s, want 1 of %s", round.best, got, want)
	}
	for bag := range 7 {
		if got, want := round.logits[2*bag], float32(bag+100); got != want {
			t.Errorf("bag %d has the logit %v, want that of the first epoch, %v", bag, got, want)
		}
	}
}

// A run that goes on, or is made again, deals the bags to the same folds.
func TestFoldPlan_IsOfTheSeedAndKept(t *testing.T) {
	dealt := func(r *Recipe) string {
		plan, err := r.foldPlan(t.Context())
		expect.OK(t, err)
		return fmt.Sprint(plan.Fold)
	}
	r := crossFitted(t, 1, &fakeTrainer{})
	first := dealt(r)
	if again := dealt(r); again != first {
		t.Errorf("dealt %s, and %s from the file", first, again)
	}
	if again := dealt(crossFitted(t, 1, &fakeTrainer{})); again != first {
		t.Errorf("dealt %s, and %s in another folder", first, again)
	}
	if again := dealt(crossFitted(t, 2, &fakeTrainer{})); again == first {
		t.Errorf("another seed deals the same: %s", first)
	}
	r.Settings.NoiseRates = FoldsOf + "4"
	if _, err := r.foldPlan(t.Context()); err == nil || !strings.Contains(err.Error(), "3 folds, this run has 4") {
		t.Errorf("another number of folds: error %v", err)
	}
	r.Settings.NoiseRates = FoldsOf + "3"
	r.Data.Train.IDs[3] = "another"
	if _, err := r.foldPlan(t.Context()); err == nil || !strings.Contains(err.Error(), FoldsFile) {
		t.Errorf("another bag: error %v", err)
	}
}

// Near-duplicates are asked for when bags are dealt, with half the size of a fold as the bound, and not once there is a
// plan.
func TestFoldPlan_KeepsNearDuplicatesTogether(t *testing.T) {
	r, asked := crossFitted(t, 1, &fakeTrainer{}), 0
	r.Data.Train = namedSet(t, 24)
	r.Alike = func(_ context.Context, most int) ([][]int, error) {
		if asked++; most != 4 {
			t.Errorf("groups of up to %d bags are asked for, want 4", most)
		}
		return [][]int{{0, 7, 23}, {2, 3}}, nil
	}
	for range 2 {
		plan, err := r.foldPlan(t.Context())
		expect.OK(t, err)
		if f := plan.Fold; f[0] != f[7] || f[0] != f[23] || f[2] != f[3] || plan.Groups != 2 || plan.Grouped != 5 {
			t.Errorf("%d groups of %d bags in the folds %v", plan.Groups, plan.Grouped, f)
		}
	}
	if asked != 1 {
		t.Errorf("near-duplicates were asked for %d times", asked)
	}
	r = crossFitted(t, 1, &fakeTrainer{})
	r.Alike = func(context.Context, int) ([][]int, error) { return nil, os.ErrPermission }
	if _, err := r.foldPlan(t.Context()); !errors.Is(err, os.ErrPermission) {
		t.Errorf("pictures that cannot be read for want of permission: %v", err)
	}
}
