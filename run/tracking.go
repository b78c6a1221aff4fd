package run

import (
	"context"
	"encoding/hex"
	"errors"
	"path/filepath"
	"strings"

	"nmn/internal/durable"
	"nmn/internal/setting"
	"nmn/report"
	"nmn/run/internal/folder"
	"nmn/telemetry/mlflow"
	"nmn/train"
)

// Tracking says where a run is told of, beside its folder. It changes nothing that is learned, and never stops a run.
type Tracking struct {
	// MLflow is the URL of an MLflow tracking server, without credentials; empty for none.
	MLflow string `yaml:"mlflow,omitempty"`
	// Experiment is the name of MLflow's experiment; empty for DefaultExperiment.
	Experiment string `yaml:"mlflow_experiment,omitempty"`
	// RunName names the run in trackers and metrics; empty for the name of its folder.
	RunName string `yaml:"run_name,omitempty"`
}

// DefaultExperiment is MLflow's experiment where nobody names one.
const DefaultExperiment = "nmn"

// Validate names the first field that is out of range.
func (t *Tracking) Validate() error {
	if t.MLflow == "" {
		return nil
	}
	_, access, err := mlflow.ParseURL(t.MLflow)
	switch {
	case err != nil:
		return setting.Errorf("tracking.mlflow", "`tracking.mlflow`: %w", err)
	case access != (mlflow.Access{}):
		return setting.Errorf("tracking.mlflow", "`tracking.mlflow` holds a name or a password, and would be written to the "+
			"run folder: give them by MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD")
	}
	return nil
}

// Named is the name of the run in a folder.
func (t *Tracking) Named(dir string) string {
	if t.RunName != "" {
		return t.RunName
	}
	if absolute, err := filepath.Abs(dir); err == nil {
		dir = absolute
	}
	return filepath.Base(dir)
}

// tracking are the options of a tracker for a run in a folder; ok is false where nobody asked for one.
func (s *Session) tracking(c *Config, dir, name string) (o mlflow.Options, ok bool, err error) {
	if c.Tracking.MLflow == "" || !s.leads() {
		return o, false, nil
	}
	server, _, err := mlflow.ParseURL(c.Tracking.MLflow)
	if err != nil {
		return o, false, err
	}
	o = mlflow.Options{Server: server, Access: s.mlflow, Experiment: c.Tracking.Experiment, Name: name, Dir: dir,
		Params: folder.Flatten(c), Log: s.Log, Parent: s.whole}
	if o.Experiment == "" {
		o.Experiment = DefaultExperiment
	}
	for key := range o.Params { // of the program, which are tags
		if strings.HasPrefix(key, "build.") {
			delete(o.Params, key)
		}
	}
	b := ThisBuild()
	o.Tags = map[string]string{"nmn.run": s.group, "nmn.version": b.Version, "nmn.revision": b.Revision}
	if o.Tags["nmn.run"] == "" {
		o.Tags["nmn.run"] = name
	}
	return o, true, nil
}

// NameGroup has trackers know runs below a folder by names that begin with that of the folder, and as runs of their own.
func (s *Session) NameGroup(dir string) { s.root, s.group = dir, s.Config.Tracking.Named(dir) }

// TrackGroup tells trackers of runs below a folder as parts of a whole, until the function that it returns is called
// with how they ended.
func (s *Session) TrackGroup(dir string) (end func(error), err error) {
	s.NameGroup(dir)
	o, ok, err := s.tracking(&s.Config, dir, s.group)
	if err != nil || !ok {
		return func(error) {}, err
	}
	whole, err := mlflow.Begin(o)
	if err != nil {
		return nil, err
	}
	s.whole = whole
	return func(err error) {
		s.whole = nil
		whole.End(statusOf(err))
	}, nil
}

// track begins to tell trackers of the arm.
func (r *armRun) track(ctx context.Context) error {
	s := r.session
	o, ok, err := s.tracking(&r.config, r.dir, r.trackedName())
	if err != nil || !ok {
		return err
	}
	census, err := r.data.Train.Census(ctx)
	if err != nil {
		return err
	}
	o.Tags["nmn.arm"], o.Tags["nmn.data"] = string(r.config.Arm), hex.EncodeToString(census.Digest[:])
	r.tracked, err = mlflow.Begin(o)
	return err
}

// trackedName is the name of the run: that of the group, and of the folders below it.
func (r *armRun) trackedName() string {
	s := r.session
	if below, err := filepath.Rel(s.root, r.dir); err == nil && s.root != "" && filepath.IsLocal(below) && below != "." {
		return s.group + "/" + filepath.ToSlash(below)
	}
	if s.group != "" {
		return s.group
	}
	return r.config.Tracking.Named(r.dir)
}

// untrack tells how the run has ended: of one that has an outcome its figures and files.
func (r *armRun) untrack(o *Outcome, err error) {
	if err == nil && o != nil {
		var values []any
		for _, name := range train.Measures() {
			values = append(values, o.Split+"/"+name, float64(train.Measure(name, o.Evaluation)))
		}
		r.tracked.Metrics(o.Steps, values...)
		for _, name := range []string{ConfigFile, report.HTMLFile, report.RatesFile} {
			if durable.Exists(filepath.Join(r.dir, name)) {
				r.tracked.File(name)
			}
		}
	}
	r.tracked.End(statusOf(err))
}

// resend tells trackers what they have not taken of a run that is complete.
func (r *armRun) resend() error {
	o, ok, err := r.session.tracking(&r.config, r.dir, r.trackedName())
	if err != nil || !ok {
		return err
	}
	return mlflow.Resend(o)
}

// statusOf is how a run has ended, by its error.
func statusOf(err error) mlflow.Status {
	switch {
	case err == nil:
		return mlflow.Finished
	case errors.Is(err, ErrInterrupted), errors.Is(err, context.Canceled):
		return mlflow.Killed
	}
	return mlflow.Failed
}
