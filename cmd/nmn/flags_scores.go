package main

import (
	"nmn/eval"
	"nmn/labels/rates"
)

// scoreFlags declares the files of commands on out-of-fold scores.
func scoreFlags(r group, f *eval.Files) {
	r.file(&f.Scores, "scores", "read out-of-fold scores from this `file`", "csv", "npy")
	r.file(&f.Labels, "labels", "read observed labels (0, 1, -1 or NaN) from this `file`", "csv", "npy", "jsonl")
	r.file(&f.Truth, "truth", "read known true labels from this `file`", "csv", "npy")
	r.bool(&f.Logits, "logits", "read scores as log-odds instead of probabilities")
}

// estimationFlags declares the settings of an estimate of noise rates.
func estimationFlags(r group, o *rates.Options) {
	r.float(&o.MinSlope, "min-slope", "require this `slope` of scores; try .05 for weak features")
	r.float(&o.Strength01, "prior-missing", "shrink q01 towards other classes by this many `labels`")
	r.float(&o.Strength10, "prior-incorrect", "shrink q10 towards other classes by this many `labels`")
	r.int(&o.MinPositives, "min-labels", "estimate only classes with this many `labels`")
	r.int(&o.Workers, "threads", "compute with this many `goroutines`")
}

// checkScores returns a mistake in usage for a missing file or a setting out of range.
func checkScores(command string, f *eval.Files, o rates.Options) error {
	if err := o.Validate(); err != nil {
		return usageError{err}
	}
	if f.Scores == "" || f.Labels == "" {
		return usagef("%s: needs --scores, out-of-fold scores of every picture, and --labels, the observed labels", command)
	}
	return nil
}
