package train

import (
	"fmt"

	"nmn/format/safetensors"
)

// Resume returns to a checkpoint of the same stage: weights, optimizer, position and the table of the best.
// Call it before Run. The checkpoint must have the same model, vocabulary, data, stage, seed and settings.
// Only the limits and intervals of Config may differ, so that a stage can be made longer. The error wraps
// ErrOtherModel, ErrOtherRun or ErrCorrupt. After any other error the net may have been changed in part.
// Several ranks call Resume together. Their number may differ from before.
func (t *Trainer) Resume(path string) error {
	return t.ranks.agree(frame.Resume(path, func(c *Checkpoint, file *safetensors.File) error {
		if err := c.sameRun(t.Options, t.identity); err != nil {
			return err
		}
		if batches := t.batches.Batches(); c.Position.Batch > batches {
			return fmt.Errorf("its position is batch %d of an epoch of %d: %w", c.Position.Batch, batches, ErrCorrupt)
		}
		if err := t.optimizer.Resume(file, c.Updates, func() error {
			_, err := t.Net.Load(file, nil)
			return err
		}); err != nil {
			return err
		}
		if err := t.online.resume(c.Position, file); err != nil {
			return err
		}
		t.at = c.Position
		return t.keeper.Restore(c.Best, t.at, t.at.Step)
	}))
}
