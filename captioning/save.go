package captioning

import (
	"slices"

	"nmn/train"
)

// save writes last.safetensors where anything has changed since it was written, and keeps it as the best
// where the last validation says so.
func (t *Trainer) save() error {
	return t.keeper.Save(t.at.Epoch, t.at.Step, t.at != t.saved, t.write, observers(t.Observers).Saved)
}

func (t *Trainer) write(path string) (size int64, err error) {
	about := &Checkpoint{Format: train.CheckpointFormat, Model: t.Net.Config(), Words: t.Words, Data: t.data,
		Config: t.Config, Position: t.at, Best: t.best()}
	if size, err = frame.Write(path, about, slices.Concat(t.Net.Weights(), t.optimizer.Moments())); err == nil {
		t.saved = t.at
	}
	return size, err
}

// best is the validation that was the best so far.
func (t *Trainer) best() Best {
	for _, b := range t.keeper.Best() {
		return Best{Step: b.Step, Epoch: b.Epoch, CIDEr: b.Value}
	}
	return Best{}
}
