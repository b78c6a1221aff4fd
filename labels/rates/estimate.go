package rates

import (
	"context"
	"fmt"
	"strings"

	"nmn/eval"
	"nmn/labels"
	"nmn/text"
)

// Result is an estimate of all classes.
type Result struct {
	Bags int `json:"samples"`
	// Pooled rates: one pair for all classes, towards which the rates of a class are drawn.
	PooledQ01  float64 `json:"pooled_q01"`
	PooledQ10  float64 `json:"pooled_q10"`
	Confidence float64 `json:"confidence"`
	// Verified is the number of verified bags. If there are any, the rates are the means of the beliefs.
	Verified int     `json:"verified,omitempty"`
	Classes  []Class `json:"classes"`
}

// Class is the noise of one class.
type Class struct {
	Word      string `json:"class"`
	Positives int    `json:"positives"` // observed labels
	// Unknown is the number of bags whose label is not known.
	Unknown int `json:"unknown,omitempty"`
	// TruePositives is the expected number of bags that truly belong to the class, sum rho.
	TruePositives float64  `json:"true_positives"`
	Q01           float64  `json:"q01"` // p(z=0|y=1), missing
	Q10           float64  `json:"q10"` // p(z=1|y=0), incorrect
	Q01Interval   Interval `json:"q01_interval"`
	Q10Interval   Interval `json:"q10_interval"`
	// A and B make a calibrated logit of a score: A o + B.
	A float64 `json:"a"`
	B float64 `json:"b"`
	// AUC measures how well the scores predict the observed labels: the probability that a bag with the label
	// has a higher score than one without. Undefined if all labels are equal.
	AUC       eval.Number `json:"auc"`
	Diagnoses []Diagnosis `json:"diagnoses"`
	// Beliefs are the probable noise models of the class, given all classes together; nil if all its labels
	// are equal.
	Beliefs []Belief `json:"-"`
}

// Interval bounds a rate.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Calibrate turns a score into the calibrated logit of p(y=1).
func (c Class) Calibrate(o float64) float64 { return c.A*o + c.B }

// Rates are the rates of the classes that can be believed, NaN for the others.
func (r *Result) Rates() *labels.Rates { return r.ratesOf(Class.Usable) }

// TrainingRates returns the rates to train with, including weakly predicted classes, NaN for the others.
func (r *Result) TrainingRates() *labels.Rates { return r.ratesOf(Class.Trainable) }

func (r *Result) ratesOf(holds func(Class) bool) *labels.Rates {
	out := labels.UnknownRates(len(r.Classes))
	for c, class := range r.Classes {
		if holds(class) {
			out.Q01[c], out.Q10[c] = class.Q01, class.Q10
		}
	}
	return out
}

// Table is the estimate as files have it, without the rates that are not to be believed.
func (r *Result) Table() labels.Table {
	table, believed := make(labels.Table, len(r.Classes)), r.Rates()
	for c, class := range r.Classes {
		remarks := make([]string, len(class.Diagnoses))
		for i, d := range class.Diagnoses {
			remarks[i] = string(d)
		}
		row := labels.NewRow(text.Word{Text: class.Word})
		row.Q01, row.Q01Low, row.Q01High = believed.Q01[c], class.Q01Interval.Low, class.Q01Interval.High
		row.Q10, row.Q10Low, row.Q10High = believed.Q10[c], class.Q10Interval.Low, class.Q10Interval.High
		row.A, row.B, row.Labels, row.Remarks = class.A, class.B, class.Positives, strings.Join(remarks, "; ")
		table[c] = row
	}
	return table
}

