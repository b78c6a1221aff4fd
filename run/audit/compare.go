package runaudit

import (
	"context"
	"log/slog"
	"path/filepath"

	"nmn/internal/setting"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/report"
	"nmn/run"
	"nmn/train"

	dense "gorgonia.org/tensor"
)

// CompareLabels reports, for finished runs on the same bags, how their labels differ from the labels of the
// first run, how many are wrong if the truth is known, and how well the runs do. Bags that the first run has
// not learned do not count. If another run lacks a bag of the first, CompareLabels refuses it.
func CompareLabels(ctx context.Context, dirs []string, log *slog.Logger) (runs []report.LabelledRun, err error) {
	var first *loader.Set
	for _, dir := range dirs {
		c, err := run.FinishedConfig(dir)
		if err != nil {
			return nil, err
		}
		c.Run.LabelMemory = dataset.HoldAll
		data, err := c.OpenData(ctx, dataset.Options{Log: log})
		if err != nil {
			return nil, err
		}
		if err := data.Close(); err != nil { // labels are in memory
			return nil, err
		}
		if first == nil {
			first = data.Train
		}
		labelled, err := labelledRun(dir, data.Train, first)
		if err != nil {
			return nil, err
		}
		runs = append(runs, *labelled)
	}
	return runs, nil
}

// labelledRun describes a run, with its labels next to the labels of the first.
func labelledRun(dir string, set, first *loader.Set) (*report.LabelledRun, error) {
	o, err := run.ReadOutcome(dir)
	if err != nil {
		return nil, err
	}
	r := &report.LabelledRun{Name: filepath.Base(filepath.Clean(dir)), Bags: first.Len(), Classes: first.Vocabulary.Len(),
		Known: set.Truth != nil, Split: o.Split}
	at := make(map[string]int, set.Len())
	for i, id := range set.IDs {
		at[id] = i
	}
	k := first.Vocabulary.Len()
	column := make([]int, k)
	for c, word := range first.Vocabulary.Texts() {
		column[c] = -1 // a word that no bag has any more is no class
		if other, ok := set.Vocabulary.Index(word); ok {
			column[c] = other
		}
	}
	for i, id := range first.IDs {
		row, ok := at[id]
		if !ok {
			return nil, setting.Errorf("", "%s lacks %.60q, which the first run has learned: compare runs on "+
				"equal data", dir, id)
		}
		for c, other := range column {
			z, was := labelAt(set.Labels, row, other), first.Labels.Uint8s()[i*k+c]
			if z == loader.UnknownLabel || was == loader.UnknownLabel {
				if z != was {
					r.Differ++
				}
				continue
			}
			r.Positives += int(z)
			r.Differ += int(z ^ was)
			if set.Truth == nil {
				continue
			}
			if y := labelAt(set.Truth, row, other); z != y {
				r.Incorrect += int(z)
				r.Missing += int(y)
			}
		}
	}
	r.AP = train.Measure("true_map", o.Evaluation)
	r.Truth = r.AP.Defined()
	r.OF1, r.CF1 = train.Measure("true_of1", o.Evaluation), train.Measure("true_cf1", o.Evaluation)
	if !r.Truth {
		r.AP, r.OF1 = train.Measure("map", o.Evaluation), train.Measure("of1", o.Evaluation)
		r.CF1 = train.Measure("cf1", o.Evaluation)
	}
	return r, nil
}

// labelAt is the label of a bag, 0 of no class.
func labelAt(labels *dense.Dense, row, class int) uint8 {
	if class < 0 {
		return 0
	}
	return labels.Uint8s()[row*labels.Shape()[1]+class]
}
