package train

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"nmn/internal/durable"
)

// DefaultCheckpointMinutes is the default time between checkpoints by the clock.
const DefaultCheckpointMinutes = 15

// retryAfter is how long a checkpoint that found no room on the disk waits for the next attempt.
const retryAfter = 10 * time.Second

// mostHeld is how much memory a best checkpoint takes that found no room on the disk, in bytes.
const mostHeld = 1<<31 - 1

// State is a moment of a training, which can be written as a checkpoint.
type State struct {
	Epoch, Step int
	Changed     bool // since the last checkpoint was written
	// Write writes the checkpoint to a path. It keeps the earlier file under the name previous, if that is
	// not empty.
	Write func(path, previous string) (size int64, err error)
	// Hold copies the checkpoint into memory, at most this many bytes, and returns a function that writes the
	// copy.
	Hold func(most int64) (*Held, error)
}

// Held is a checkpoint in memory.
type Held struct {
	Bytes int64
	Write func(path string) error
}

// Teller receives events about checkpoints. Observers implement it.
type Teller interface {
	Saved(Saved)
	Unsaved(Unsaved)
}

// Due reports whether a checkpoint should be written at the next step: by the clock, for a new best, or because the
// last one could not be.
func (k *CheckpointStore) Due() bool {
	if k.Directory == "" {
		return false
	}
	if k.waits {
		return true
	}
	now := k.Clock()
	if k.missing != nil {
		return now.Sub(k.tried) >= retryAfter
	}
	return k.Minutes > 0 && now.Sub(k.tried).Minutes() >= k.Minutes
}

// Try is Save for a training that continues. If the disk is full, it reports that and returns nil. It then
// holds a new best in memory. It skips any other checkpoint, and Due soon asks for another one.
func (k *CheckpointStore) Try(s State, tell Teller) error {
	resting := k.missing != nil && k.Clock().Sub(k.tried) < retryAfter
	if resting && k.waits {
		return k.hold(s)
	}
	if resting {
		return nil
	}
	err := k.Save(s, tell)
	if err == nil || !durable.Full(err) {
		return err
	}
	if k.waits {
		if holding := k.hold(s); holding != nil {
			return errors.Join(err, holding)
		}
	}
	tell.Unsaved(Unsaved{Epoch: s.Epoch, Step: s.Step, Err: err})
	return nil
}

// Finish is Save for a training that ends or is interrupted. If the disk is full, it reports that and waits
// for room (durable.Patiently). It calls state before each try.
func (k *CheckpointStore) Finish(state func() State, tell Teller) error {
	return durable.Patiently(context.Background(), func(err error) {
		s := state()
		tell.Unsaved(Unsaved{Epoch: s.Epoch, Step: s.Step, Err: err})
	}, func() error { return k.Save(state(), tell) })
}

// Save writes last.safetensors if anything has changed since the last save, and keeps it as the best if the
// last Offer was. The earlier last.safetensors becomes previous.safetensors.
func (k *CheckpointStore) Save(s State, tell Teller) error {
	if k.Directory == "" || !s.Changed && !k.Waits() {
		k.waits = false
		return nil
	}
	began := time.Now()
	e, err := k.write(s)
	k.tried, k.missing = k.Clock(), err
	if broken := (*NonFiniteError)(nil); errors.As(err, &broken) {
		broken.Epoch, broken.Step = s.Epoch, s.Step
	}
	if err != nil {
		return err
	}
	e.Duration = time.Since(began)
	tell.Saved(e)
	return nil
}

// write writes the files that are not written yet. The best comes first: a checkpoint is never without the
// best one that it names.
func (k *CheckpointStore) write(s State) (e Saved, err error) {
	if k.held != nil {
		if err := k.held.Write(filepath.Join(k.Directory, BestName)); err != nil {
			return e, fmt.Errorf("training: cannot keep the checkpoint of step %d as the best: %w", k.best[0].Step, err)
		}
		k.held = nil
	}
	path, previous := filepath.Join(k.Directory, LastName), ""
	if s.Changed {
		previous = filepath.Join(k.Directory, PreviousName)
	}
	e = Saved{Epoch: s.Epoch, Step: s.Step, Path: path, Best: k.waits}
	if e.Bytes, err = s.Write(path, previous); err != nil {
		return e, err
	}
	return e, k.commit(path)
}

// hold keeps a new best in memory: the next step changes the net.
func (k *CheckpointStore) hold(s State) (err error) {
	k.held, err = s.Hold(mostHeld)
	k.waits = err != nil
	return err
}
