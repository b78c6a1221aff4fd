package main

import (
	"cmp"
	"fmt"
	"path/filepath"

	"nmn/captioning"
	"nmn/eval/caption"
	"nmn/run"
	"nmn/telemetry"
)

// captionRecords are the files of a captioner's folder that grow with training.
type captionRecords struct {
	log     *telemetry.Log
	summary *telemetry.Summary
	scores  func() caption.Scores
}

// openCaptionRecords opens them behind a step, -1 for a new run, and writes the configuration first.
func openCaptionRecords(r *captionRun, step int) (*captionRecords, error) {
	log, err := telemetry.OpenLog(filepath.Join(r.dir, run.LogFile), step)
	if err != nil {
		return nil, err
	}
	summary, err := telemetry.OpenCaptionSummary(filepath.Join(r.dir, run.SummaryFile), step)
	if err != nil {
		return nil, cmp.Or(err, log.Close())
	}
	attributes := []any{"resumed_at", max(step, 0)}
	values := run.Flatten(&r.config)
	for _, k := range run.SortedKeys(values) {
		attributes = append(attributes, k, values[k])
	}
	log.Logger().Info("configuration", attributes...)
	return &captionRecords{log: log, summary: summary, scores: func() caption.Scores { return r.last }}, nil
}

func (r *captionRecords) observers() []captioning.Observer {
	return []captioning.Observer{telemetry.LogCaptionsTo(r.log.Logger()), r.summary.CaptionObserver(r.scores)}
}

func (r *captionRecords) close() error { return cmp.Or(r.summary.Err(), r.log.Close()) }

// watch shows people how training goes: a line that is kept up to date on a terminal, else one for each
// epoch.
func (r *captionRun) watch() captioning.Observer {
	p := r.program
	switch {
	case p.quiet:
		return captioning.Observer{}
	case !p.interactive(p.err):
		return r.tellEpochs()
	}
	show := p.showProgress(r.title, "captions")
	return captioning.Observer{
		Step: func(e captioning.StepDone) { show(e.Progress, e.Captions) },
		Evaluated: func(e captioning.Evaluated) {
			fmt.Fprintf(p.status, "%s: epoch %d, validation CIDEr-D %.3f\n", r.title, e.Epoch, e.CIDEr)
		},
	}
}

// tellEpochs writes a line for each epoch and each validation.
func (r *captionRun) tellEpochs() captioning.Observer {
	p := r.program
	return captioning.Observer{
		Epoch: func(e captioning.EpochDone) {
			fmt.Fprintf(p.err, "%s: epoch %d, step %d, loss %.4f (%.4f for a word), %.0f captions/s\n",
				r.title, e.Epoch, e.Step, e.Loss, e.WordLoss,
				float64(e.Captions)/max(e.Duration.Seconds(), 1e-9))
		},
		Evaluated: func(e captioning.Evaluated) {
			fmt.Fprintf(p.err, "%s: epoch %d, validation CIDEr-D %.4f\n", r.title, e.Epoch, e.CIDEr)
		},
	}
}
