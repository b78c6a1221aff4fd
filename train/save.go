package train

import "slices"

// save writes last.safetensors where anything has changed since it was written, and keeps it as one
// of the best where the last validation says so.
func (t *Trainer) save() error {
	return t.keeper.Save(t.at.Epoch, t.at.Step, t.at != t.saved, t.write, observers(t.Observers).Saved)
}

// write writes a checkpoint of the stage.
func (t *Trainer) write(path string) (size int64, err error) {
	about := &Checkpoint{
		Format:   CheckpointFormat,
		Model:    t.Net.Config(),
		Words:    t.identity.words,
		Data:     t.identity.data,
		Stage:    t.Stage,
		Config:   t.Config,
		Position: t.at,
		Updates:  t.optimizer.updates,
		Best:     t.keeper.best,
	}
	size, err = frame.Write(path, about, slices.Concat(t.Net.Weights(), t.optimizer.Moments(), t.onlineTensors()))
	if err == nil {
		t.saved = t.at
	}
	return size, err
}
