package train

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"nmn/internal/expect"
)

// overfitting is a run whose validation loss soon rises.
func overfitting(t *testing.T) rig {
	t.Helper()
	r := newRig()
	r.validation, r.directory, r.bags = true, t.TempDir(), 16
	r.config.Stage1Epochs, r.config.EvaluateEpochs, r.config.CheckpointEpochs, r.config.BestBy = 40, 1, 1, "loss"
	r.config.ClassifierStart, r.config.LearningRate, r.config.Patience, r.config.KeepBest = baseRate, .01, 2, 1
	return r
}

func TestPatience_EndsTheStageAndGoesBackToTheBest(t *testing.T) {
	r := overfitting(t)
	var values []float64 // of the epochs
	r.observers = []Observer{{Evaluated: func(e Evaluated) { values = append(values, e.Value) }}}
	trainer := r.trainer(t)
	result := run(t, trainer)
	best := slices.Index(values, slices.Min(values))
	if len(values) != best+1+2 || len(values) == 40 || best == 0 {
		t.Fatalf("losses %v: the best is that of epoch %d, and %d epochs were run; want 2 more",
			values, best+1, len(values))
	}
	if result.Best[0].Epoch != best+1 || result.Best[0].Value != values[best] {
		t.Errorf("best %+v", result.Best)
	}
	there := weights(t, trainer.Net)
	for _, name := range []string{BestName, LastName} {
		net, checkpoint, err := OpenNet(filepath.Join(r.directory, name), openCPU(t, 1))
		expect.OK(t, err)
		sameWeights(t, weights(t, net), there, "%s (step %d) has other weights than the net", name, checkpoint.Position.Step)
		check(t, net.Close())
	}
}

func TestPatience_InterruptedEqualsUnbroken(t *testing.T) {
	r := overfitting(t)
	trainer := r.trainer(t)
	want := run(t, trainer)
	r.directory = t.TempDir()
	interrupted(t, r, want.Step-3, 1) // within the two epochs of patience
	resumed := r.resumed(t)
	if got := run(t, resumed); got.Position != want.Position ||
		!maps.EqualFunc(weights(t, resumed.Net), weights(t, trainer.Net), slices.Equal) {
		t.Errorf("position %+v, unbroken %+v, or other weights", got.Position, want.Position)
	}
}

func TestPatience_NeedsValidationsAndAFolder(t *testing.T) {
	r := overfitting(t)
	r.config.EvaluateEpochs = 0
	expect.Refusal(t, r.config.Validate(), "evaluate_epochs")
	r = overfitting(t)
	r.directory = ""
	expect.Refusal(t, expect.ErrorOf(New(r.options(t))), "folder")
}
