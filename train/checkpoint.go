package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"nmn/format/safetensors"
	"nmn/internal/durable"
	"nmn/kernels"
	"nmn/model"
	"nmn/text"
)

// Names of the checkpoints in Options.Directory. Where more than one best is kept, each is also
// best-<step>.safetensors.
const (
	LastName = "last.safetensors"
	BestName = "best.safetensors"
)

// Errors about checkpoints that a caller may act on.
var (
	// ErrOtherModel tells that a checkpoint belongs to another network or other classes.
	ErrOtherModel = model.ErrOtherModel
	// ErrOtherRun tells that a checkpoint belongs to other data, another seed or other settings.
	ErrOtherRun = errors.New("the checkpoint is of another run")
	// ErrCorrupt tells that a file is not a whole checkpoint.
	ErrCorrupt = safetensors.ErrCorrupt
)

const (
	checkpointKey    = "nmn.checkpoint" // of the metadata
	checkpointFormat = 1
)

// Checkpoint is what a checkpoint tells beside its tensors. The file holds the parameters under
// torchvision's names, which PyTorch reads, and the optimizer's moments beside them in the same
// layout, named optimizer.m.<parameter> and optimizer.v.<parameter>. Checksums of header and tensors are
// compared as they are read.
type Checkpoint struct {
	Format   int          `json:"format"`
	Model    model.Config `json:"model"`
	Words    []ClassWord  `json:"words"` // in class order
	Data     DataID       `json:"data"`  // what it was trained on
	Stage    int          `json:"stage"`
	Config   Config       `json:"config"`
	Position Position     `json:"position"`
	Updates  int          `json:"updates"` // since the optimizer was fresh
	Best     []Best       `json:"best"`    // at this time, the best first
}

// ClassWord is one class.
type ClassWord struct {
	Text string `json:"text"`
	POS  string `json:"pos"`
}

// DataID tells one training set from another.
type DataID struct {
	Name string `json:"name"`
	Bags int    `json:"bags"`
	// Fingerprint is a SHA-256 over the identifiers, words and observed labels.
	Fingerprint string `json:"fingerprint"`
}

// Vocabulary is that of the classes.
func (c *Checkpoint) Vocabulary() (*text.Vocabulary, error) {
	words := make([]text.Word, len(c.Words))
	for i, w := range c.Words {
		pos, err := parsePOS(w.POS)
		if err != nil {
			return nil, fmt.Errorf("training: class %d (%q): %w", i+1, w.Text, err)
		}
		words[i] = text.Word{Text: w.Text, POS: pos}
	}
	return text.NewVocabulary(words)
}

func parsePOS(name string) (text.POS, error) {
	for p := range text.POSCount {
		if text.POS(p).String() == name {
			return text.POS(p), nil
		}
	}
	return 0, fmt.Errorf("unknown part of speech %q", name)
}

// ReadCheckpoint reads what a checkpoint tells, without its tensors. A file that is cut short or
// damaged gives an error that wraps ErrCorrupt.
func ReadCheckpoint(path string) (*Checkpoint, error) {
	var read *Checkpoint
	err := withCheckpoint(path, func(c *checkpointFile) error {
		read = &c.Checkpoint
		return nil
	})
	return read, err
}

