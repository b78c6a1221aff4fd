package train

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"syscall"

	"nmn/format/safetensors"
)

// Frame is the common part of all checkpoints of a kind, classifiers or captioners. A file holds the tensors
// of a net and of its optimizer, and About as JSON under a key of its metadata. Reading checks the checksums
// of header and tensors.
type Frame[About any] struct {
	Key    string // of the metadata
	Room   string // that errors name first
	Writer string // of such files, for errors
	// Check refuses metadata that is impossible for a file with this number of tensors. Parameters is the
	// number of parameters of the net, in floating point, so that a hostile configuration cannot overflow.
	Check      func(about *About, tensors int) error
	Parameters func(*About) float64
	Step       func(*About) int // returns the step of a checkpoint
}

// With opens a checkpoint, calls f and closes it. Errors name the file. If the file is cut short or damaged,
// they wrap ErrCorrupt, and describe how to continue from the previous checkpoint if there is one.
func (k Frame[About]) With(path string, f func(*About, *safetensors.File) error) error {
	err := k.with(path, f)
	if err != nil {
		err, _ = k.wayOn(path, err)
	}
	return err
}

// Resume is With for a training that continues from a checkpoint in its own folder. If the last checkpoint is
// damaged and there is no previous one, the error describes how to start over.
func (k Frame[About]) Resume(path string, f func(*About, *safetensors.File) error) error {
	err := k.with(path, f)
	if err == nil {
		return nil
	}
	err, named := k.wayOn(path, err)
	if named {
		return err
	}
	return beginAnew(path, err)
}

func (k Frame[About]) with(path string, f func(*About, *safetensors.File) error) error {
	file, err := safetensors.Open(path)
	if err != nil {
		return fmt.Errorf("%s: cannot open the checkpoint: %w", k.Room, err)
	}
	about, err := k.Parse(file)
	if err == nil {
		err = f(about, file)
	}
	if err = cmp.Or(err, file.Close()); err != nil {
		return fmt.Errorf("%s: checkpoint %q: %w", k.Room, path, err)
	}
	return nil
}

// Read reads the About of a checkpoint, without its tensors.
func (k Frame[About]) Read(path string) (read *About, err error) {
	err = k.With(path, func(about *About, _ *safetensors.File) error {
		read = about
		return nil
	})
	return read, err
}

// StepOf reads the step at which a checkpoint was saved.
func (k Frame[About]) StepOf(path string) (int, error) {
	about, err := k.Read(path)
	if err != nil {
		return 0, err
	}
	return k.Step(about), nil
}

// Parse reads the metadata and checks that it makes sense and that the file is large enough for the net that
// it names, before that net is made.
func (k Frame[About]) Parse(file *safetensors.File) (*About, error) {
	encoded, ok := file.Metadata[k.Key]
	if !ok {
		return nil, fmt.Errorf("it holds tensors, but no %s in its metadata: it was not written by %s: %w",
			k.Key, k.Writer, ErrCorrupt)
	}
	about := new(About)
	if err := json.Unmarshal([]byte(encoded), about); err != nil {
		return nil, fmt.Errorf("metadata %s: %w: %w", k.Key, ErrCorrupt, err)
	}
	names := file.Names()
	if err := k.Check(about, len(names)); err != nil {
		return nil, err
	}
	numbers := 0.0
	for _, name := range names {
		_, shape, err := file.Info(name)
		if err != nil {
			return nil, err
		}
		size := 1.0
		for _, d := range shape {
			size *= float64(d)
		}
		numbers += size
	}
	if need := k.Parameters(about); need > numbers {
		return nil, fmt.Errorf("metadata: a network of %.0f parameters in a file of %.0f numbers: %w",
			need, numbers, ErrCorrupt)
	}
	return about, nil
}

// Replace writes a checkpoint aside, syncs the file and renames it. The file that was there stays whole whatever
// happens, and keeps the name previous, unless that is empty. Non-finite numbers, which would make the checkpoint
// unreadable, are a *NonFiniteError.
func (k Frame[About]) Replace(path, previous string, about *About, tensors []safetensors.Tensor) (size int64,
	err error) {
	meta, err := json.Marshal(about)
	if err != nil {
		return 0, fmt.Errorf("%s: cannot describe the checkpoint: %w", k.Room, err)
	}
	size, err = safetensors.ReplaceFile(path, previous, map[string]string{k.Key: string(meta), "format": "pt"},
		finiteTensors(tensors))
	if broken := (*NonFiniteError)(nil); errors.As(err, &broken) {
		return 0, broken
	}
	if err != nil {
		bytes := int64(len(meta)) + safetensors.Bytes(tensors)
		need := fmt.Sprintf("%d more bytes of disk", bytes)
		if errors.Is(err, syscall.EFBIG) {
			need = fmt.Sprintf("a file of %d bytes, and ulimit -f or the file system allows none so large", bytes)
		}
		return 0, fmt.Errorf("%s: cannot save %q: it needs %s; the checkpoint before it, if any, is untouched: %w",
			k.Room, path,
			need, err)
	}
	return size, nil
}
