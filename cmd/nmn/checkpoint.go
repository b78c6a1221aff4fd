package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"nmn/internal/durable"
	"nmn/kernels"
	"nmn/model"
	"nmn/text"
	"nmn/train"
)

type checkpointName string

const (
	checkpointLast checkpointName = "last"
	checkpointBest checkpointName = "best"
)

func checkpointFlag(r room, v *checkpointName) {
	enum(r, v, "checkpoint", "of a run folder, the `checkpoint` to take", checkpointLast, checkpointBest)
}

// openedNet is the net of a checkpoint on a device that was opened for it alone.
type openedNet struct {
	*model.Net
	backend    kernels.Backend
	vocabulary *text.Vocabulary
}

func openNet(p *program, r *runConfig, file string) (*openedNet, error) {
	backend, err := p.openDevice(r)
	if err != nil {
		return nil, err
	}
	net, checkpoint, err := train.OpenNet(file, backend)
	if err != nil {
		return nil, cmp.Or(err, backend.Close())
	}
	o := &openedNet{Net: net, backend: backend}
	if o.vocabulary, err = checkpoint.Vocabulary(); err != nil {
		return nil, cmp.Or(err, o.Close())
	}
	return o, nil
}

// Close gives back the net and its device.
func (o *openedNet) Close() error { return cmp.Or(o.Net.Close(), o.backend.Close()) }

// findCheckpoint finds the checkpoint that an argument names, a file or a run folder, and the folder
// that it lies in.
func findCheckpoint(path string, which checkpointName) (file, folder string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", "", fmt.Errorf("cannot find the model: %w", err)
	}
	if !info.IsDir() {
		return path, filepath.Dir(path), nil
	}
	name := train.LastName
	if which == checkpointBest {
		name = train.BestName
	}
	file = filepath.Join(path, name)
	if !durable.Exists(file) {
		return "", "", usagef("%s holds no %s: name a run folder or a checkpoint file", path, name)
	}
	return file, path, nil
}

func completeModels(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// sameClasses checks that a model and data have the same words in the same order.
func sameClasses(c *train.Checkpoint, v *text.Vocabulary) error {
	if len(c.Words) != v.Len() {
		return fmt.Errorf("the model has %d classes, the vocabulary of the data %d: give the vocabulary that it was trained with (--vocab)", len(c.Words), v.Len())
	}
	for i, w := range c.Words {
		if here := v.Word(i).Text; here != w.Text {
			return fmt.Errorf("class %d of the model is %q, the vocabulary of the data has %q: give the vocabulary that it was trained with (--vocab)", i+1, w.Text, here)
		}
	}
	return nil
}

// openDevice opens a device and says which.
func (p *program) openDevice(r *runConfig) (kernels.Backend, error) {
	backend, note, err := openDevice(r, p.log)
	if err == nil {
		p.tell(deviceMessage(backend, note))
	}
	return backend, err
}
