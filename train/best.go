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

	"nmn/internal/durable"
)

// Best is one of the best checkpoints.
type Best struct {
	Step  int     `json:"step"`
	Epoch int     `json:"epoch"`
	Value float64 `json:"value"` // of Config.BestBy
}

// Name is the file of the checkpoint where more than one best is kept.
func (b Best) Name() string { return fmt.Sprintf("best-%d.safetensors", b.Step) }

var bestFile = regexp.MustCompile(`^best-(\d+)\.safetensors$`)

// keeper keeps the best checkpoints of a folder.
type keeper struct {
	directory string
	count     int
	lower     bool
	best      []Best // the best first; of equal values the earlier one
	waits     bool   // a new best has no file yet
}

func newKeeper(directory string, c Config) keeper {
	return keeper{directory: directory, count: c.KeepBest, lower: lowerIsBetter(c.BestBy)}
}

// offer takes a validated step into the table where it is better than what is there, and tells
// whether it was.
func (k *keeper) offer(b Best) bool {
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

func (k *keeper) better(a, b Best) bool {
	if k.lower {
		return a.Value < b.Value
	}
	return a.Value > b.Value
}

// commit gives the checkpoint that was just written to a path its names among the best, and removes
// what is not among them any more. The names are hard links: files are replaced, never changed.
func (k *keeper) commit(path string) error {
	if !k.waits {
		return nil
	}
	if err := k.link(path); err != nil {
		return fmt.Errorf("training: cannot keep %q as one of the best: %w", path, err)
	}
	k.waits = false
	return k.prune()
}

func (k *keeper) link(path string) error {
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
func (k *keeper) prune() error {
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

// restore takes over the table of a checkpoint of a step. The process may have been killed after it
// wrote the checkpoint and before it gave it its names, which then wait for the next save, or before
// it removed what is no longer among the best.
func (k *keeper) restore(best []Best, step int) error {
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

// findNames looks whether the best checkpoint of a step has got its names.
func (k *keeper) findNames(step int) error {
	if k.count > 1 && !exists(filepath.Join(k.directory, Best{Step: step}.Name())) {
		k.waits = true
	}
	if k.best[0].Step != step {
		return nil
	}
	kept, err := ReadCheckpoint(filepath.Join(k.directory, BestName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	k.waits = k.waits || err != nil || kept.Position.Step != step
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
