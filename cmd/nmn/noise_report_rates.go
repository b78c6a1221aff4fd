package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"nmn/eval"
	"nmn/labels/rates"
	"nmn/model"
	"nmn/report"
	"nmn/text"
)

// report joins the rates with what else is known of each word.
func (l *learntRates) report(folder string) (*report.NoiseReport, error) {
	r := &report.NoiseReport{FeatureDependent: l.Model.Noise == model.FeatureDependent, Epoch: l.Position.Epoch, Step: l.Position.Step}
	truth := l.truth
	if truth == nil {
		truth = eval.UnknownRates(l.vocabulary.Len())
	}
	var told [2][]*report.WordEstimate
	if path := l.estimatesOf(folder); path != "" {
		var err error
		if told, err = readEstimates(path, l.vocabulary); err != nil {
			return nil, err
		}
	}
	if r.FeatureDependent {
		r.Split, r.Bags, r.LeftOut, r.Levels = l.split, l.q01.Bags(), l.leftOut, rates.SpreadLevels[:]
		r.Q01 = l.spread(l.q01, truth.Q01, told[0])
		r.Q10 = l.spread(l.q10, truth.Q10, told[1])
		return r, nil
	}
	r.Q01 = report.NewRateReport(l.words(l.all.Q01, truth.Q01, told[0]))
	r.Q10 = report.NewRateReport(l.words(l.all.Q10, truth.Q10, told[1]))
	return r, nil
}

// estimatesOf finds what a recipe has estimated: in the folder of the run, or beside it, where nmn
// experiment keeps what all arms of a seed share. Empty where there is none.
func (l *learntRates) estimatesOf(folder string) string {
	for _, recipe := range []string{filepath.Join(folder, recipeName), filepath.Join(folder, "..", recipeName+suffixOf(l.Model.MIL))} {
		if path := filepath.Join(recipe, recipeRatesName); exists(path) {
			return path
		}
	}
	return ""
}

// words are in class order; told may be nil.
func (l *learntRates) words(learnt, truth []float64, told []*report.WordEstimate) []report.WordRate {
	list := make([]report.WordRate, l.vocabulary.Len())
	for c := range list {
		list[c] = report.WordRate{Word: l.vocabulary.Word(c).Text, Rate: eval.Number(learnt[c]), True: eval.Number(truth[c])}
		if told != nil {
			list[c].Estimate = told[c]
		}
	}
	return list
}

func (l *learntRates) spread(s *rates.Spreads, truth []float64, told []*report.WordEstimate) report.RateReport {
	k := l.vocabulary.Len()
	means, spreads := make([]float64, k), make([]rates.Spread, k)
	for c := range k {
		spreads[c] = s.Of(c)
		means[c] = spreads[c].Mean
	}
	list := l.words(means, truth, told)
	for c := range list {
		list[c].Spread = &spreads[c]
	}
	r := report.NewRateReport(list)
	for _, d := range s.Departures() {
		r.Departures = append(r.Departures, report.RateDeparture{ID: l.ids[d.Bag], Word: l.vocabulary.Word(d.Class).Text, Rate: d.Rate, Mean: d.Mean})
	}
	return r
}

// estimateColumns are those of each rate in what nmn rates writes.
var estimateColumns = [2][3]string{{"q01", "q01_low", "q01_high"}, {"q10", "q10_low", "q10_high"}}

// readEstimates reads the rates that a recipe has found, q01 and q10 in class order.
func readEstimates(path string, v *text.Vocabulary) (told [2][]*report.WordEstimate, err error) {
	f, err := os.Open(path)
	if err != nil {
		return told, err
	}
	defer f.Close()
	if told, err = parseEstimates(f, v); err != nil {
		return told, inWordTable(path, err)
	}
	return told, nil
}

func parseEstimates(r io.Reader, v *text.Vocabulary) (told [2][]*report.WordEstimate, err error) {
	table, err := text.NewWordTable(r, v, "q01", "q01_low", "q01_high", "q10", "q10_low", "q10_high", "remarks")
	if err != nil {
		return told, err
	}
	told = [2][]*report.WordEstimate{make([]*report.WordEstimate, v.Len()), make([]*report.WordEstimate, v.Len())}
	for {
		class, err := table.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return told, err
		}
		for side, columns := range estimateColumns {
			e := &report.WordEstimate{Remarks: table.Field("remarks")}
			for i, to := range []*eval.Number{&e.Rate, &e.Low, &e.High} {
				if *to, err = rateField(table.Field(columns[i])); err != nil {
					return told, &text.WordTableError{Line: table.Line(), Err: fmt.Errorf("word %q: %s is %w", v.Word(class).Text, columns[i], err)}
				}
			}
			told[side][class] = e
		}
	}
	if missing, first := table.Missing(); missing > 0 {
		return told, fmt.Errorf("%d of %d words have no line, the first is %q", missing, v.Len(), first)
	}
	return told, nil
}

// rateField reads a rate; an empty field is an unknown one.
func rateField(field string) (eval.Number, error) {
	if field == "" {
		return eval.Undefined(), nil
	}
	x, err := strconv.ParseFloat(field, 64)
	if err != nil || math.IsNaN(x) || x < 0 || x > 1 {
		return eval.Undefined(), fmt.Errorf("%.40q, want a rate from 0 to 1", field)
	}
	return eval.Number(x), nil
}
