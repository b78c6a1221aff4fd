package em

import (
	"context"
	"fmt"
	"math"
	"slices"

	"nmn/eval"
	"nmn/labels"
	"nmn/labels/rates"
)

// Classifier is p(y=1|I; theta_1) as EM sees it.
type Classifier interface {
	// Logits writes the N×K logits of p(y=1|I) of all bags.
	Logits(out []float64) error
	// Fit is the M-step of theta_1: it trains on the posteriors rho_1, N×K, as soft targets, and so
	// raises the sum of rho log p1 + (1-rho) log(1-p1), p1 = sigmoid(o). A step that only raises it, without reaching the
	// maximum, keeps the likelihood from falling too.
	Fit(ctx context.Context, posteriors []float64) error
}

// NoiseStep is the M-step of theta_2, the rates.
type NoiseStep string

// The two ways.
const (
	// ByCounts takes the rates from the expected counts of the E-step, as Bekker and Goldberger do.
	ByCounts NoiseStep = "counts"
	// ByLikelihood maximises log p(z) with the new classifier fixed, as the paper's appendix does. That
	// likelihood is concave in the rates of a class.
	ByLikelihood NoiseStep = "likelihood"
)

// Options are the settings of Run.
type Options struct {
	NoiseStep NoiseStep
	Rounds    int     // at most
	Tolerance float64 // ends when a round gains less log likelihood, in nats a bag
}

// DefaultOptions are 200 rounds by counts, to 1e-9 nats a bag.
func DefaultOptions() Options { return Options{NoiseStep: ByCounts, Rounds: 200, Tolerance: 1e-9} }

// Validate names the field that is out of range.
func (o Options) Validate() error {
	switch {
	case o.NoiseStep != ByCounts && o.NoiseStep != ByLikelihood:
		return fmt.Errorf("em: NoiseStep is %q, want %q or %q: %w", o.NoiseStep, ByCounts, ByLikelihood, eval.ErrValue)
	case o.Rounds < 1:
		return fmt.Errorf("em: Rounds is %d, want at least 1: %w", o.Rounds, eval.ErrValue)
	case !(o.Tolerance >= 0):
		return fmt.Errorf("em: Tolerance is %g, want at least 0: %w", o.Tolerance, eval.ErrValue)
	}
	return nil
}

// Result is where EM ended.
type Result struct {
	Rates labels.Rates
	// LogLikelihood of all labels, log p(z), before the first round and after each.
	LogLikelihood []float64
}

// Run alternates between the E-step, rho_1 = p(y=1|z,I), and the M-steps of classifier and rates, from the
// classifier as it is and the given rates. Errors wrap eval.ErrShape or eval.ErrValue, or come from the
// classifier or ctx, with the round.
func Run(ctx context.Context, classifier Classifier, labels []uint8, bags, classes int, start labels.Rates,
	o Options) (*Result, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if err := check(labels, bags, classes, start); err != nil {
		return nil, err
	}
	s := &state{
		labels:     labels,
		classes:    classes,
		logits:     make([]float64, len(labels)),
		posteriors: make([]float64, len(labels)),
	}
	s.rates.Q01, s.rates.Q10 = slices.Clone(start.Q01), slices.Clone(start.Q10)
	r := &Result{Rates: s.rates}
	if err := classifier.Logits(s.logits); err != nil {
		return nil, fmt.Errorf("em: logits at the start: %w", err)
	}
	r.LogLikelihood = append(r.LogLikelihood, s.logLikelihood())
	for round := range o.Rounds {
		if err := s.round(ctx, classifier, o.NoiseStep); err != nil {
			return nil, fmt.Errorf("em: round %d of %d: %w", round+1, o.Rounds, err)
		}
		now := s.logLikelihood()
		if math.IsNaN(now) {
			return nil, fmt.Errorf("em: round %d of %d: the likelihood is not a number: the classifier's logits are "+
				"not finite: %w", round+1, o.Rounds, eval.ErrValue)
		}
		gain := now - r.LogLikelihood[round]
		r.LogLikelihood = append(r.LogLikelihood, now)
		if math.Abs(gain) < o.Tolerance*float64(bags) {
			break
		}
	}
	return r, nil
}

func check(labels []uint8, bags, classes int, start labels.Rates) error {
	if bags < 1 || classes < 1 || len(labels)/classes != bags || len(labels)%classes != 0 {
		return fmt.Errorf("em: %d labels for %d samples × %d classes: %w", len(labels), bags, classes, eval.ErrShape)
	}
	for i, z := range labels {
		if z > 1 {
			return fmt.Errorf("em: row %d, column %d: label %d, want 0 or 1: %w",
				i/classes+1, i%classes+1, z, eval.ErrValue)
		}
	}
	if len(start.Q01) != classes || len(start.Q10) != classes {
		return fmt.Errorf("em: %d and %d rates at the start for %d classes: %w",
			len(start.Q01), len(start.Q10), classes, eval.ErrShape)
	}
	for c := range classes {
		if q01, q10 := start.Q01[c], start.Q10[c]; !(q01 > 0 && q10 > 0 && q01+q10 < 1) {
			return fmt.Errorf("em: class %d starts at q01 = %g, q10 = %g; want both above 0 and their sum below 1, "+
				"or labels carry no information: %w", c+1, q01, q10, eval.ErrValue)
		}
	}
	return nil
}

// state is where EM stands.
type state struct {
	labels             []uint8
	classes            int
	logits, posteriors []float64
	rates              labels.Rates
}

func (s *state) round(ctx context.Context, classifier Classifier, step NoiseStep) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.expect()
	if step == ByCounts {
		s.count()
	}
	if err := classifier.Fit(ctx, s.posteriors); err != nil {
		return err
	}
	if err := classifier.Logits(s.logits); err != nil {
		return err
	}
	if step == ByLikelihood {
		for c := range s.classes {
			s.maximise(c)
		}
	}
	return nil
}

// expect is the E-step.
func (s *state) expect() {
	for c := range s.classes {
		logOdds := [2]float64{rates.LabelLogOdds(0, s.rates.Q01[c], s.rates.Q10[c]),
			rates.LabelLogOdds(1, s.rates.Q01[c], s.rates.Q10[c])}
		for i := c; i < len(s.labels); i += s.classes {
			s.posteriors[i] = rates.Sigmoid(s.logits[i] + logOdds[s.labels[i]])
		}
	}
}
