package paper

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"nmn/eval"
	"nmn/internal/durable"
	"nmn/paper/appendix"
	"nmn/paper/claims"
	"nmn/recipe"
	"nmn/report"
	"nmn/run"
)

// likelihoodFile keeps how well nets explain the noisy labels that they have learned from, which takes a pass over
// these.
const likelihoodFile = "likelihood.json"

// likelihood is the likelihood of a run.
type likelihood struct {
	Fingerprint string  `json:"fingerprint"` // of the run
	NLL         float64 `json:"nll"`         // nats a bag
}

// compareEM adds the figures for the claims about EM and joint training: the small problem, and the
// likelihoods of the nets of both.
func (p *Plan) compareEM(ctx context.Context, o *Options, f *found) error {
	part := p.part(EM)
	if part == nil {
		return nil
	}
	for _, seed := range p.Settings.Seeds {
		s, err := appendix.Solve(ctx, seed)
		if err != nil {
			return err
		}
		f.small, f.em = append(f.small, *s), append(f.em, s.Results()...)
	}
	path := filepath.Join(p.Settings.Dir, likelihoodFile)
	known, err := durable.LoadJSON[map[string]likelihood](path, "remove the file to score the nets again")
	if err != nil {
		return err
	}
	if known == nil {
		known = &map[string]likelihood{}
	}
	for _, r := range p.ofPart(f, part) {
		if r.Arm != string(recipe.FI) && r.Arm != string(recipe.EM) {
			continue
		}
		nll, err := p.likelihood(ctx, o, &r, *known)
		if err != nil {
			return err
		}
		f.em = append(f.em, claims.Result{Part: string(EM), Data: part.Data, Arm: r.Arm, Missing: r.Noise, Seed: r.Seed,
			Words: claims.All, Metric: claims.NLL, Value: nll})
	}
	return run.SaveFiles(ctx, o.log(), func() error { return durable.SaveJSON(path, known) })
}

// likelihood returns the likelihood of a run, from its file if it has one.
func (p *Plan) likelihood(ctx context.Context, o *Options, r *report.Run,
	known map[string]likelihood) (float64, error) {
	outcome, err := run.ReadOutcome(r.Name)
	if err != nil {
		return 0, err
	}
	if outcome == nil {
		return 0, fmt.Errorf("%s: its %s is gone", r.Name, run.ResultFile)
	}
	folder, err := filepath.Rel(p.Settings.Dir, r.Name)
	if err != nil {
		return 0, err
	}
	folder = filepath.ToSlash(folder)
	if was, ok := known[folder]; ok && was.Fingerprint == outcome.Fingerprint {
		return was.NLL, nil
	}
	nll, err := netLikelihood(ctx, r.Name, run.ModelOptions{Run: p.Settings.Run, Log: o.Log})
	known[folder] = likelihood{outcome.Fingerprint, nll}
	return nll, err
}

// netLikelihood is the mean negative log-likelihood -log p(z|I) of the noisy labels of the training set, in nats a bag
// and summed over classes, by the last net of a run folder. The net must have a noise model.
func netLikelihood(ctx context.Context, folder string, o run.ModelOptions) (nll float64, err error) {
	o.Checkpoint = run.Last
	m, err := run.OpenModel(ctx, folder, o)
	if err != nil {
		return 0, err
	}
	defer func() { err = cmp.Or(err, m.Close()) }()
	e := run.DefaultEvaluateOptions()
	e.Split = "train"
	found, err := m.Evaluate(ctx, e)
	if err != nil {
		return 0, err
	}
	if found.Observed == nil || found.Observed.Labels == nil {
		return 0, fmt.Errorf("appendix: %s: its net has no noise model, and so no p(z|I) of its own", folder)
	}
	return float64(found.Observed.Labels.LogLoss), nil
}

func (p *Plan) emTables(f *found) []*report.Table {
	number := func(v float64) report.Cell { return report.NumberCell(eval.Number(v)) }
	text := func(v float64) report.Cell { return report.TextCell(fmt.Sprintf("%.1e", v)) }
	small := &report.Table{Title: "A small problem, solved completely in both ways",
		Columns: report.NumberColumns(0, "seed", "gap of gradients", "gap of noise rates", "gap of likelihoods, nats a bag",
			"rounds of EM", "gradients of joint training"),
		Notes: []string{"A logistic classifier of two classes on 400 bags, with noise that depends on the true label. Each " +
			"round of EM fits the classifier completely."}}
	for _, s := range f.small {
		small.AddRow(number(float64(s.Seed)), text(s.GradientGap), text(s.RateGap), text(s.LikelihoodGap),
			number(float64(s.Rounds)), number(float64(s.Gradients)))
	}
	nets := &report.Table{Title: "How well nets explain their noisy training labels, after equal numbers of epochs",
		Columns: []report.Column{{Name: "arm", Text: true}, {Name: "seed"}, {Name: "-log p(z|I), nats a bag", Decimals: 4}}}
	for _, r := range f.em {
		if r.Metric == claims.NLL {
			nets.AddRow(report.TextCell(recipe.Name(r.Arm).Title(false)), number(float64(r.Seed)), number(r.Value))
		}
	}
	return []*report.Table{small, nets}
}
