package train

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"nmn/internal/durable"
)

// Names of the checkpoints in a folder. If more than one best is kept, each is also best-<step>.safetensors.
const (
	LastName     = "last.safetensors"
	PreviousName = "previous.safetensors" // the last one before LastName
	BestName     = "best.safetensors"
)

// Best is one of the best checkpoints.
type Best struct {
	Step  int     `json:"step"`
	Epoch int     `json:"epoch"`
	Value float64 `json:"value"` // that it is judged by
}

// Name returns the file name of the checkpoint if more than one best is kept.
func (b Best) Name() string { return fmt.Sprintf("best-%d.safetensors", b.Step) }

var bestFile = regexp.MustCompile(`^best-(\d+)\.safetensors$`)

// CheckpointStore writes the checkpoints of a folder and keeps the best of them. It serves classifiers and
// captioners.
type CheckpointStore struct {
	CheckpointStoreOptions
	best  []Best // best first; of equal values the earlier one comes first
	waits bool   // a new best has no file yet

	held    []heldBest // best checkpoints that found no room on the disk, by their steps
	tried   time.Time  // when a checkpoint was written, or could not be
	missing error      // why the last one could not be written; nil if it was
}

// CheckpointStoreOptions configure a CheckpointStore.
type CheckpointStoreOptions struct {
	Directory string // empty for no checkpoints
	Count     int    // best checkpoints kept in addition to the last one
	Lower     bool   // the best have the lowest values, not the highest
	Minutes   float64
	Clock     func() time.Time               // nil for time.Now
	Step      func(path string) (int, error) // returns the step of a checkpoint
}

// NewCheckpointStore keeps the checkpoints of a folder.
func NewCheckpointStore(o CheckpointStoreOptions) CheckpointStore {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return CheckpointStore{CheckpointStoreOptions: o, tried: o.Clock()}
}

// Best lists the best checkpoints, the best first.
func (k *CheckpointStore) Best() []Best { return k.best }

// Waits reports whether one of the best has no file yet: the next Save gives it one.
func (k *CheckpointStore) Waits() bool { return k.waits || len(k.held) > 0 }

// Offer adds a validated step to the table if it is better than an entry there, and reports whether it did.
func (k *CheckpointStore) Offer(b Best) bool {
	at := len(k.best)
	for at > 0 && k.better(b, k.best[at-1]) {
		at--
	}
	if at >= k.Count {
		return false
	}
	k.best = slices.Insert(slices.Clone(k.best), at, b)
	k.best = k.best[:min(len(k.best), k.Count)]
	k.waits = true
	return true
}

func (k *CheckpointStore) better(a, b Best) bool {
	if k.Lower {
		return a.Value < b.Value
	}
	return a.Value > b.Value
}

// commit links the checkpoint just written to path under its names among the best, and removes the
// checkpoints that are no longer among the best. The names are hard links: files are replaced, never changed.
func (k *CheckpointStore) commit(path string) error {
	if !k.waits {
		return nil
	}
	if err := k.link(path); err != nil {
		return fmt.Errorf("training: cannot keep %q as one of the best: %w", path, err)
	}
	k.waits = false
	return k.prune()
}

// newest is the one of the best that was offered last.
func (k *CheckpointStore) newest() Best {
	return slices.MaxFunc(k.best, func(a, b Best) int { return a.Step - b.Step })
}

func (k *CheckpointStore) link(path string) error {
	newest := k.newest()
	if k.Count > 1 {
		if err := durable.Link(path, filepath.Join(k.Directory, newest.Name())); err != nil {
			return err
		}
	}
	if k.best[0] == newest {
		return durable.Link(path, filepath.Join(k.Directory, BestName))
	}
	return nil
}

// prune removes best-<step> files that are not in the table.
func (k *CheckpointStore) prune() error {
	entries, err := os.ReadDir(k.Directory)
	if err != nil {
		return fmt.Errorf("training: cannot list the folder of checkpoints: %w", err)
	}
	for _, e := range entries {
		match := bestFile.FindStringSubmatch(e.Name())
		if match == nil {
			continue
		}
		step, err := strconv.Atoi(match[1])
		if err == nil && slices.ContainsFunc(k.best, func(b Best) bool { return b.Step == step }) {
			continue
		}
		if err := os.Remove(filepath.Join(k.Directory, e.Name())); err != nil {
			return fmt.Errorf("training: cannot remove a checkpoint that is no longer among the best: %w", err)
		}
	}
	return nil
}

// Restore takes over the table of a checkpoint of a step. The process may have been killed after it wrote the
// checkpoint and before it linked its names. The next save then links them. The process may also have been
// killed before it removed checkpoints that are no longer among the best.
func (k *CheckpointStore) Restore(best []Best, step int) error {
	k.best = slices.Clone(best[:min(len(best), k.Count)])
	if k.Directory == "" {
		return nil
	}
	if slices.ContainsFunc(k.best, func(b Best) bool { return b.Step == step }) {
		if err := k.findNames(step); err != nil {
			return err
		}
	}
	return k.prune()
}

// findNames finds out whether the best checkpoint of a step has its names.
func (k *CheckpointStore) findNames(step int) error {
	if k.Count > 1 && !exists(filepath.Join(k.Directory, Best{Step: step}.Name())) {
		k.waits = true
	}
	if k.best[0].Step != step {
		return nil
	}
	kept, err := k.Step(filepath.Join(k.Directory, BestName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrCorrupt) {
		return err
	}
	k.waits = k.waits || err != nil || kept != step
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
