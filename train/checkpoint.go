package train

import (
	"cmp"
	"errors"
	"fmt"

	"nmn/format/safetensors"
	"nmn/kernels"
	"nmn/loader/picture"
	"nmn/model"
	"nmn/model/vit"
	"nmn/text"
)

// Errors about checkpoints that a caller may act on.
var (
	// ErrOtherModel means that a checkpoint belongs to another network or other classes.
	ErrOtherModel = model.ErrOtherModel
	// ErrOtherRun means that a checkpoint belongs to other data, another seed or other settings.
	ErrOtherRun = errors.New("the checkpoint belongs to another run")
	// ErrCorrupt means that a file is not a whole checkpoint.
	ErrCorrupt = safetensors.ErrCorrupt
)

// CheckpointFormat is the version of the JSON of a checkpoint that this program writes and reads.
const CheckpointFormat = 1

// frame is the common part of the checkpoints of classifiers.
var frame = Frame[Checkpoint]{
	Key:        "nmn.checkpoint",
	Room:       "training",
	Writer:     "training",
	Check:      (*Checkpoint).check,
	Parameters: func(c *Checkpoint) float64 { return parameters(c.Model) },
	Step:       func(c *Checkpoint) int { return c.Position.Step },
}

// Checkpoint is the metadata of a checkpoint file. The file also holds the parameters under torchvision's
// names, which PyTorch reads. The optimizer's moments have the same layout and are named
// optimizer.m.<parameter> and optimizer.v.<parameter>.
type Checkpoint struct {
	Format int          `json:"format"`
	Model  model.Config `json:"model"`
	Words  []ClassWord  `json:"words"` // in class order
	Data   DataID       `json:"data"`  // what it was trained on
	Stage  int          `json:"stage"`
	// Start is the SHA-256 of the stage 1 checkpoint that this stage started from. It is empty if there was
	// none.
	Start    string   `json:"start,omitempty"`
	Config   Config   `json:"config"`
	Position Position `json:"position"`
	Updates  int      `json:"updates"` // since the optimizer was fresh
	Best     []Best   `json:"best"`    // at this time, the best first
	// Columns are the names of the columns of features, in the order of the inputs. It is nil if they have no names.
	Columns []string `json:"columns,omitempty"`
	// Pictures describes how pictures were read. It is nil for a net on features.
	Pictures *Pictures `json:"pictures,omitempty"`
	// Backbone is the pretrained net that turns pictures into features for this net; nil for none.
	Backbone *Backbone `json:"backbone,omitempty"`
	// Clips describes how clips are read. It is nil for a net that has learned pictures or features of
	// pictures.
	Clips *Clips `json:"clips,omitempty"`
}

// Clips describes the bags of a net that has learned clips.
type Clips struct {
	// ByFrame is set if the net scores each frame alone. The score of a clip is then the maximum over its
	// frames.
	ByFrame bool `json:"by_frame,omitempty"`
	// Frames is the maximum number of frames of a clip. Size is the longest side that they are shrunk to, 0
	// for none. Quality is the quality of their JPEG files, 0 if it is unknown.
	Frames  int `json:"frames"`
	Size    int `json:"size,omitempty"`
	Quality int `json:"quality,omitempty"`
}

// Backbone names the pretrained net that produces the features that a net learns from.
type Backbone struct {
	File     string                `json:"file"` // as it was named
	SHA256   string                `json:"sha256"`
	Net      string                `json:"net"` // for people
	Layer    model.Layer           `json:"layer"`
	Pictures picture.Preprocessing `json:"pictures"`
	// GELU and Heads describe a transformer.
	GELU  vit.GELU `json:"gelu,omitempty"`
	Heads int      `json:"heads,omitempty"`
}

// String describes the backbone in text. It is empty for nil.
func (b *Backbone) String() string {
	if b == nil {
		return ""
	}
	return fmt.Sprintf("%s of %s (%s, sha256 %.12s…); pictures: %s", b.Layer, b.Net, b.File, b.SHA256, b.Pictures)
}

