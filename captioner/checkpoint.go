package captioner

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

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