// Estimate fits noise rates and calibration of all classes in two phases of expectation and
// maximisation: the first with one pair of rates for all classes, the second class by class, with a
// Beta prior at the pooled rates. Classes with many bags are summed up
// first, so that an iteration takes the time of some thousand exponentials for each class, however many bags there are;
// each worker needs the memory of 16 columns of scores. It ends with the error of ctx once that is done;
// other errors wrap eval.ErrShape or eval.ErrValue.
func Estimate(ctx context.Context, in Input, o Options) (*Result, error) {
	if err := check(&in, o); err != nil {
		return nil, err
	}
	e, err := newEstimator(ctx, &in, o)
	if err != nil {
		return nil, fmt.Errorf("noise rates: %w", err)
	}
	if err := e.pooled(ctx); err != nil {
		return nil, fmt.Errorf("noise rates of all classes together: %w", err)
	}
	r := &Result{
		Bags:       in.Bags,
		PooledQ01:  e.models[0].q01,
		PooledQ10:  e.models[0].q10,
		Confidence: o.Confidence,
		Classes:    make([]Class, in.Classes),
	}
	p := prior{q01: r.PooledQ01, strength01: o.Strength01, q10: r.PooledQ10, strength10: o.Strength10}
	if err := e.perClass(ctx, p); err != nil {
		return nil, fmt.Errorf("noise rates per class: %w", err)
	}
	summaries := make([]summary, in.Classes)
	err = eachColumn(ctx, &in, o.Workers, func(c int, rows column) {
		summaries[c] = summarise(e.models[c], rows)
	})
	if err == nil {
		err = e.eachClass(ctx, func(c int, posteriors []float64) { r.Classes[c] = e.class(c, summaries[c], posteriors) })
	}
	if err != nil {
		return nil, fmt.Errorf("intervals of noise rates: %w", err)
	}
	if err := r.believe(ctx, e, summaries); err != nil {
		return nil, fmt.Errorf("noise rates that classes may have: %w", err)
	}
	if len(o.Verified) > 0 {
		if err := r.anchor(ctx, e, summaries); err != nil {
			return nil, fmt.Errorf("noise rates by verified samples: %w", err)
		}
	}
	for c, word := range in.Words {
		r.Classes[c].Word = word
	}
	return r, nil
}

// check names what is wrong with options or input.
func check(in *Input, o Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	if err := in.check(); err != nil {
		return err
	}
	return in.checkVerified(o.Verified)
}

func newEstimator(ctx context.Context, in *Input, o Options) (*estimator, error) {
	e := &estimator{
		options: o,
		in:      in,
		classes: make([]class, in.Classes),
		models:  make([]model, in.Classes),
		say:     make([]bool, in.Classes),
	}
	err := eachColumn(ctx, in, o.Workers, func(c int, rows column) { e.classes[c] = classOf(rows) })
	if err != nil {
		return nil, err
	}
	e.progress.Report, e.progress.Total = o.Progress, 2*o.Iterations*in.Classes
	saying := 0
	for c := range e.classes {
		e.models[c] = start
		if e.say[c] = !o.tooFew(&e.classes[c]); e.say[c] {
			saying++
		}
	}
	if saying == 0 {
		for c := range e.say {
			e.say[c] = true
		}
	}
	return e, nil
}

// class describes a class once its model is fitted.
func (e *estimator) class(c int, s summary, posteriors []float64) Class {
	m, own := e.models[c], &e.classes[c]
	z := evidence{cells: s.cells, minSlope: e.options.MinSlope, confidence: e.options.Confidence}
	out := Class{
		Positives: own.presentRows, Unknown: e.in.Bags - own.bags(),
		Q01: m.q01, Q10: m.q10, A: m.a, B: m.b,
		AUC: s.auc(),
	}
	out.TruePositives = m.expect(1, own.present, posteriors).r + m.expect(0, own.absent, posteriors).r
	out.Q01Interval, out.Q10Interval = z.interval(m, rate01), z.interval(m, rate10)
	out.Diagnoses = out.diagnose(e.options, own, false)
	return out
}

// WriteFile writes rates and calibration of all classes to a CSV file; a rate that is not to be believed is empty.
func (r *Result) WriteFile(path string) error {
	return r.Table().WriteFile(path, labels.EstimateColumns)
}

// Calibrated returns the logits of p(y=1) of all cells, a o + b with the slope and shift of each class. Use
// them if you do not train on. Probabilities from them are well calibrated, but a slope above 1 also
// amplifies memorised noise, so a second stage starts from the net as it is.
func (r *Result) Calibrated(scores []float32) []float32 {
	out := make([]float32, len(scores))
	for i, o := range scores {
		out[i] = float32(r.Classes[i%len(r.Classes)].Calibrate(float64(o)))
	}
	return out
}
