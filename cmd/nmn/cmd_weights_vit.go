package main

import (
	"errors"
	"fmt"
	"strings"

	"nmn/format/weights"
	"nmn/model/backbone"
	"nmn/model/vit"
)

// transformerFile is the vision transformer of a file, and which of the tensors make it.
type transformerFile struct {
	vit.Config
	vit.Mapping
}

// matchTransformer tells which vision transformer a file holds, or why it is taken for none, where it has the tensors
// that such nets are known by. An error is about what is said of the net.
func (w *weightsFile) matchTransformer(file *weights.File, about backbone.Options) error {
	config, mapping, err := vit.Recognise(file)
	switch {
	case err == nil:
		config = about.Transformer(config)
		if config.Heads > 0 { // else it remains to be said
			if err := config.Validate(); err != nil {
				return usageError{fmt.Errorf("weights %s: %w", w.File, err)}
			}
		}
		w.Transformer, w.Misfit = &transformerFile{config, *mapping}, ""
	case !errors.Is(err, vit.ErrOther):
		w.Misfit, w.otherTransformer = strings.TrimPrefix(oneLine(err), "vit: "), true
	}
	return nil
}
