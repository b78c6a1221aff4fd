package captioner

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"nmn/captioner/s2vt"
	"nmn/format/safetensors"
	"nmn/kernels"
	"nmn/train"
)

// frame is the common part of checkpoints of captioners.
var frame = train.Frame[Checkpoint]{
	Key:        "nmn.captioner",
	Room:       "captioning",
	Writer:     "the training of a captioner",
	Check:      (*Checkpoint).check,
	Parameters: func(c *Checkpoint) float64 { return c.Model.Parameters() },
	Step:       func(c *Checkpoint) int { return c.Position.Step },
}

// Checkpoint is the content of a checkpoint without its tensors. The tensors are the parameters of the net by
// their names, and the moments of the optimizer, named optimizer.m.<parameter> and optimizer.v.<parameter>.
type Checkpoint struct {
	Format   int         `json:"format"`
	Model    s2vt.Config `json:"model"`
	Words    *Words      `json:"words"`
	Data     DataID      `json:"data"` // what it was trained on
	Config   Config      `json:"config"`
	Position Position    `json:"position"`
	Best     Best        `json:"best"` // at this time; its Step is 0 for none yet
}

// Position is the progress of training.
type Position struct {
	Epoch int `json:"epoch"` // the current one, from 1; one more than the limit at the end
	Batch int `json:"batch"` // batches of the epoch that have been used
	Step  int `json:"step"`  // updates so far
	// Captions, Words and LossSum cover the current epoch so far.
	Captions int     `json:"captions"`
	Words    int     `json:"words"`
	LossSum  float64 `json:"loss_sum"`
	// Validated is the step of the last validation, 0 for none yet; Stale the number of validations since the
	// best one.
	Validated int `json:"validated"`
	Stale     int `json:"stale"`
}

// Best is the validation of best.safetensors.
type Best struct {
	Step  int     `json:"step"`
	Epoch int     `json:"epoch"`
	CIDEr float64 `json:"cider"`
}

// DataID identifies a set of clips with captions.
type DataID struct {
	Clips    int `json:"clips"`
	Captions int `json:"captions"`
	// Fingerprint is a SHA-256 over the identifiers, numbers of frames and captions of all clips.
	Fingerprint string `json:"fingerprint"`
}

// identify makes the DataID of a source.
func identify(s Source) DataID {
	h, id := sha256.New(), DataID{Clips: s.Clips()}
	for clip := range s.Clips() {
		captions := s.Captions(clip)
		fmt.Fprintf(h, "%q %d %d\n", s.ID(clip), s.FrameCount(clip), len(captions)) // a hash cannot fail
		for _, words := range captions {
			fmt.Fprintf(h, "%d\n", len(words))
			_ = binary.Write(h, binary.LittleEndian, words)
		}
		id.Captions += len(captions)
	}
	id.Fingerprint = hex.EncodeToString(h.Sum(nil))
	return id
}

// ReadCheckpoint reads a checkpoint without its tensors. A file that is cut short or damaged gives
// an error that wraps train.ErrCorrupt.
func ReadCheckpoint(path string) (*Checkpoint, error) { return frame.Read(path) }

// OpenNet makes the net of a checkpoint on a device, to generate captions. The caller must Close it.
func OpenNet(path string, backend kernels.Backend) (net *s2vt.Net, read *Checkpoint, err error) {
	err = frame.With(path, func(c *Checkpoint, file *safetensors.File) error {
		made, err := s2vt.New(c.Model, backend)
		if err != nil {
			return err
		}
		if err := made.Load(file); err != nil {
			return errors.Join(err, made.Close())
		}
		net, read = made, c
		return nil
	})
	return net, read, err
}

