package captioner

import (
	"cmp"
	"fmt"

	"nmn/format/safetensors"
	"nmn/train"
)

// Resume goes back to a checkpoint of the same training: weights, optimizer, position and the best. It must
// be called before Run. The checkpoint must be of the same model, words, data, seed and settings; limits and
// intervals may differ, so that training can be made longer. The error wraps train.ErrOtherModel,
// train.ErrOtherRun, ErrOtherWords or train.ErrCorrupt; after one that does not, the net may have been
// changed in part.
func (t *Trainer) Resume(path string) error {
	return frame.Resume(path, func(c *Checkpoint, file *safetensors.File) error {
		if err := t.sameRun(c); err != nil {
			return err
		}
		if batches := t.Batches(); c.Position.Batch > batches {
			return fmt.Errorf("its position is batch %d of an epoch of %d: %w",
				c.Position.Batch, batches, train.ErrCorrupt)
		}
		if err := t.optimizer.CheckMoments(file); err != nil {
			return err
		}
		if err := t.Net.Load(file); err != nil {
			return err
		}
		if err := t.optimizer.LoadMoments(file, c.Position.Step); err != nil {
			return err
		}
		t.at, t.saved = c.Position, c.Position
		var best []train.Best
		if b := c.Best; b.Step > 0 {
			best = append(best, train.Best{Step: b.Step, Epoch: b.Epoch, Value: b.CIDEr})
		}
		return t.keeper.Restore(best, t.at.Step)
	})
}

// free are the settings that may change when training is resumed, because they do not change a step.
var free = []string{"epochs", "max_steps", "log_steps", "validate_epochs", "checkpoint_steps", "patience"}

// sameRun returns nil if training can continue from a checkpoint, otherwise the first difference.
func (t *Trainer) sameRun(c *Checkpoint) error {
	if err := cmp.Or(train.SameModel(c.Model, t.Net.Config()), c.Words.Same(t.Words)); err != nil {
		return err
	}
	if c.Data != t.data {
		return fmt.Errorf("it was trained on %d clips with %d captions (%.12s), these are %d with %d (%.12s): %w",
			c.Data.Clips, c.Data.Captions, c.Data.Fingerprint, t.data.Clips, t.data.Captions, t.data.Fingerprint,
			train.ErrOtherRun)
	}
	allowed := free
	if t.Config.Schedule == train.Cosine { // the rate depends on the length of the training
		allowed = free[2:]
	}
	return train.SameSettings(c.Config, t.Config, allowed...)
}
