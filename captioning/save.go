package captioning

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"nmn/internal/durable"
	"nmn/train"
)

// save writes last.safetensors where anything has changed since it was written, and keeps it as the best
// where the last validation says so.
func (t *Trainer) save() error {
	if t.Directory == "" || t.at == t.saved && !t.waits {
		t.waits = false
		return nil
	}
	began, path := time.Now(), filepath.Join(t.Directory, train.LastName)
	about := Checkpoint{Format: checkpointFormat, Model: t.Net.Config(), Words: t.Words, Data: t.data, Config: t.Config, Position: t.at, Best: t.best}
	size, err := train.WriteCheckpoint(path, checkpointKey, about, slices.Concat(t.Net.Weights(), t.optimizer.Moments()))
	if err != nil {
		return err
	}
	e := Saved{Epoch: t.at.Epoch, Step: t.at.Step, Path: path, Best: t.waits, Bytes: size}
	if t.waits {
		if err := durable.Link(path, filepath.Join(t.Directory, train.BestName)); err != nil {
			return fmt.Errorf("captioning: cannot keep %q as the best: %w", path, err)
		}
	}
	t.saved, t.waits, e.Duration = t.at, false, time.Since(began)
	observers(t.Observers).saved(e)
	return nil
}
