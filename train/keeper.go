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

// Names of the checkpoints in a folder. Where more than one best is kept, each is also best-<step>.safetensors.
const (
	LastName = "last.safetensors"
	BestName = "best.safetensors"
)

// Best is one of the best checkpoints.
type Best struct {
	Step  int     `json:"step"`
	Epoch int     `json:"epoch"`
	Value float64 `json:"value"` // that it is judged by
}

// Name is the file of the checkpoint where more than one best is kept.
func (b Best) Name() string { return fmt.Sprintf("best-%d.safetensors", b.Step) }

var bestFile = regexp.MustCompile(`^best-(\d+)\.safetensors$`)

// Keeper writes the checkpoints of a folder and keeps the best of them, of a classifier or a captioner.
type Keeper struct {
	directory string
	count     int
	lower     bool
	step      func(path string) (int, error) // that a checkpoint is of
	best      []Best                         // the best first; of equal values the earlier one
	waits     bool                           // a new best has no file yet
}

// NewKeeper keeps the best count checkpoints of a folder, empty for none, beside the last: those with the
// highest values, or with the lowest. step reads the step of a checkpoint.
func NewKeeper(directory string, count int, lower bool, step func(path string) (int, error)) Keeper {
	return Keeper{directory: directory, count: count, lower: lower, step: step}
}

// Best lists the best checkpoints, the best first.
func (k *Keeper) Best() []Best { return k.best }

// Waits reports whether a new best has no file yet: the next Save gives it one.
func (k *Keeper) Waits() bool { return k.waits }

// Offer takes a validated step into the table where it is better than what is there, and reports
// whether it was.
func (k *Keeper) Offer(b Best) bool {
	at := len(k.best)
	for at > 0 && k.better(b, k.best[at-1]) {
		at--
	}
	if at >= k.count {
		return false
	}
	k.best = slices.Insert(slices.Clone(k.best), at, b)
	k.best = k.best[:min(len(k.best), k.count)]
	k.waits = true
	return true
}

// Save writes last.safetensors by write where anything has changed since it was written, and keeps it as one
// of the best where the last Offer says so. saved is called with it.
func (k *Keeper) Save(epoch, step int, changed bool, write func(path string) (int64, error), saved func(Saved)) error {
	if k.directory == "" || !changed && !k.waits {
		k.waits = false
		return nil
	}
	began, path := time.Now(), filepath.Join(k.directory, LastName)
	size, err := write(path)
	if err != nil {
		return err
	}
	e := Saved{Epoch: epoch, Step: step, Path: path, Best: k.waits, Bytes: size}
	if err := k.commit(path); err != nil {
		return err
	}
	e.Duration = time.Since(began)
	saved(e)
	return nil
}

func (k *Keeper) better(a, b Best) bool {
	if k.lower {
		return a.Value < b.Value
	}
	return a.Value > b.Value
}

// commit gives the checkpoint that was just written to a path its names among the best, and removes
// what is not among them any more. The names are hard links: files are replaced, never changed.
func (k *Keeper) commit(path string) error {
	if !k.waits {
		return nil
	}
	if err := k.link(path); err != nil {
		return fmt.Errorf("training: cannot keep %q as one of the best: %w", path, err)
	}
	k.waits = false
	return k.prune()
}

func (k *Keeper) link(path string) error {
	newest := slices.MaxFunc(k.best, func(a, b Best) int { return a.Step - b.Step })
	if k.count > 1 {
		if err := durable.Link(path, filepath.Join(k.directory, newest.Name())); err != nil {
			return err
		}
	}
	if k.best[0] == newest {
		return durable.Link(path, filepath.Join(k.directory, BestName))
	}
	return nil
}

// prune removes best-<step> files that are not in the table.
func (k *Keeper) prune() error {
	entries, err := os.ReadDir(k.directory)
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
		if err := os.Remove(filepath.Join(k.directory, e.Name())); err != nil {
			return fmt.Errorf("training: cannot remove a checkpoint that is no longer among the best: %w", err)
		}
	}
	return nil
}

// Restore takes over the table of a checkpoint of a step. The process may have been killed after it
// wrote the checkpoint and before it gave it its names, which then wait for the next save, or before
// it removed what is no longer among the best.
func (k *Keeper) Restore(best []Best, step int) error {
	k.best = slices.Clone(best[:min(len(best), k.count)])
	if k.directory == "" {
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
func (k *Keeper) findNames(step int) error {
	if k.count > 1 && !exists(filepath.Join(k.directory, Best{Step: step}.Name())) {
		k.waits = true
	}
	if k.best[0].Step != step {
		return nil
	}
	kept, err := k.step(filepath.Join(k.directory, BestName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	k.waits = k.waits || err != nil || kept != step
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
