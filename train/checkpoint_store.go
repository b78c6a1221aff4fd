package train

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"nmn/format/safetensors"
	"nmn/internal/durable"
)

// Names of the checkpoints in a folder.
const (
	LastName     = "last.safetensors"
	PreviousName = "previous.safetensors" // the last one before LastName
	BestName     = "best.safetensors"
)

// Best is the best checkpoint so far.
type Best struct {
	Step  int     `json:"step"`
	Epoch int     `json:"epoch"`
	Value float64 `json:"value"` // that it is judged by
}

// CheckpointStore writes the checkpoints of a folder and keeps the best of them. It serves classifiers and
// captioners.
type CheckpointStore[About any] struct {
	CheckpointStoreOptions
	// Replace writes a checkpoint, as Frame.Replace does.
	Replace func(path, previous string, about *About, tensors []safetensors.Tensor) (int64, error)

	frame Frame[About]
	best  []Best // at most one
	waits bool   // a new best has no file yet
	saved any    // position of last.safetensors, as far as this process has seen it

	held    func(path string) error // writes the best checkpoint, if it found no room on the disk
	tried   time.Time               // when a checkpoint was written, or could not be
	missing error                   // why the last one could not be written; nil if it was
}

// CheckpointStoreOptions configure a CheckpointStore.
type CheckpointStoreOptions struct {
	Directory string // empty for no checkpoints
	Count     int    // best checkpoints kept in addition to the last one: 0 or 1
	Lower     bool   // the best has the lowest value, not the highest
	Minutes   float64
	Clock     func() time.Time // nil for time.Now
}

// NewCheckpointStore keeps the checkpoints of a folder.
func NewCheckpointStore[About any](frame Frame[About], o CheckpointStoreOptions) CheckpointStore[About] {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return CheckpointStore[About]{CheckpointStoreOptions: o, Replace: frame.Replace, frame: frame, tried: o.Clock()}
}

// Best lists the best checkpoint, if there is one.
func (k *CheckpointStore[About]) Best() []Best { return k.best }

// Saved reports whether the last checkpoint that was written or resumed has this position.
func (k *CheckpointStore[About]) Saved(position any) bool { return k.saved == position }

// unsaved reports whether the best has no file yet: the next save gives it one.
func (k *CheckpointStore[About]) unsaved() bool { return k.waits || k.held != nil }

// Offer takes a validated step as the best if it is better than the best so far, and reports whether it is.
func (k *CheckpointStore[About]) Offer(b Best) bool {
	if k.Count == 0 || len(k.best) > 0 && !k.better(b, k.best[0]) {
		return false
	}
	k.best, k.waits, k.held = []Best{b}, true, nil
	return true
}

func (k *CheckpointStore[About]) better(a, b Best) bool {
	if k.Lower {
		return a.Value < b.Value
	}
	return a.Value > b.Value
}

// commit makes the checkpoint just written to path the best, if it is. The name is a hard link: files are
// replaced, never changed.
func (k *CheckpointStore[About]) commit(path string) error {
	if !k.waits {
		return nil
	}
	if err := durable.Link(path, filepath.Join(k.Directory, BestName)); err != nil {
		return fmt.Errorf("training: cannot keep %q as the best: %w", path, err)
	}
	k.waits = false
	return nil
}

// Restore takes over the best of a checkpoint, and its position and step. The process may have been killed after it
// wrote the checkpoint and before it linked its name. The next save then links it.
func (k *CheckpointStore[About]) Restore(best []Best, position any, step int) error {
	k.saved = position
	k.best = slices.Clone(best[:min(len(best), k.Count)])
	if k.Directory == "" || len(k.best) == 0 || k.best[0].Step != step {
		return nil
	}
	kept, err := k.frame.StepOf(filepath.Join(k.Directory, BestName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrCorrupt) {
		return err
	}
	k.waits = err != nil || kept != step
	return nil
}
