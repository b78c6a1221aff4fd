package runweights

import (
	"cmp"
	"fmt"

	"nmn/format/weights"
	"nmn/model"
)

// Options say how a file is loaded.
type Options struct {
	// Classifier says whether the last layer is loaded too.
	Classifier model.Need
}

// Loaded describes a file that was loaded.
type Loaded struct {
	Format string
	Report model.LoadReport
	Table  string // its layers, for people
}

// Load loads a file of weights into a net.
func Load(net *model.Net, path string, o Options) (l *Loaded, err error) {
	file, err := weights.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open the weights: %w", err)
	}
	defer func() { err = cmp.Or(err, file.Close()) }()
	report, err := net.LoadAs(file, func(q *model.Param) model.Need {
		if net.IsClassifier(q) {
			return o.Classifier
		}
		return model.Required
	})
	if err != nil {
		return nil, fmt.Errorf("weights %s: %w", path, err)
	}
	return &Loaded{Format: file.Format, Report: report,
		Table: table(path, file.Format, len(file.Names()), &report)}, nil
}
