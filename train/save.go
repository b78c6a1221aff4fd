package train

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"nmn/format/safetensors"
)

// save writes last.safetensors where anything has changed since it was written, and keeps it as one
// of the best where the last validation says so.
func (t *Trainer) save() error {
	if t.Directory == "" || t.at == t.saved && !t.keeper.waits {
		t.keeper.waits = false
		return nil
	}
	began := time.Now()
	path := filepath.Join(t.Directory, LastName)
	size, err := t.write(path)
	if err != nil {
		return err
	}
	t.saved = t.at
	e := Saved{Epoch: t.at.Epoch, Step: t.at.Step, Path: path, Best: t.keeper.waits, Bytes: size}
	if err := t.keeper.commit(path); err != nil {
		return err
	}
	e.Duration = time.Since(began)
	observers(t.Observers).saved(e)
	return nil
}

// write writes a checkpoint of the stage.
func (t *Trainer) write(path string) (size int64, err error) {
	return WriteCheckpoint(path, checkpointKey, t.checkpoint(), slices.Concat(t.Net.Weights(), t.optimizer.Moments(), t.onlineTensors()))
}

// WriteCheckpoint writes tensors, and what is to be known about them as JSON under a key of the metadata,
// aside, syncs the file and renames it. The file that was there stays whole whatever happens.
func WriteCheckpoint(path, key string, about any, tensors []safetensors.Tensor) (size int64, err error) {
	meta, err := json.Marshal(about)
	if err != nil {
		return 0, fmt.Errorf("training: cannot describe the checkpoint: %w", err)
	}
	size, err = safetensors.WriteFile(path, map[string]string{key: string(meta), "format": "pt"}, tensors)
	if err != nil {
		need := int64(len(meta)) + safetensors.Bytes(tensors)
		return 0, fmt.Errorf("training: cannot save %q: it needs %d bytes of disk beside what is there; the checkpoint before it, if any, is untouched: %w", path, need, err)
	}
	return size, nil
}

func (t *Trainer) checkpoint() Checkpoint {
	return Checkpoint{Format: checkpointFormat, Model: t.Net.Config(), Words: t.identity.words, Data: t.identity.data,
		Stage: t.Stage, Config: t.Config, Position: t.at, Updates: t.optimizer.updates, Best: t.keeper.best}
}
