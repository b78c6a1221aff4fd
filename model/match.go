package model

import (
	"cmp"
	"strings"

	"nmn/kernels"
)

// MatchVGG16 reports what the convolutional and hidden layers of VGG16 would load from a file, as MatchFile
// does. Its classifier loads nothing. misfit is the reason why none of the file fits, or nil.
func MatchVGG16(f Source) (report LoadReport, misfit, err error) {
	backend, _, err := kernels.Open(kernels.Config{Device: "cpu", Threads: 1})
	if err != nil {
		return report, nil, err
	}
	defer func() { err = cmp.Or(err, backend.Close()) }()
	const classes = 1000
	report, misfit = MatchFile(VGG16(classes, false), backend, f, func(q *Param) Need {
		if strings.HasPrefix(q.Name, "head.fc8.") {
			return Unwanted
		}
		return Required
	})
	return report, misfit, nil
}