// check refuses numbers that make no sense.
func (c *Checkpoint) check(int) error {
	p := c.Position
	switch {
	case c.Format != train.CheckpointFormat:
		return fmt.Errorf("its format is %d, this program reads %d", c.Format, train.CheckpointFormat)
	case p.Epoch < 1 || min(p.Batch, p.Step, p.Captions, p.Words, p.Stale, p.Validated, c.Best.Step) < 0 ||
		max(p.Validated, c.Best.Step) > p.Step:
		return fmt.Errorf("metadata: position %+v with the best %+v makes no sense: %w", p, c.Best, train.ErrCorrupt)
	case c.Words == nil:
		return fmt.Errorf("metadata: no vocabulary: %w", train.ErrCorrupt)
	case c.Words.Len() != c.Model.Vocabulary:
		return fmt.Errorf("metadata: %d words for a net of %d: %w", c.Words.Len(), c.Model.Vocabulary, train.ErrCorrupt)
	}
	if err := c.Model.Validate(); err != nil {
		return fmt.Errorf("metadata: %w: %w", train.ErrCorrupt, err)
	}
	return nil
}

// save writes last.safetensors if anything has changed since it was written, and keeps it as the best if the
// last validation was the best. If the disk is full, it waits a moment.
func (t *Trainer) save() error {
	return t.keeper.Finish(t.state, observers(t.Observers))
}

// trySave is save during training: a full disk does not end it.
func (t *Trainer) trySave() error {
	return t.keeper.Try(t.state(), observers(t.Observers))
}

// state is the training as it is now. Tensors are read from the net when they are written.
func (t *Trainer) state() train.State[Checkpoint] {
	about := &Checkpoint{Format: train.CheckpointFormat, Model: t.Net.Config(), Words: t.Words, Data: t.data,
		Config: t.Config, Position: t.at, Best: t.best()}
	return train.State[Checkpoint]{Epoch: t.at.Epoch, Step: t.at.Step, Position: t.at, About: about,
		Tensors: slices.Concat(t.Net.Weights(), t.optimizer.Moments())}
}

// best is the validation that was the best so far.
func (t *Trainer) best() Best {
	for _, b := range t.keeper.Best() {
		return Best{Step: b.Step, Epoch: b.Epoch, CIDEr: b.Value}
	}
	return Best{}
}

// Resume goes back to a checkpoint of the same training: weights, optimizer, position and the best. It must
// be called before Run. The checkpoint must be of the same model, words, data, seed and settings; limits and
// intervals may differ, so that training can be made longer. The error wraps train.ErrOtherModel,
// train.ErrOtherRun, ErrOtherWords or train.ErrCorrupt; after one that does not, the net may have been
// changed in part.
func (t *Trainer) Resume(path string) error {
	return frame.Resume(path, func(c *Checkpoint, file *safetensors.File) error {
		if err := t.sameRun(c); err != nil {
			return err
		}
		if batches := t.Batches(); c.Position.Batch > batches {
			return fmt.Errorf("its position is batch %d of an epoch of %d: %w",
				c.Position.Batch, batches, train.ErrCorrupt)
		}
		if err := t.optimizer.Resume(file, c.Position.Step, func() error { return t.Net.Load(file) }); err != nil {
			return err
		}
		t.at = c.Position
		var best []train.Best
		if b := c.Best; b.Step > 0 {
			best = append(best, train.Best{Step: b.Step, Epoch: b.Epoch, Value: b.CIDEr})
		}
		return t.keeper.Restore(best, t.at, t.at.Step)
	})
}

// free are the settings that may change when training is resumed, because they do not change a step.
var free = []string{"epochs", "max_steps", "log_steps", "validate_epochs", "checkpoint_steps", "patience"}

// sameRun returns nil if training can continue from a checkpoint, otherwise the first difference.
func (t *Trainer) sameRun(c *Checkpoint) error {
	if err := cmp.Or(train.SameModel(c.Model, t.Net.Config()), c.Words.Same(t.Words)); err != nil {
		return err
	}
	if c.Data != t.data {
		return fmt.Errorf("it was trained on %d clips with %d captions (%.12s), these are %d with %d (%.12s): %w",
			c.Data.Clips, c.Data.Captions, c.Data.Fingerprint, t.data.Clips, t.data.Captions, t.data.Fingerprint,
			train.ErrOtherRun)
	}
	allowed := free
	if t.Config.Schedule == train.Cosine { // the rate depends on the length of the training
		allowed = free[2:]
	}
	return train.SameSettings(c.Config, t.Config, allowed...)
}
