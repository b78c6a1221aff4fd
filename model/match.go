package model

import (
	"strings"

	"nmn/kernels"
)

// MatchVGG16 reports what the convolutional and hidden layers of VGG16 would load from a file, as MatchFile
// does. Its classifier loads nothing. misfit is the reason why none of the file fits, or nil.
func MatchVGG16(f Source) (report LoadReport, misfit, err error) {
	return matchBelow("head.fc8.", VGG16(1000, false), f)
}

// MatchResNet reports what a residual net with a name of ResNets would load from a file, as MatchFile does.
// Its classifier loads nothing. misfit is the reason why none of the file fits, or nil.
func MatchResNet(name string, f Source) (report LoadReport, misfit, err error) {
	config, err := ResNet(name, 1, false)
	if err != nil {
		return report, nil, err
	}
	return matchBelow("head.", config, f)
}

// matchBelow is MatchFile for all layers but the classifier.
func matchBelow(classifier string, config Config, f Source) (report LoadReport, misfit, err error) {
	backend, _, err := kernels.Open(kernels.Config{Device: "cpu", Threads: 1})
	if err != nil {
		return report, nil, err
	}
	report, misfit = MatchFile(config, backend, f, func(q *Param) Need {
		if strings.HasPrefix(q.Name, classifier) {
			return Unwanted
		}
		return Required
	})
	return report, misfit, backend.Close()
}
