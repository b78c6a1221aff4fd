package main

import (
	"fmt"

	"nmn/captioner"
	"nmn/captioner/session"
	"nmn/run"
)

// captionObserver reports the training of a captioner.
func (p *program) captionObserver() session.Observer {
	return session.Observer{Message: p.message, Training: p.watchCaptioner, Trained: p.status.clear}
}

// watchCaptioner draws each step, or prints a line for each epoch without a terminal.
func (p *program) watchCaptioner(t run.Training) []captioner.Observer {
	logged := session.LogTo(p.log)
	switch p.audience() {
	case nobody:
		return []captioner.Observer{logged}
	case record:
		return []captioner.Observer{logged, p.tellCaptionEpochs(t.Title)}
	}
	show := p.showProgress(t.Title, "captions")
	return []captioner.Observer{logged, {
		Step: func(e captioner.StepDone) { show(e.Progress, e.Captions) },
		Evaluated: func(e captioner.Evaluated) {
			fmt.Fprintf(p.status, "%s: epoch %d, validation CIDEr-D %.3f\n", t.Title, e.Epoch, e.Scores.CIDErD)
		},
	}}
}

// tellCaptionEpochs writes a line for each epoch and each validation.
func (p *program) tellCaptionEpochs(title string) captioner.Observer {
	return captioner.Observer{
		Epoch: func(e captioner.EpochDone) {
			fmt.Fprintf(p.err, "%s: epoch %d, step %d, loss %.4f (%.4f for a word), %.0f captions/s\n", title, e.Epoch, e.Step,
				e.Loss, e.WordLoss, float64(e.Captions)/max(e.Duration.Seconds(), 1e-9))
		},
		Evaluated: func(e captioner.Evaluated) {
			fmt.Fprintf(p.err, "%s: epoch %d, validation CIDEr-D %.4f\n", title, e.Epoch, e.Scores.CIDErD)
		},
	}
}
