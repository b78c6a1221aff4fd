package runnoise

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"path/filepath"

	"nmn/internal/durable"
	"nmn/internal/setting"
	"nmn/labels"
	"nmn/labels/rates"
	"nmn/loader"
	"nmn/model"
	"nmn/recipe"
	"nmn/report"
	"nmn/run"
	"nmn/text"
	"nmn/train"
)

// Query asks for what the noise model of a run has learnt.
type Query struct {
	Config *run.Config // that of the run, as run.Sources.ResolveFolder resolves it
	// Path is what was asked for, a run folder or a checkpoint, as the report and messages name it; File is the
	// checkpoint, and Folder the one that it lies in (run.FindCheckpoint).
	Path         string
	File, Folder string
	Split        string // of the data, about which a feature-dependent model is asked
	Departures   int    // how many bags are listed for each of its rates: those farthest from the mean of the word
	// LeftOut is called with the bags of the split that could not be read. It may be nil.
	LeftOut func(bad []loader.BadSample, of *loader.Set)
}

// learntRates are the rates of a noise model in class order.
type learntRates struct {
	*train.Checkpoint
	vocabulary *text.Vocabulary
	all        *labels.Rates // the same for all bags; nil of a feature-dependent model
	truth      *labels.Rates // nil where it is not known
	// Of a feature-dependent model, with the names of the bags of the split.
	q01, q10 *rates.Spreads
	ids      []string
	remarks  map[string]string // of words whose rates were not estimated
	leftOut  int
}

// leaveOut forgets the rates of words that were not estimated: the model holds what it began with.
func (l *learntRates) leaveOut(unestimated map[string]string) {
	l.remarks = unestimated
	for c, w := range l.vocabulary.Words() {
		if unestimated[w.Text] != "" {
			l.all.Q01[c], l.all.Q10[c] = math.NaN(), math.NaN()
		}
	}
}

// Answer reads the rates out of the model, or runs a feature-dependent one over the split, and joins them with what
// else is known of each word: the true rates, and the estimate of the recipe. A net that was trained without a noise
// model is a *setting.Error.
func (q Query) Answer(ctx context.Context, o run.Options) (*report.NoiseReport, error) {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	c, err := train.ReadCheckpoint(q.File)
	if err != nil {
		return nil, err
	}
	if c.Model.Noise == model.NoNoise {
		return nil, setting.Errorf("", "noise report: %s was trained without a noise model: name a run of an arm that has "+
			"one, such as %s or %s", q.Path, recipe.FI, recipe.FD)
	}
	if c.Model.Exclusive {
		return nil, setting.Errorf("", "noise report: %s has one label for each sample, and a matrix of classes instead of "+
			"rates: %s shows it", q.Path, filepath.Join(q.Folder, report.HTMLFile))
	}
	l := &learntRates{Checkpoint: c}
	if l.vocabulary, err = c.Vocabulary(); err != nil {
		return nil, err
	}
	if c.Model.Noise == model.FeatureDependent {
		err = q.ask(ctx, o, l)
	} else {
		err = q.read(o, l)
	}
	if err != nil {
		return nil, err
	}
	return q.report(l)
}

// read takes the rates of a feature-independent model, which needs no data: the true rates that the run has
// found are in its q.csv.
func (q Query) read(o run.Options, l *learntRates) (err error) {
	backend, note, err := run.OpenDevice(&q.Config.Run, 0, q.Config.Net.Backbone != "", o.Log)
	if err != nil {
		return err
	}
	o.Observer.Notify(run.DeviceMessage(backend, note))
	defer func() { err = cmp.Or(err, backend.Close()) }()
	net, _, err := train.OpenNet(q.File, backend)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	q01, q10, err := train.NoiseRates(net)
	if err != nil {
		return err
	}
	l.all = &labels.Rates{Q01: float64s(q01), Q10: float64s(q10)}
	if outcome, err := run.ReadOutcome(q.Folder); err == nil {
		l.leaveOut(outcome.Unestimated())
	}
	known := filepath.Join(q.Folder, report.RatesFile)
	if !durable.Exists(known) {
		return nil
	}
	written, err := labels.ReadFile(known, l.vocabulary, labels.Left)
	if err != nil {
		return err
	}
	l.truth = written.TrueRates()
	return nil
}

// ask runs a feature-dependent model over the split.
func (q Query) ask(ctx context.Context, o run.Options, l *learntRates) (err error) {
	s, err := run.Open(ctx, *q.Config, o)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, s.Close()) }()
	set, err := s.Data.Split(q.Split)
	if err != nil {
		return err
	}
	if err := run.SameClasses(l.Checkpoint, set.Vocabulary); err != nil {
		return err
	}
	if l.truth, err = train.TrueRates(s.Data.Train); err != nil {
		return err
	}
	l.ids = set.IDs
	q.Config.Net.MIL = l.Model.MIL
	net, _, err := train.OpenNet(q.File, s.Backend)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	k := l.vocabulary.Len()
	l.q01, l.q10 = rates.NewSpreads(k, q.Departures), rates.NewSpreads(k, q.Departures)
	q.Config.ReadAsTrained(l.Checkpoint)
	config := q.Config.Loader()
	config.BatchSize = l.Config.Batch(l.Model.MIL)
	bad, err := train.EachScore(ctx, nil, net, set, config, func(bag int, _, q01, q10 []float32) {
		l.q01.Add(bag, q01)
		l.q10.Add(bag, q10)
	})
	if err != nil {
		return err
	}
	if l.leftOut = len(bad); q.LeftOut != nil {
		q.LeftOut(bad, set)
	}
	return nil
}

func float64s(values []float32) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return out
}
