package train

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"nmn/format/safetensors"
	"nmn/internal/durable"
)

// DefaultCheckpointMinutes is the default time between checkpoints by the clock.
const DefaultCheckpointMinutes = 15

// retryAfter is how long a checkpoint that found no room on the disk waits for the next attempt.
const retryAfter = 10 * time.Second

// mostHeld is how much memory a best checkpoint takes that found no room on the disk, in bytes.
const mostHeld = 1<<31 - 1

// State is a moment of a training, which can be written as a checkpoint.
type State[About any] struct {
	Epoch, Step int
	// Position is a comparable value. A checkpoint with the position of the last one is not written again.
	Position any
	About    *About
	Tensors  []safetensors.Tensor // read from the net when they are written
}

// Teller receives events about checkpoints. Observers implement it.
type Teller interface {
	Saved(Saved)
	Unsaved(Unsaved)
}

// Due reports whether a checkpoint should be written at the next step: by the clock, for a new best, or because the
// last one could not be.
func (k *CheckpointStore[About]) Due() bool {
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

// Try saves for a training that continues. If the disk is full, it reports that and returns nil. It then
// holds a new best in memory. It skips any other checkpoint, and Due soon asks for another one.
func (k *CheckpointStore[About]) Try(s State[About], tell Teller) error {
	resting := k.missing != nil && k.Clock().Sub(k.tried) < retryAfter
	if resting && k.waits {
		return k.hold(s)
	}
	if resting {
		return nil
	}
	err := k.save(s, tell)
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

// Finish saves for a training that ends or is interrupted. If the disk is full, it reports that and waits
// for room (durable.Patiently). It calls state before each try.
func (k *CheckpointStore[About]) Finish(state func() State[About], tell Teller) error {
	return durable.Patiently(context.Background(), func(err error) {
		s := state()
		tell.Unsaved(Unsaved{Epoch: s.Epoch, Step: s.Step, Err: err})
	}, func() error { return k.save(state(), tell) })
}

// save writes last.safetensors if anything has changed since the last save, and keeps it as the best if the
// last Offer was. The earlier last.safetensors becomes previous.safetensors.
func (k *CheckpointStore[About]) save(s State[About], tell Teller) error {
	if k.Directory == "" || k.Saved(s.Position) && !k.unsaved() {
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
func (k *CheckpointStore[About]) write(s State[About]) (e Saved, err error) {
	if k.held != nil {
		if err := k.held(filepath.Join(k.Directory, BestName)); err != nil {
			return e, fmt.Errorf("training: cannot keep the checkpoint of step %d as the best: %w", k.best[0].Step, err)
		}
		k.held = nil
	}
	path, previous := filepath.Join(k.Directory, LastName), ""
	if !k.Saved(s.Position) {
		previous = filepath.Join(k.Directory, PreviousName)
	}
	e = Saved{Epoch: s.Epoch, Step: s.Step, Path: path, Best: k.waits}
	if e.Bytes, err = k.Replace(path, previous, s.About, s.Tensors); err != nil {
		return e, err
	}
	k.saved = s.Position
	return e, k.commit(path)
}

// hold copies a new best into memory, because the next step changes the net.
func (k *CheckpointStore[About]) hold(s State[About]) error {
	size := safetensors.Bytes(s.Tensors)
	if size > mostHeld {
		return fmt.Errorf("training: the best checkpoint so far takes %d bytes, and %d are left for those that "+
			"wait in memory for room on the disk", size, mostHeld)
	}
	copies, err := safetensors.Copy(s.Tensors)
	if err != nil {
		return fmt.Errorf("training: cannot keep a checkpoint in memory: %w", err)
	}
	k.waits, k.held = false, func(path string) error {
		_, err := k.Replace(path, "", s.About, copies)
		return err
	}
	return nil
}
