package train

import (
	"context"
	"fmt"
	"math"
	"time"

	"nmn/eval"
	"nmn/labels"
	"nmn/loader"

	dense "gorgonia.org/tensor"
)

// Evaluate compares scores with everything that the set holds in memory: its labels, its true labels and its
// caption counts. If the noisy training set is given, its labels and truth give the true rates to compare the
// estimated rates with. If noisy is nil, they are left out.
func Evaluate(s *Scores, set, noisy *loader.Set, o eval.Options) (*eval.Result, error) {
	if set.Rows != nil {
		return nil, fmt.Errorf("training: scores of %q are held against labels that are not in memory: hold them",
			set.Name)
	}
	in := eval.Input{
		Bags:              len(s.Index),
		Classes:           set.Vocabulary.Len(),
		Logits:            true,
		Scores:            s.Logits.Float32s(),
		Vocabulary:        set.Vocabulary,
		Rates:             s.Rates,
		Labels:            rows(set.Labels, s.Index),
		Truth:             rows(set.Truth, s.Index),
		Counts:            rows(set.Counts, s.Index),
		CaptionsPerSample: set.CaptionsPerSample,
	}
	if set.CaptionsPerSample < 2 { // human agreement needs several captions
		in.Counts, in.CaptionsPerSample = nil, 0
	}
	in.IDs = make([]string, in.Bags)
	for i, bag := range s.Index {
		in.IDs[i] = set.IDs[bag]
	}
	in.Exclusive = s.Exclusive
	if s.Rates != nil || s.Transition != nil {
		in.Observed = logits(s.Observed.Float32s())
		if noisy != nil && s.Rates != nil {
			var err error
			if in.TrueRates, err = TrueRates(noisy); err != nil {
				return nil, err
			}
		}
	}
	return eval.Evaluate(in, o)
}

// Answers returns the labels that the rows of scores are compared with, N×K of 0 or 1. They are the true
// labels if the set has them (truth is then true), else its labels, else every class that any caption
// mentions. They are nil if the set has none of these.
func Answers(s *Scores, set *loader.Set) (answers []uint8, truth bool) {
	switch {
	case set.Truth != nil:
		return rows(set.Truth, s.Index), true
	case set.Labels != nil:
		return rows(set.Labels, s.Index), false
	}
	answers = rows(set.Counts, s.Index)
	for i := range answers {
		answers[i] = min(answers[i], 1)
	}
	return answers, false
}

// TrueRates returns the noise rates of a set's labels, computed from the true labels. It is nil if these are
// unknown.
func TrueRates(set *loader.Set) (*labels.Rates, error) {
	if !set.KnowsTruth() {
		return nil, nil
	}
	census, err := set.Census(context.Background())
	if err != nil {
		return nil, fmt.Errorf("training: %w", err)
	}
	r := labels.NewRates(len(census.Confusion))
	for class, n := range census.Confusion { // 0/0 is NaN: a rate without a case
		r.Q01[class] = float64(n[0][1]) / float64(n[0][1]+n[1][1])
		r.Q10[class] = float64(n[1][0]) / float64(n[0][0]+n[1][0])
	}
	return r, nil
}

// rows copies the rows of bags from a matrix of a set; nil stays nil.
func rows(m *dense.Dense, index []int) []uint8 {
	if m == nil {
		return nil
	}
	k := m.Shape()[1]
	out := make([]uint8, 0, len(index)*k)
	for _, bag := range index {
		out = append(out, m.Uint8s()[bag*k:(bag+1)*k]...)
	}
	return out
}

// logits returns log-odds, infinite if a probability is 0 or 1.
func logits(probabilities []float32) []float32 {
	out := make([]float32, len(probabilities))
	for i, p := range probabilities {
		out[i] = float32(math.Log(float64(p)) - math.Log1p(-float64(p)))
	}
	return out
}

// evaluate validates the net, once for each step. If there are averages of the weights, it validates these.
func (t *Trainer) evaluate(ctx context.Context) error {
	if t.Validation == nil || t.at.Evaluated == t.at.Step {
		return nil
	}
	began := time.Now()
	t.batches.leave() // its workers would compete with the workers of the validation
	config := t.Options.loaderConfig()
	var scores *Scores
	err := t.optimizer.onAverages(func() (err error) {
		scores, err = ScoreTogether(ctx, t.Group, t.Net, t.Validation, config, observers(t.Observers).Scored)
		return err
	})
	if err != nil {
		return fmt.Errorf("training: cannot validate after step %d: %w", t.at.Step, err)
	}
	result, err := Evaluate(scores, t.Validation, t.Data, eval.Options{})
	if err != nil {
		return fmt.Errorf("training: cannot validate after step %d: %w", t.at.Step, err)
	}
	value := Measure(t.Config.BestBy, result)
	e := Evaluated{Epoch: t.at.Epoch, Step: t.at.Step, Result: result, Scores: scores, Value: float64(value)}
	if t.Keep != nil {
		if err := t.ranks.agree(t.Keep(&e)); err != nil {
			return err
		}
	}
	t.reportUnscored(scores.Bad)
	t.at.Evaluated, t.result.Validation = t.at.Step, result
	if value.Defined() {
		e.Best = t.keeper.Offer(Best{Step: t.at.Step, Epoch: t.at.Epoch, Value: float64(value)})
	}
	t.at.Stale++
	if e.Best {
		t.at.Stale = 0
	}
	e.Duration = time.Since(began)
	observers(t.Observers).Evaluated(e)
	return nil
}

// reportUnscored reports, once, the pictures that every validation leaves out.
func (t *Trainer) reportUnscored(bad []loader.BadSample) {
	if len(bad) > t.unscored {
		observers(t.Observers).Bad(BadSamples{New: bad[t.unscored:], Count: t.bad + len(bad)})
		t.unscored = len(bad)
	}
}
