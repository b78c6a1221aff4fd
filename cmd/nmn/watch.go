package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"nmn/captioner"
	"nmn/captioner/session"
	"nmn/eval"
	"nmn/kernels"
	"nmn/run"
	"nmn/telemetry"
	"nmn/telemetry/metrics"
	"nmn/train"
)

// watch reports the progress of training to the terminal and to Prometheus.
type watch struct {
	program  *program
	options  metricsOptions
	metrics  *metrics.Metrics // nil for none
	server   *metrics.Server  // nil without an address
	exporter *metrics.Exporter
}

// openWatch serves and exports metrics if the options ask for it.
func openWatch(ctx context.Context, p *program, o metricsOptions) (_ *watch, err error) {
	w := &watch{program: p, options: o}
	if o.address == "" && o.push == "" || p.follows() {
		return w, nil
	}
	registry := prometheus.NewRegistry()
	if w.metrics, err = metrics.New(registry); err != nil {
		return nil, err
	}
	if o.address != "" {
		if w.server, err = metrics.Serve(ctx, o.address, registry); err != nil {
			return nil, usageError{err}
		}
		if !p.quiet {
			fmt.Fprintf(p.err, "metrics http://%s/metrics\n", w.server.Address())
		}
	}
	if o.push != "" {
		w.exporter, err = metrics.StartExport(metrics.Export{Push: o.push, Run: o.run, Log: p.log}, registry)
		if err != nil {
			return nil, cmp.Or(err, w.close())
		}
	}
	return w, nil
}

func (w *watch) close() error {
	if w.exporter != nil {
		w.exporter.Close()
	}
	if w.server == nil {
		return nil
	}
	return w.server.Close()
}

// ended records in the metrics how a run has ended.
func (w *watch) ended(err error) {
	if w.metrics == nil {
		return
	}
	switch {
	case err == nil:
		w.metrics.Enter(metrics.Finished)
	case exitCode(err) == exitInterrupted:
		w.metrics.Enter(metrics.Interrupted)
	default:
		w.metrics.Enter(metrics.Failed)
	}
}

func (w *watch) observers(t run.Training) []train.Observer {
	all := []train.Observer{telemetry.LogTo(w.program.log)}
	if w.metrics != nil {
		b := run.ThisBuild()
		w.metrics.Begin(metrics.Run{Name: w.options.run, Arm: string(t.Arm), MIL: t.MIL, Noise: t.Noise,
			Seed: t.Seed, Device: t.Device, Version: b.Version, Revision: b.Revision})
		all = append(all, w.metrics.Observer())
	}
	switch w.program.audience() {
	case person, caller:
		all = append(all, w.showProgress(t.Title))
	case record:
		all = append(all, w.tellEpochs(t.Title))
	}
	return all
}

func (w *watch) showProgress(title string) train.Observer {
	show := w.program.showProgress(title, "images")
	return train.Observer{
		Step: func(e train.StepDone) { show(e.Progress, e.Images) },
		Evaluated: func(e train.Evaluated) {
			name, value := run.ValidationMeasure(e.Result)
			fmt.Fprintf(w.program.status, "%s: epoch %d, validation %s %s\n", title, e.Epoch, name, percent(value))
		},
	}
}

// tellEpochs writes a line for each epoch.
func (w *watch) tellEpochs(title string) train.Observer {
	validation := ""
	return train.Observer{
		Evaluated: func(e train.Evaluated) {
			name, value := run.ValidationMeasure(e.Result)
			validation = fmt.Sprintf(", validation %s %s", name, percent(value))
		},
		Epoch: func(e train.EpochDone) {
			seconds := max(e.Duration.Seconds(), 1e-9)
			fmt.Fprintf(w.program.err, "%s: epoch %d, step %d, loss %.4f%s, %.0f images/s, data wait %.0f %%\n", title,
				e.Epoch, e.Step, e.Loss, validation, float64(e.Images)/seconds, 100*e.DataWait.Seconds()/seconds)
			validation = ""
		},
	}
}

func percent(n eval.Number) string {
	if !n.Defined() {
		return "–"
	}
	return fmt.Sprintf("%.2f %%", 100*float64(n))
}

// done clears the line of progress before the evaluation.
func (w *watch) done() {
	w.program.status.clear()
	if w.metrics != nil {
		w.metrics.Enter(metrics.Validating)
	}
}

type watchedSession struct {
	*run.Session
	watch *watch
}

// openWatched opens a session with messages and progress on the terminal, and with metrics if the options ask for them.
// The metrics server starts first, so that it answers while data are read, which may take minutes.
func openWatched(ctx context.Context, p *program, c run.Config, metrics metricsOptions,
	more ...func(*run.Options)) (*watchedSession, error) {
	w, err := openWatch(ctx, p, metrics)
	if err != nil {
		return nil, err
	}
	o := run.Options{Log: p.log, Observer: w.observer(), Group: p.ranks}
	for _, add := range more {
		add(&o)
	}
	s, err := run.Open(ctx, c, o)
	p.status.clear()
	if err != nil {
		w.ended(err)
		return nil, cmp.Or(err, w.close())
	}
	return &watchedSession{s, w}, nil
}

// keepsFeatures keeps the features of a backbone in the folder of a run or an experiment.
func keepsFeatures(p *program, dir string) func(*run.Options) {
	return func(o *run.Options) {
		o.RunDir, o.FeaturesTaken = dir, p.counted("features", "pictures")
	}
}

// observer reports what a session does.
func (w *watch) observer() run.Observer {
	return run.Observer{Message: w.program.message, Training: w.observers, Trained: w.done}
}

// end closes the session at the end of a training and records the outcome in the metrics.
func (s *watchedSession) end(err error) error {
	s.watch.ended(err)
	return cmp.Or(err, s.Close())
}

func (s *watchedSession) Close() error { return cmp.Or(s.watch.close(), s.Session.Close()) }

func (p *program) message(m run.Message) {
	if p.follows() { // rank 0 prints it
		return
	}
	text := withFlags(m.Text)
	if m.Topic != "" {
		text = fmt.Sprintf("%-7s %s", m.Topic, text)
	}
	switch {
	case m.Always:
		fmt.Fprintln(p.status, text)
	case m.Detail:
		p.note("%s", text)
	case !p.quiet:
		fmt.Fprintln(p.status, text)
	}
}

// openModel opens a model on a device and prints the device.
func (p *program) openModel(ctx context.Context, path string, which run.Checkpoint,
	r run.Resources) (*run.Model, error) {
	return run.OpenModel(ctx, path, run.ModelOptions{Checkpoint: which, Run: r, Log: p.log, Message: p.message})
}

// openDevice opens a device and prints it. features is set for nets that do not learn.
func (p *program) openDevice(r *run.Resources, features bool) (kernels.Backend, error) {
	backend, note, err := run.OpenDevice(r, 0, features, p.log)
	if err == nil {
		p.message(run.DeviceMessage(backend, note))
	}
	return backend, err
}

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
