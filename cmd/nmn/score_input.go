package main

import (
	"fmt"

	"nmn/eval"
	"nmn/labels/rates"
	"nmn/run"
)

// scoreFiles are the files that every command on scores takes.
type scoreFiles struct{ run.ScoreFiles }

// readLogits reads score files with their labels for what works on logits: nmn rates and nmn audit.
func (f *scoreFiles) readLogits(command string) (eval.Input, error) {
	if f.Scores == "" || f.Labels == "" {
		return eval.Input{}, usagef("%s: needs --scores, out-of-fold scores of every bag, and --labels, the observed labels", command)
	}
	return f.ReadLogits()
}

// flags declares them.
func (f *scoreFiles) flags(r room) {
	r.file(&f.Scores, "scores", "`file` with out-of-fold scores: a row for each bag, a column for each word", "csv", "npy")
	r.file(&f.Labels, "labels", "`file` with the observed labels, 0 or 1", "csv", "npy")
	r.file(&f.Truth, "truth", "`file` with the true labels, where they are known", "csv", "npy")
	r.bool(&f.Logits, "logits", "scores are log-odds instead of probabilities")
}

// estimation are the flags of an estimate of noise rates.
type estimation struct {
	options rates.Options
}

func (e *estimation) flags(r room) {
	e.options = rates.DefaultOptions()
	o := &e.options
	r.int(&o.Iterations, "iterations", "`iterations` of all classes together, and again of each class")
	r.float(&o.MinSlope, "min-slope", "least `slope` of scores, as a factor; .05 where features hardly predict some classes")
	r.float(&o.Strength01, "prior-missing", "weight of the other classes on q01, in true `labels`")
	r.float(&o.Strength10, "prior-incorrect", "weight of the other classes on q10, in untrue `labels`")
	r.int(&o.MinPositives, "min-labels", "least `labels`, there and not there, of a class whose rates are believed")
	r.float(&o.Confidence, "confidence", "`probability` that an interval holds the rate")
	r.int(&o.Workers, "threads", "`goroutines` that compute; 0 for one on each processor. Results do not depend on it")
}

// check turns a setting out of range into a mistake in usage.
func (e *estimation) check() error {
	if err := e.options.Validate(); err != nil {
		return usageError{err}
	}
	return nil
}

// watched shows progress to a person at a terminal; the second result takes it away.
func (e *estimation) watched(p *program) (rates.Options, func()) {
	o := e.options
	if p.quiet || !p.interactive(p.err) {
		return o, func() {}
	}
	shown := -1
	o.Progress = func(done, total int) {
		if percent := 100 * done / total; percent != shown {
			shown = percent
			p.status.show(fmt.Sprintf("noise rates: %d %%", percent))
		}
	}
	return o, p.status.clear
}

func ratesInput(in *eval.Input) rates.Input {
	return rates.Input{Bags: in.Bags, Classes: in.Classes, Scores: in.Scores, Labels: in.Labels, Words: in.Words, IDs: in.IDs}
}
