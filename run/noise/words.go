package runnoise

import (
	"path/filepath"

	"nmn/eval"
	"nmn/internal/durable"
	"nmn/labels"
	"nmn/labels/rates"
	"nmn/model"
	"nmn/recipe"
	"nmn/report"
	"nmn/run"
	"nmn/text"
)

// report joins the rates with what else is known of each word.
func (q Query) report(l *learntRates) (*report.NoiseReport, error) {
	r := &report.NoiseReport{Run: filepath.Base(filepath.Clean(q.Path)), Epoch: l.Position.Epoch, Step: l.Position.Step,
		Samples: q.Config.Data.Samples(), FeatureDependent: l.Model.Noise == model.FeatureDependent}
	truth := l.truth
	if truth == nil {
		truth = labels.UnknownRates(l.vocabulary.Len())
	}
	var estimates [2][]*report.WordEstimate
	if path := l.estimatesOf(q.Folder); path != "" {
		var err error
		if estimates, err = readEstimates(path, l.vocabulary); err != nil {
			return nil, err
		}
	}
	if r.FeatureDependent {
		r.Split, r.Bags, r.LeftOut, r.Levels = q.Split, l.q01.Bags(), l.leftOut, rates.SpreadLevels[:]
		r.Q01 = l.spread(l.q01, truth.Q01, estimates[0])
		r.Q10 = l.spread(l.q10, truth.Q10, estimates[1])
		return r, nil
	}
	r.Q01 = report.NewRateReport(l.words(l.all.Q01, truth.Q01, estimates[0]))
	r.Q10 = report.NewRateReport(l.words(l.all.Q10, truth.Q10, estimates[1]))
	return r, nil
}

// estimatesOf returns the file of the rates that a recipe has estimated. It is in the folder of the run, or
// next to it, where nmn experiment keeps what all arms of a seed share. The path is empty if there is no file.
func (l *learntRates) estimatesOf(folder string) string {
	shared := filepath.Join(folder, "..", run.RecipeFolder+recipe.Suffix(l.Model.MIL))
	for _, dir := range []string{filepath.Join(folder, run.RecipeFolder), shared} {
		if path := filepath.Join(dir, recipe.RatesFile); durable.Exists(path) {
			return path
		}
	}
	return ""
}

// words are in class order; estimates may be nil.
func (l *learntRates) words(learnt, truth []float64, estimates []*report.WordEstimate) []report.WordRate {
	list := make([]report.WordRate, l.vocabulary.Len())
	for c := range list {
		word := l.vocabulary.Word(c).Text
		list[c] = report.WordRate{Word: word, Rate: eval.Number(learnt[c]), True: eval.Number(truth[c])}
		list[c].Remark = l.remarks[word]
		if estimates != nil {
			list[c].Estimate = estimates[c]
		}
	}
	return list
}

func (l *learntRates) spread(s *rates.Spreads, truth []float64, estimates []*report.WordEstimate) report.RateReport {
	k := l.vocabulary.Len()
	means, spreads := make([]float64, k), make([]rates.Spread, k)
	for c := range k {
		spreads[c] = s.Of(c)
		means[c] = spreads[c].Mean
	}
	list := l.words(means, truth, estimates)
	for c := range list {
		list[c].Spread = &spreads[c]
	}
	r := report.NewRateReport(list)
	for _, d := range s.Departures() {
		word := l.vocabulary.Word(d.Class).Text
		r.Departures = append(r.Departures, report.RateDeparture{ID: l.ids[d.Bag], Word: word, Rate: d.Rate, Mean: d.Mean})
	}
	return r
}

// readEstimates reads what a recipe has estimated, q01 and q10 in class order.
func readEstimates(path string, v *text.Vocabulary) (estimates [2][]*report.WordEstimate, err error) {
	table, err := labels.ReadFile(path, v, labels.Estimated)
	if err != nil {
		return estimates, err
	}
	for _, r := range table {
		for side, rate := range [2][3]float64{{r.Q01, r.Q01Low, r.Q01High}, {r.Q10, r.Q10Low, r.Q10High}} {
			estimates[side] = append(estimates[side], &report.WordEstimate{
				Rate: eval.Number(rate[0]), Low: eval.Number(rate[1]), High: eval.Number(rate[2]), Remarks: r.Remarks,
			})
		}
	}
	return estimates, nil
}
