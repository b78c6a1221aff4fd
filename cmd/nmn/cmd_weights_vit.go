package main

import (
	"errors"

	"nmn/format/weights"
	"nmn/model/vit"
)

// transformerFile is the vision transformer of a file, and which of the tensors make it.
type transformerFile struct {
	vit.Config
	vit.Mapping
}

// matchTransformer tells which vision transformer a file holds, or why it is taken for none, where it has the tensors
// that such nets are known by.
func (w *weightsFile) matchTransformer(file *weights.File) {
	config, mapping, err := vit.Recognise(file)
	switch {
	case err == nil:
		w.Transformer, w.Misfit = &transformerFile{config, *mapping}, ""
	case !errors.Is(err, vit.ErrOther):
		w.Misfit = oneLine(err)
	}
}
