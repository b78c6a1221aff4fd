package main

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/schollz/progressbar/v3"

	"nmn/telemetry"
	"nmn/train"
)

// watch shows people and Prometheus how training goes.
type watch struct {
	program *program
	metrics *telemetry.Metrics // nil for none
	server  *telemetry.Server
	bar     *progressbar.ProgressBar // of the stage that runs, nil for none
}

// openWatch serves metrics where an address is given.
func openWatch(ctx context.Context, p *program, address string) (*watch, error) {
	w := &watch{program: p}
	if address == "" {
		return w, nil
	}
	registry := prometheus.NewRegistry()
	metrics, err := telemetry.NewMetrics(registry)
	if err != nil {
		return nil, err
	}
	server, err := telemetry.Serve(ctx, address, registry)
	if err != nil {
		return nil, usageError{err}
	}
	w.metrics, w.server = metrics, server
	if !p.quiet {
		fmt.Fprintf(p.err, "metrics http://%s/metrics\n", server.Address())
	}
	return w, nil
}

func (w *watch) close() error {
	if w.server == nil {
		return nil
	}
	return w.server.Close()
}

// observers watch one stage of so many steps.
func (w *watch) observers(title string, steps int) []train.Observer {
	all := []train.Observer{telemetry.LogTo(w.program.log)}
	if w.metrics != nil {
		all = append(all, w.metrics.Observer())
	}
	switch {
	case w.program.quiet:
	case w.program.interactive(w.program.err):
		w.bar = w.newBar(title, steps)
		all = append(all, w.showBar(title))
	default:
		all = append(all, w.tellEpochs(title))
	}
	return all
}

func (w *watch) newBar(title string, steps int) *progressbar.ProgressBar {
	return progressbar.NewOptions(steps,
		progressbar.OptionSetWriter(w.program.err),
		progressbar.OptionSetDescription(title),
		progressbar.OptionSetWidth(max(10, min(30, w.program.width(w.program.err)-80))),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionUseANSICodes(w.program.getenv("NO_COLOR") == ""),
	)
}

// showBar keeps a bar up to date, with the speed and the share of time spent waiting for data.
func (w *watch) showBar(title string) train.Observer {
	var speed average
	return train.Observer{
		Step: func(e train.StepDone) {
			speed.add(e)
			w.bar.Describe(fmt.Sprintf("%s, epoch %d, loss %.3f, %.0f images/s, data wait %.0f %%", title, e.Epoch, e.Loss, speed.rate(), speed.wait()))
			_ = w.bar.Set(e.Step) // a bar that cannot be drawn must not stop training
		},
		Evaluated: func(e train.Evaluated) {
			_ = w.bar.Clear()
			fmt.Fprintf(w.program.err, "%s: epoch %d, validation AP %.2f %%\n", title, e.Epoch, 100*float64(validationAP(e.Result)))
		},
	}
}

// tellEpochs writes a line for each epoch.
func (w *watch) tellEpochs(title string) train.Observer {
	validation := ""
	return train.Observer{
		Evaluated: func(e train.Evaluated) {
			validation = fmt.Sprintf(", validation AP %.2f %%", 100*float64(validationAP(e.Result)))
		},
		Epoch: func(e train.EpochDone) {
			seconds := max(e.Duration.Seconds(), 1e-9)
			fmt.Fprintf(w.program.err, "%s: epoch %d, step %d, loss %.4f%s, %.0f images/s, data wait %.0f %%\n", title, e.Epoch, e.Step, e.Loss,
				validation, float64(e.Images)/seconds, 100*e.DataWait.Seconds()/seconds)
			validation = ""
		},
	}
}

// done takes the bar away.
func (w *watch) done() {
	if w.bar != nil {
		_ = w.bar.Finish()
		w.bar = nil
	}
}

// average is over the recent steps, older ones counting less and less.
type average struct{ images, seconds, waited float64 }

func (a *average) add(e train.StepDone) {
	const keep = .95
	a.images = keep*a.images + float64(e.Images)
	a.seconds = keep*a.seconds + e.Duration.Seconds()
	a.waited = keep*a.waited + e.DataWait.Seconds()
}

func (a *average) rate() float64 { return a.images / max(a.seconds, 1e-9) }

func (a *average) wait() float64 { return 100 * a.waited / max(a.seconds, 1e-9) }
