package train

import (
	"reflect"
	"testing"

	"nmn/internal/expect"
	"nmn/loader/augment"
	"nmn/model"
)

// Scoring reads unchanged pictures, whatever augmentations training uses.
func TestScore_PicturesAreNotAugmented(t *testing.T) {
	r := newRig()
	o := r.options(t)
	plain := o.loaderConfig()
	r.config.Augment = allAugmentations()
	o = r.options(t)
	changed := o.loaderConfig()
	if changed.Augment.IsZero() || changed.AugmentFrom != 0 || changed.Mean == [3]uint8{} {
		t.Fatalf("training reads with %+v from epoch %d, mean %v", changed.Augment, changed.AugmentFrom, changed.Mean)
	}
	want, err := Score(t.Context(), o.Net, o.Data, plain)
	check(t, err)
	got, err := Score(t.Context(), o.Net, o.Data, changed)
	check(t, err)
	if !reflect.DeepEqual(got.Logits.Float32s(), want.Logits.Float32s()) {
		t.Error("the scores of augmented pictures")
	}
}

// Bags that the first epoch scores before learning from them are not augmented, and so the whole first epoch
// is not. The second epoch is augmented.
func TestOnline_TheFirstEpochIsNotAugmented(t *testing.T) {
	var want, got *Scores
	plain := newTrainer(t, online(t, 1, &want))
	run(t, plain)
	o := online(t, 1, &got)
	o.Config.Augment = allAugmentations()
	changed := newTrainer(t, o)
	run(t, changed)
	if !reflect.DeepEqual(got.Logits.Float32s(), want.Logits.Float32s()) || !reflect.DeepEqual(got.Index, want.Index) {
		t.Error("online scores come from augmented pictures")
	}
	if reflect.DeepEqual(weights(t, plain.Net), weights(t, changed.Net)) {
		t.Error("nothing was augmented after the first epoch")
	}
}

func TestNew_MixturesAreNotForNoiseModels(t *testing.T) {
	r := newRig()
	r.noise, r.config.Augment = model.FeatureIndependent, augment.Config{Mixup: .2}
	expect.Refusal(t, expect.ErrorOf(New(r.options(t))), "`train.augment.mixup`")
	r.soft, r.config.Noise.Frozen = .2, true
	if _, err := New(r.options(t)); err != nil {
		t.Errorf("soft targets past a held noise model: %v", err)
	}
	evidence := newRig()
	evidence.certainty, evidence.config.Augment = 1.5, augment.Config{Mixup: .2}
	expect.Refusal(t, expect.ErrorOf(New(evidence.options(t))), "evidence")
}

// The loss of a mixed batch is computed against its mixed labels.
func TestStep_LearnsMixedLabels(t *testing.T) {
	r := newRig()
	r.config.Augment = augment.Config{Mixup: 1}
	trainer := r.trainer(t)
	check(t, trainer.fetch(t.Context()))
	batch := trainer.batches.held[0]
	if batch.Targets == nil || learned(batch) != batch.Targets {
		t.Fatal("a batch has no mixed labels")
	}
	between := 0
	for _, v := range batch.Targets.Float32s() {
		if v > 0 && v < 1 {
			between++
		}
	}
	if between == 0 {
		t.Error("no label is between 0 and 1")
	}
}
