package main

import (
	"cmp"
	"context"
	"path/filepath"

	"nmn/internal/durable"
	"nmn/kernels"
	"nmn/labels"
	"nmn/labels/rates"
	"nmn/loader"
	"nmn/model"
	"nmn/report"
	"nmn/run"
	"nmn/text"
	"nmn/train"
)

// learntRates are the rates of a noise model in class order.
type learntRates struct {
	*train.Checkpoint
	vocabulary *text.Vocabulary
	all        *labels.Rates // the same for all bags; nil of a feature-dependent model
	truth      *labels.Rates // nil where it is not known
	// Of a feature-dependent model, with the names of the bags of the split.
	q01, q10 *rates.Spreads
	ids      []string
	split    string
	leftOut  int
}

// learn asks the model.
func (n *noiseReport) learn(ctx context.Context, p *program, file, folder string, c *train.Checkpoint) (*learntRates, error) {
	v, err := c.Vocabulary()
	if err != nil {
		return nil, err
	}
	l := &learntRates{Checkpoint: c, vocabulary: v}
	if c.Model.Noise == model.FeatureDependent {
		return l, n.ask(ctx, p, file, l)
	}
	return l, n.read(ctx, p, file, folder, l)
}

// read takes the rates of a feature-independent model, which needs no data: what the run knows of the true
// ones is in its q.csv.
func (n *noiseReport) read(ctx context.Context, p *program, file, folder string, l *learntRates) (err error) {
	m, err := p.openModel(ctx, file, n.checkpoint, n.config.Run)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, m.Close()) }()
	q01, q10, err := train.NoiseRates(m.Net())
	if err != nil {
		return err
	}
	l.all = &labels.Rates{Q01: float64s(q01), Q10: float64s(q10)}
	known := filepath.Join(folder, report.RatesFile)
	if !durable.Exists(known) {
		return nil
	}
	written, err := labels.ReadFile(known, l.vocabulary, labels.Learnt)
	if err != nil {
		return err
	}
	l.truth = written.TrueRates()
	return nil
}

// ask runs a feature-dependent model over a split.
func (n *noiseReport) ask(ctx context.Context, p *program, file string, l *learntRates) (err error) {
	s, err := openWatched(ctx, p, n.config, "")
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, s.Close()) }()
	set, err := s.Data.Split(n.split)
	if err != nil {
		return err
	}
	if err := run.SameClasses(l.Checkpoint, set.Vocabulary); err != nil {
		return err
	}
	if l.truth, err = train.TrueRates(s.Data.Train); err != nil {
		return err
	}
	l.ids, l.split = set.IDs, n.split
	n.config = s.Config
	n.config.Net.MIL = l.Model.MIL
	return n.visit(ctx, p, s.Backend, file, set, l)
}

// visit takes in the rates of each bag of a set.
func (n *noiseReport) visit(ctx context.Context, p *program, backend kernels.Backend, file string, set *loader.Set, l *learntRates) (err error) {
	net, _, err := train.OpenNet(file, backend)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	k := l.vocabulary.Len()
	l.q01, l.q10 = rates.NewSpreads(k, n.departures), rates.NewSpreads(k, n.departures)
	config := n.config.Loader()
	config.BatchBags = l.Config.Batch(l.Model.MIL)
	bad, err := train.EachRates(ctx, net, set, config, func(bag int, q01, q10 []float32) {
		l.q01.Add(bag, q01)
		l.q10.Add(bag, q10)
	})
	if err != nil {
		return err
	}
	l.leftOut = len(bad)
	p.tellLeftOut(bad, set)
	return nil
}

func float64s(values []float32) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return out
}