// Pictures describes how pictures become the input of a net, apart from size, mean and scale.
type Pictures struct {
	Fit         picture.Fit         `json:"fit"`
	Resize      picture.Filter      `json:"resize"`
	Orientation picture.Orientation `json:"orientation"`
}

// ClassWord is one class.
type ClassWord struct {
	Text string `json:"text"`
	POS  string `json:"pos,omitempty"` // of words of captions; empty for Others
}

// DataID identifies a training set.
type DataID struct {
	Name string `json:"name"`
	Bags int    `json:"bags"`
	// Fingerprint is a SHA-256 over the identifiers, words and observed labels.
	Fingerprint string `json:"fingerprint"`
}

// Vocabulary returns the names of the classes.
func (c *Checkpoint) Vocabulary() (*text.Vocabulary, error) {
	words := make([]text.Word, len(c.Words))
	for i, w := range c.Words {
		words[i] = text.Word{Text: w.Text, POS: text.Others}
		if w.POS == "" {
			continue
		}
		var err error
		if words[i].POS, err = text.ParsePOS(w.POS); err != nil {
			return nil, fmt.Errorf("training: class %d (%q): %w", i+1, w.Text, err)
		}
	}
	return text.NewVocabulary(words)
}

// ReadCheckpoint reads a checkpoint without its tensors. A file that is cut short or
// damaged gives an error that wraps ErrCorrupt.
func ReadCheckpoint(path string) (*Checkpoint, error) { return frame.Read(path) }

// OpenNet makes the network of a checkpoint on a device, for prediction and evaluation. The caller
// must Close it.
func OpenNet(path string, backend kernels.Backend) (net *model.Net, read *Checkpoint, err error) {
	err = frame.With(path, func(c *Checkpoint, file *safetensors.File) error {
		made, err := model.New(c.Model, backend)
		if err != nil {
			return err
		}
		if _, err = made.Load(file, nil); err == nil {
			err = made.ChunkFrames(c.Config.ChunkFrames)
		}
		if err != nil {
			return errors.Join(err, made.Close())
		}
		net, read = made, c
		return nil
	})
	return net, read, err
}

// check refuses impossible numbers, and a network too large for a file with this number of tensors.
func (c *Checkpoint) check(tensors int) error {
	p := c.Position
	switch {
	case c.Format != CheckpointFormat:
		return fmt.Errorf("its format is %d, this program reads %d", c.Format, CheckpointFormat)
	case p.Epoch < 1 || min(p.Batch, p.Step, p.Bags, p.Images, p.Evaluated, p.Stale, c.Updates) < 0 ||
		p.Evaluated > p.Step || c.Stage != 1 && c.Stage != 2:
		return fmt.Errorf("metadata: position %+v after %d updates in stage %d makes no sense: %w",
			p, c.Updates, c.Stage, ErrCorrupt)
	case len(c.Words) != c.Model.Classes:
		return fmt.Errorf("metadata: %d words for %d classes: %w", len(c.Words), c.Model.Classes, ErrCorrupt)
	}
	if _, err := c.Vocabulary(); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	err := c.Model.Validate()
	if p := c.Pictures; p != nil {
		err = cmp.Or(err, p.Fit.Validate(), p.Resize.Validate(), p.Orientation.Validate())
	}
	if err != nil {
		return fmt.Errorf("metadata: %w: %w", ErrCorrupt, err)
	}
	layers := len(c.Model.Hidden)
	for _, depth := range c.Model.Depths {
		layers += depth
	}
	if layers > tensors || max(c.Model.Size, c.Model.Width) > 1<<14 {
		return fmt.Errorf("metadata: a network of %d layers for pictures of %d pixels, in a file of %d tensors: %w",
			layers, c.Model.Size, tensors, ErrCorrupt)
	}
	return nil
}

// parameters counts the weights in floating point, so that a hostile configuration cannot overflow.
func parameters(c model.Config) (total float64) {
	for _, l := range c.Layers() {
		total += float64(l.R) * float64(l.S) * float64(l.C) * float64(l.K)
	}
	return total
}
