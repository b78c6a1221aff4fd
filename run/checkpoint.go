package run

import (
	"fmt"
	"os"
	"path/filepath"

	"nmn/internal/durable"
	"nmn/internal/setting"
	"nmn/text"
	"nmn/train"
)

// Checkpoint chooses one of the checkpoints of a run folder.
type Checkpoint string

// The checkpoints of a run folder.
const (
	Last Checkpoint = "last" // after the last step
	Best Checkpoint = "best" // after the best validation
)

// FindCheckpoint finds the checkpoint that a path names, itself a file or a run folder, and the folder that it lies in.
func FindCheckpoint(path string, which Checkpoint) (file, folder string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", "", fmt.Errorf("cannot find the model: %w", err)
	}
	if !info.IsDir() {
		return path, filepath.Dir(path), nil
	}
	name := train.LastName
	if which == Best {
		name = train.BestName
	}
	file = filepath.Join(path, name)
	if !durable.Exists(file) {
		return "", "", setting.Errorf("", "%s holds no %s: name a run folder or a checkpoint file", path, name)
	}
	return file, path, nil
}

// SameClasses checks that a model and data have the same words in the same order.
func SameClasses(c *train.Checkpoint, v *text.Vocabulary) error {
	if len(c.Words) != v.Len() {
		return fmt.Errorf("the model has %d classes, the vocabulary of the data %d: give the vocabulary that it was "+
			"trained with (`data.vocabulary`)", len(c.Words), v.Len())
	}
	for i, w := range c.Words {
		if here := v.Word(i).Text; here != w.Text {
			return fmt.Errorf("class %d of the model is %q, the vocabulary of the data has %q: give the vocabulary that it "+
				"was trained with (`data.vocabulary`)", i+1, w.Text, here)
		}
	}
	return nil
}
