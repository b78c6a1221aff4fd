package audit

import (
	"context"
	"fmt"

	"nmn/eval"
	"nmn/labels"
	"nmn/labels/audit/rows"
	"nmn/labels/rates"
	"nmn/text"
)

// Options say what an audit of score files starts from.
type Options struct {
	// NoiseRates is a file with the noise rates of each word; empty for an estimate from the scores, by Estimation.
	NoiseRates string
	Estimation rates.Options
	// Calibrate calibrates the scores by the columns a and b of NoiseRates, which were estimated from the
	// same scores. Without it the scores count as scores of the true labels.
	Calibrate bool
	// MinError is the least probability of being wrong of a suspect; 0 lists every label that is audited.
	MinError float64
	// Plain are logits of the same bags and classes from nets trained without the noise model; the rates are
	// estimated from them. The scores then come from nets that were trained through the noise model, and
	// count as scores of the true labels. If Plain is nil, the rates are estimated from the scores
	// themselves.
	Plain []float32
	// Decisions is a file with a reviewer's decisions, as the page saves it. They recalibrate the
	// probabilities of all labels. Empty for none.
	Decisions string
	// Raise raises the estimated rates as far as the labels let them, as those were that nets were trained through.
	Raise bool
}

// Report is the result of an audit of score files.
type Report struct {
	Input
	*Result
	Samples   text.Plural // noun for what the labels belong to
	MinError  float64
	Estimate  *rates.Result // nil where rates were given
	Judgement *Judgement    // nil where the true labels are not known
	Decisions Decisions     // of a reviewer; nil for none
	Decided   *Decided      // how they compare with what was expected; nil without one on an audited class
	Outcome   *Outcome      // of Correct; nil if nothing was corrected

	table *rows.Table
}

// judgedAt are the numbers of suspects whose precision is reported if the truth is known.
var judgedAt = []int{10, 100, 1000}

// Scores audits what rates.ReadFiles has read, or scores and labels that never were in files: the scores are logits.
func Scores(ctx context.Context, scores *eval.Input, o Options) (r *Report, err error) {
	r = &Report{MinError: o.MinError, Input: Input{
		Bags: scores.Bags, Classes: scores.Classes, Logits: scores.Scores, Labels: scores.Labels,
		Words: scores.Words, IDs: scores.IDs, Truth: scores.Truth,
	}}
	find := r.estimateRates
	if o.NoiseRates != "" {
		find = r.readRates
	}
	if err := find(ctx, scores, o); err != nil {
		return nil, err
	}
	if o.Decisions != "" {
		if err := r.decide(o.Decisions); err != nil {
			return nil, err
		}
	}
	if r.Result, err = Run(r.Input, o.MinError); err != nil {
		return nil, err
	}
	if r.Truth != nil {
		if r.Judgement, err = Judge(r.Input, judgedAt); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *Report) decide(path string) (err error) {
	if err := r.check(); err != nil {
		return err
	}
	if r.Decisions, err = r.Input.decisions().ReadFile(path); err != nil {
		return err
	}
	if r.Decided = r.compare(r.Decisions, r.MinError); r.Decided != nil {
		r.Recalibration = &r.Decided.Recalibration
	}
	return nil
}

// Table ranks the bags, the one whose labels fit least first.
func (r *Report) Table() *rows.Table {
	if r.table == nil {
		r.table = &rows.Table{Scores: r.Rows, IDs: r.IDs, Words: r.Words, Kind: r.worstKind}
		r.table.Rank()
	}
	return r.table
}

// worstKind is how the label of a bag that is most probably wrong would be.
func (r *Report) worstKind(bag int) string {
	return string(KindOf(r.Labels[bag*r.Input.Classes+int(r.Rows[bag].Worst)]))
}

func (r *Report) readRates(_ context.Context, scores *eval.Input, o Options) error {
	given, err := labels.ReadWordsFile(o.NoiseRates, scores.Words, labels.Given)
	if err != nil {
		return err
	}
	r.Rates = given.Rates()
	if o.Calibrate {
		if r.A, r.B = given.Calibration(); r.A == nil {
			return fmt.Errorf("%s: `audit.calibrate` needs the columns a and b, which `rates.output` writes", o.NoiseRates)
		}
	}
	return nil
}

// estimateRates estimates the rates from scores of nets trained without the noise model.
func (r *Report) estimateRates(ctx context.Context, scores *eval.Input, o Options) (err error) {
	in := rates.InputOf(scores)
	if o.Plain != nil {
		in.Scores = o.Plain
	} else if r.Combined = combine(&r.Input); r.Combined != nil {
		in.Scores = r.Combined
	}
	if r.Estimate, err = rates.Estimate(ctx, in, o.Estimation); err != nil {
		return err
	}
	if o.Raise {
		if r.Estimate, _, err = rates.RaiseToFloor(ctx, in, r.Estimate, o.Estimation); err != nil {
			return err
		}
	}
	r.FromEstimate(r.Estimate)
	if o.Plain != nil {
		for _, may := range r.Beliefs {
			for i := range may {
				may[i].A, may[i].B = 1, 0
			}
		}
	}
	return nil
}

// Open are the suspects without a decision.
func (r *Report) Open() []Suspect { return r.Decisions.Undecided(r.Suspects) }
