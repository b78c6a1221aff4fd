package main

import (
	"fmt"

	"nmn/eval"
	"nmn/labels/rates"
)

// scoreFlags declares the files that the commands on out-of-fold scores take.
func scoreFlags(r group, f *eval.Files) {
	r.file(&f.Scores, "scores", "`file` with out-of-fold scores: a row for each bag, a column for each "+
		"word", "csv", "npy")
	r.file(&f.Labels, "labels", "`file` with the observed labels, 0 or 1, -1 or NaN where unknown; also a manifest, "+
		"whose rows are found by id or path", "csv", "npy", "jsonl")
	r.file(&f.Truth, "truth", "`file` with the true labels, where they are known", "csv", "npy")
	r.bool(&f.Logits, "logits", "scores are log-odds instead of probabilities")
}

// estimationFlags declares the settings of an estimate of noise rates.
func estimationFlags(r group, o *rates.Options) {
	r.float(&o.MinSlope, "min-slope", "least `slope` of scores, as a factor; .05 where features hardly predict some "+
		"classes")
	r.float(&o.Strength01, "prior-missing", "weight of the other classes on q01, in true `labels`")
	r.float(&o.Strength10, "prior-incorrect", "weight of the other classes on q10, in untrue `labels`")
	r.int(&o.MinPositives, "min-labels", "least `labels`, there and not there, of a class whose rates are believed")
	r.int(&o.Workers, "threads", "`goroutines` that compute; 0 for one on each processor. Results do not depend on it")
}

// checkScores turns a file that is missing, or a setting out of range, into a mistake in usage.
func checkScores(command string, f *eval.Files, o rates.Options) error {
	if err := o.Validate(); err != nil {
		return usageError{err}
	}
	if f.Scores == "" || f.Labels == "" {
		return usagef("%s: needs --scores, out-of-fold scores of every bag, and --labels, the observed labels", command)
	}
	return nil
}

// watchedEstimation shows the progress of an estimate to who looks; the second result takes it away.
func watchedEstimation(p *program, o rates.Options) (rates.Options, func()) {
	if !p.watched() {
		return o, func() {}
	}
	shown := -1
	o.Progress = func(done, total int) {
		if percent := 100 * done / total; percent != shown {
			shown = percent
			p.draw(stage{Title: "noise rates", Done: done, Total: total, Unit: "iterations"},
				fmt.Sprintf("noise rates: %d %%", percent))
		}
	}
	return o, p.status.clear
}
