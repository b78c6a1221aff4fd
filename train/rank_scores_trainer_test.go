package train

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"nmn/internal/expect"
	"nmn/loader"
	"nmn/ranks"
)

// watched records the scores of a stage: validations with their figures, online scores, and the pictures left
// out of validations.
type watched struct{ bytes.Buffer }

func (w *watched) observe(o Options) Options {
	o.Observers = append(o.Observers, Observer{Evaluated: func(e Evaluated) {
		figures, err := json.Marshal(e.Result)
		fmt.Fprintf(w, "step %d: %s %v\n%x\n%v best %t %g\n", e.Step, figures, err, e.Scores.Logits.Float32s(),
			e.Scores.Index, e.Best, e.Value)
		for _, b := range e.Scores.Bad {
			fmt.Fprintln(w, b.Bag, b.ID, b.Err)
		}
	}})
	o.Online = func(_ context.Context, s *Scores) error {
		fmt.Fprintf(w, "online: %v\n%x\n", s.Index, s.Logits.Float32s())
		return nil
	}
	return o
}

// scoredStages are rigs whose weights do not change, so that the scores must be equal for all numbers of
// ranks.
func scoredStages(t *testing.T, n int) []Options {
	t.Helper()
	all := make([]Options, n)
	for i := range all {
		r := newRig()
		r.source = func(s loader.Source) loader.Source { return films{s} }
		r.mil, r.bags, r.validation, r.directory = true, 42, true, t.TempDir()
		r.config.LearningRate, r.config.WeightDecay, r.config.Stage1Epochs = 1e-30, 0, 2 // a rate that changes no weight
		r.config.EvaluateEpochs, r.config.EvaluateSteps, r.config.CheckpointSteps = 1, 4, 1
		r.config.BatchSizeMIL = 5
		o := r.options(t)
		o.Validation.Source, o.Loader.MaxBadSamples = spoilt{o.Validation.Source}, 24
		all[i] = o
	}
	return all
}

func TestTrainer_ScoresOnRanksWhatOneRankScores(t *testing.T) {
	skipRanks(t)
	for n := 2; n <= 4; n++ {
		stages := scoredStages(t, 1+n)
		var want watched
		run(t, newTrainer(t, want.observe(stages[0])))
		if bytes.Count(want.Bytes(), []byte("step ")) < 4 || !bytes.Contains(want.Bytes(), []byte("online")) {
			t.Fatalf("it has reported %.300s", want.Bytes())
		}
		for rank, err := range scoreOnRanks(t, n, func(g ranks.Group) (err error) {
			var got watched
			o := got.observe(stages[1+g.Rank()])
			o.Directory = stages[1].Directory
			o.Group = g
			trainer, err := New(o)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, trainer.Close()) }()
			if _, err := trainer.Run(context.Background()); err != nil {
				return err
			}
			if !bytes.Equal(got.Bytes(), want.Bytes()) {
				return fmt.Errorf("it has reported other scores than one rank:\n%.2000s\nand one rank\n%.2000s", got.Bytes(),
					want.Bytes())
			}
			return nil
		}) {
			if err != nil {
				t.Errorf("rank %d of %d: %v", rank, n, err)
			}
		}
	}
}

// A rank that is interrupted during a validation ends the stage on all ranks. The stage then continues from
// there.
func TestTrainer_AnInterruptAmidAValidationEndsAllRanks(t *testing.T) {
	skipRanks(t)
	const n = 3
	stages := scoredStages(t, 1+n)
	var want watched
	run(t, newTrainer(t, want.observe(stages[0])))
	told := make([]watched, n)
	part := func(g ranks.Group, resume bool) (err error) {
		o := told[g.Rank()].observe(stages[1+g.Rank()])
		o.Directory = stages[1].Directory
		o.Group = g
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if scored := 0; !resume && g.Rank() == 2 {
			o.Observers = append(o.Observers, Observer{Scored: func(int) {
				if scored++; scored == 3 { // of its 2 batches of the first validation and 2 of the second
					cancel()
				}
			}})
		}
		trainer, err := New(o)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, trainer.Close()) }()
		if resume {
			if err := trainer.Resume(filepath.Join(o.Directory, LastName)); err != nil {
				return err
			}
		}
		_, err = trainer.Run(ctx)
		return err
	}
	for _, err := range scoreOnRanks(t, n, func(g ranks.Group) error { return part(g, false) }) {
		expect.Refusal(t, err, "", ErrInterrupted)
	}
	for rank, err := range scoreOnRanks(t, n, func(g ranks.Group) error { return part(g, true) }) {
		if err != nil {
			t.Errorf("rank %d, resumed: %v", rank, err)
		}
		if !bytes.Equal(told[rank].Bytes(), want.Bytes()) {
			t.Errorf("rank %d has reported %.1000s, want %.1000s", rank, told[rank].Bytes(), want.Bytes())
		}
	}
}