// OpenNet makes the network of a checkpoint on a device, for prediction and evaluation. The caller
// must Close it.
func OpenNet(path string, backend kernels.Backend) (*model.Net, *Checkpoint, error) {
	var net *model.Net
	var read *Checkpoint
	err := withCheckpoint(path, func(c *checkpointFile) error {
		read = &c.Checkpoint
		var err error
		if net, err = model.New(c.Model, backend); err != nil {
			return err
		}
		if _, err = net.Load(c.file, nil); err == nil {
			err = net.ChunkFrames(c.Config.ChunkFrames)
		}
		if err != nil {
			return joined(err, net.Close())
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return net, read, nil
}

// checkpointFile is an open checkpoint.
type checkpointFile struct {
	Checkpoint
	file *safetensors.File
}

// withCheckpoint opens a checkpoint, calls f and closes it. Errors name the file.
func withCheckpoint(path string, f func(*checkpointFile) error) error {
	file, err := safetensors.Open(path)
	if err != nil {
		return fmt.Errorf("training: cannot open the checkpoint: %w", err)
	}
	c, err := parseCheckpoint(file)
	if err == nil {
		err = f(c)
	}
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("training: checkpoint %q: %w", path, err)
	}
	return nil
}

// parseCheckpoint reads the metadata and checks that the numbers in it make sense and that the file
// is large enough for the network that it names, before anybody makes that network.
func parseCheckpoint(file *safetensors.File) (*checkpointFile, error) {
	encoded, ok := file.Metadata[checkpointKey]
	if !ok {
		return nil, fmt.Errorf("it holds tensors, but no %s in its metadata: it was not written by training: %w", checkpointKey, ErrCorrupt)
	}
	c := &checkpointFile{file: file}
	if err := json.Unmarshal([]byte(encoded), &c.Checkpoint); err != nil {
		return nil, fmt.Errorf("metadata %s: %w: %w", checkpointKey, ErrCorrupt, err)
	}
	p := c.Position
	switch {
	case c.Format != checkpointFormat:
		return nil, fmt.Errorf("its format is %d, this program reads %d", c.Format, checkpointFormat)
	case p.Epoch < 1 || p.Batch < 0 || p.Step < 0 || p.Bags < 0 || p.Images < 0 || p.Evaluated < 0 || p.Evaluated > p.Step || p.Stale < 0 || c.Updates < 0 || c.Stage != 1 && c.Stage != 2:
		return nil, fmt.Errorf("metadata: position %+v after %d updates in stage %d makes no sense: %w", p, c.Updates, c.Stage, ErrCorrupt)
	case len(c.Words) != c.Model.Classes:
		return nil, fmt.Errorf("metadata: %d words for %d classes: %w", len(c.Words), c.Model.Classes, ErrCorrupt)
	}
	if _, err := c.Vocabulary(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return c, c.checkSize()
}

// checkSize refuses a network that is larger than the file.
func (c *checkpointFile) checkSize() error {
	if err := c.Model.Validate(); err != nil {
		return fmt.Errorf("metadata: %w: %w", ErrCorrupt, err)
	}
	elements, layers := 0.0, 0
	for _, name := range c.file.Names() {
		_, shape, err := c.file.Info(name)
		if err != nil {
			return err
		}
		size := 1.0
		for _, d := range shape {
			size *= float64(d)
		}
		elements += size
	}
	for _, depth := range c.Model.Depths {
		layers += depth
	}
	layers += len(c.Model.Hidden)
	tensors := len(c.file.Names())
	if layers > tensors || max(c.Model.Size, c.Model.Width) > 1<<14 {
		return fmt.Errorf("metadata: a network of %d layers for pictures of %d pixels, in a file of %d tensors: %w", layers, c.Model.Size, tensors, ErrCorrupt)
	}
	if need := parameters(c.Model); need > elements {
		return fmt.Errorf("metadata: a network of %.0f parameters in a file of %.0f numbers: %w", need, elements, ErrCorrupt)
	}
	return nil
}

// parameters counts in floats, where a hostile configuration cannot overflow.
func parameters(c model.Config) float64 {
	if c.Input > 0 {
		total, width := 0.0, float64(c.Input)
		for _, hidden := range c.Hidden {
			total += width * float64(hidden)
			width = float64(hidden)
		}
		return total + width*float64(c.Classes)
	}
	total, channels := 0.0, 3.0
	for i, depth := range c.Depths {
		for range depth {
			total += 9 * channels * float64(c.Widths[i])
			channels = float64(c.Widths[i])
		}
	}
	kernel := float64(c.FC6Kernel)
	total += kernel * kernel * channels * float64(c.FC6)
	return total + float64(c.FC6)*float64(c.FC7) + float64(c.FC7)*float64(c.Classes)
}

// removeLeftovers deletes what a killed process left of files it was writing.
func removeLeftovers(directory string) error {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return fmt.Errorf("training: cannot list the folder of checkpoints: %w", err)
	}
	for _, e := range entries {
		target, aside := durable.Target(e.Name())
		if !aside || target != LastName && target != BestName && !bestFile.MatchString(target) {
			continue
		}
		if err := os.Remove(filepath.Join(directory, e.Name())); err != nil {
			return fmt.Errorf("training: cannot remove an unfinished file: %w", err)
		}
	}
	return nil
}
