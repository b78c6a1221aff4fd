package main

import (
	"nmn/format/weights"
	"nmn/model"
)

// matchResNet tells what a residual net takes of a file, or why not, where the file has the blocks of one.
func (w *weightsFile) matchResNet(file *weights.File) error {
	if w.resNet = model.RecogniseResNet(file); w.resNet == "" {
		return nil
	}
	report, misfit, err := model.MatchResNet(w.resNet, file)
	if err != nil {
		return err
	}
	if misfit != nil {
		w.Misfit = oneLine(misfit)
		return nil
	}
	w.Misfit, w.ResNet = "", &report
	return nil
}
