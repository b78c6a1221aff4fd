package captioner

import (
	"slices"

	"nmn/format/safetensors"
	"nmn/train"
)

// save writes last.safetensors if anything has changed since it was written, and keeps it as the best if the
// last validation was the best. If the disk is full, it waits a moment.
func (t *Trainer) save() error {
	return t.keeper.Finish(t.state, observers(t.Observers))
}

// trySave is save during training: a full disk does not end it.
func (t *Trainer) trySave() error {
	return t.keeper.Try(t.state(), observers(t.Observers))
}

// state is the training as it is now.
func (t *Trainer) state() train.State {
	return train.State{Epoch: t.at.Epoch, Step: t.at.Step, Changed: t.at != t.saved, Write: t.write, Hold: t.hold}
}

func (t *Trainer) write(path, previous string) (size int64, err error) {
	about, tensors := t.checkpoint()
	if size, err = t.replace(path, previous, about, tensors); err == nil {
		t.saved = t.at
	}
	return size, err
}

func (t *Trainer) hold(most int64) (*train.Held, error) {
	about, tensors := t.checkpoint()
	return train.Hold(about, tensors, most, t.replace)
}

// checkpoint returns a checkpoint of the current state. Tensors are read from the net when they are written.
func (t *Trainer) checkpoint() (*Checkpoint, []safetensors.Tensor) {
	about := &Checkpoint{Format: train.CheckpointFormat, Model: t.Net.Config(), Words: t.Words, Data: t.data,
		Config: t.Config, Position: t.at, Best: t.best()}
	return about, slices.Concat(t.Net.Weights(), t.optimizer.Moments())
}

// best is the validation that was the best so far.
func (t *Trainer) best() Best {
	for _, b := range t.keeper.Best() {
		return Best{Step: b.Step, Epoch: b.Epoch, CIDEr: b.Value}
	}
	return Best{}
}
