package recipe

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	dense "gorgonia.org/tensor"

	"nmn/internal/expect"
	"nmn/labels/rates"
	"nmn/loader/dataset"
	"nmn/train"
)

// Each round of EM goes on from the net before it, with its own random numbers, and learns the posteriors that
// this net gives. The last round is the run itself.
func TestEM_RoundsGoOnFromEachOther(t *testing.T) {
	const dir, first = "run", "stage1"
	f := &fakeTrainer{}
	data := &dataset.Splits{Train: namedSet(t, 7)}
	s := Settings{Arm: EM, Recipe: Config{Form: Paper}, Train: train.ScenesPreset()}
	s.Train.Stage2Epochs, s.Train.Patience, s.Train.KeepBest, s.Train.MaxSteps = 3, 4, 1, 0
	s.Train.Noise.Q01, s.Train.Noise.Q10 = []float32{.3}, []float32{.1}
	run := t.TempDir()
	p, err := MakePlan(t.Context(), &s, nil, f, data, filepath.Join(run, dir), filepath.Join(run, first, train.LastName))
	expect.OK(t, err)
	nets := []string{filepath.Join(run, first), filepath.Join(run, dir, EMFolder, "round-1"),
		filepath.Join(run, dir, EMFolder, "round-2")}
	if !slices.Equal(f.scored, nets) || len(f.trainings) != 2 {
		t.Fatalf("scores of %q and %d nets trained, want those of %q", f.scored, len(f.trainings), nets)
	}
	seeds := []uint64{s.Train.Seed, p.Config.Seed}
	for i, round := range f.trainings {
		c := round.Config
		if round.Dir != nets[i+1] || round.From != filepath.Join(nets[i], train.LastName) || c.Stage2Epochs != 1 ||
			c.Patience != 0 || c.KeepBest != 0 || !c.Noise.Frozen {
			t.Errorf("round %d in %s goes on from %s with %+v", i+1, round.Dir, round.From, c)
		}
		seeds = append(seeds, c.Seed)
	}
	if slices.Sort(seeds); len(slices.Compact(seeds)) != 4 {
		t.Errorf("seeds of the run and its rounds %v, want four", seeds)
	}
	n := p.Config.Noise
	if p.From != filepath.Join(nets[2], train.LastName) || p.Config.Stage2Epochs != 1 || p.Config.Patience != 0 ||
		!n.Frozen {
		t.Errorf("the last round goes on from %s with %+v", p.From, p.Config)
	}
	if n.Q01[0] == .3 || n.Q10[1] == .1 {
		t.Errorf("the rates %v and %v are those of the start", n.Q01, n.Q10)
	}
	for i, got := range p.Targets.Float32s() {
		logit := float64(2+i/2%2) / 2
		want := rates.Posterior(logit, data.Train.Labels.Uint8s()[i], float64(n.Q01[i%2]), float64(n.Q10[i%2]))
		if math.Abs(float64(got)-want) > 1e-3 {
			t.Errorf("target %d is %v, want the posterior %v of the last net and rates", i, got, want)
		}
	}
}

// Scores of the first epoch belong to the bags that were scored, in the order of the epoch.
func TestOnline_ScoresKeepTheirBags(t *testing.T) {
	r := crossFitted(t, 1, &fakeTrainer{})
	index, logits := []int{5, 2, 6}, []float32{1, 2, 3, 4, 5, 6}
	err := r.keepOnline(t.Context(), &train.Scores{Index: index,
		Logits: dense.New(dense.WithShape(3, 2), dense.WithBacking(logits))})
	expect.OK(t, err)
	gotLogits, gotIndex, err := ReadOnline(filepath.Join(r.Dir, OnlineFile))
	if err != nil || !slices.Equal(gotIndex, index) || !slices.Equal(gotLogits, logits) {
		t.Errorf("logits %v of bags %v (%v), want %v of %v", gotLogits, gotIndex, err, logits, index)
	}
}
