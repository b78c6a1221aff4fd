package report

import (
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"nmn/eval"
	"nmn/labels"
)

var runHTMLTemplate = htmlTemplate("run", htmlFile("run.html"))

// runHTML is what the page of a run shows, in its order.
type runHTML struct {
	Style           template.CSS
	Title           string
	Facts           []string
	Against, Judged string // what Figures are held against, and on what
	Figures         []headline
	NotMeasured     string // why there are no figures; empty if there are some
	Measures        []pageTable
	Training        []pageChart
	Curves          []pageChart
	Scatter, Strips []pageChart
	Stripped        int
	Captions        *FoundCaptions
	MentionRates    []pageTable
	Noise           bool     // there is a noise model
	RateRemarks     []string // of the estimate that it holds; nil where there is none
	RatesHeld       bool     // in training
	Rated           bool     // there are rates to show
	Unestimated     []string // of words without an estimate
	Words           []pageTable
	Scored          *Scored
	Compared        *comparisonSection
	Config          string
}

// headline is a figure with what it is.
type headline struct{ Name, Value, Meaning string }

// strippedWords is the length of the chart of the noisiest words.
const strippedWords = 20

// WriteHTML writes the page of a run as one HTML file that loads nothing from anywhere: figures, curves,
// noise rates, words, bags and configuration, as far as the run has them.
func (r *Run) WriteHTML(w io.Writer) error {
	name := r.armName()
	p := runHTML{Style: template.CSS(pageStyle + htmlFile("run.css") + htmlFile("bags.css")), Title: name,
		Facts: r.facts(), Scored: r.Scored, Config: strings.TrimRight(r.Config, "\n")}
	if r.Name != "" {
		p.Title = r.Name + ": " + name
	}
	if e := r.Result; e != nil {
		p.Figures, p.NotMeasured = headlines(r), r.NotMeasured
		p.Against, p.Judged = "the labels", judgedOn(r)
		if e.Truth != nil {
			p.Against = "what truly holds"
		}
		if e.Measured() {
			p.Measures, p.Words = pageTables(EvaluationTables(e)), pageTables(WordTables(e, wordsShown))
		}
		if len(r.Epochs) > 0 {
			table, err := EpochTable([]Run{*r})
			if err != nil {
				return err
			}
			table.Title = "After each epoch"
			p.Measures = append(p.Measures, pageTables([]*Table{table})...)
		}
	}
	if c := r.Captions; c != nil {
		p.Captions = c
		p.MentionRates = pageTables(mentionRateTables(c.Rates))
	}
	p.draw(r)
	if r.Compared != nil {
		p.Compared = &comparisonSections("arms", []Comparison{*r.Compared})[0]
	}
	return runHTMLTemplate.Execute(w, &p)
}

// draw makes the charts.
func (p *runHTML) draw(r *Run) {
	known := estimatedRates(r.Rates)
	p.Noise, p.RateRemarks, p.Unestimated = len(r.Rates) > 0, r.RateRemarks, unestimatedNotes(r.Rates)
	p.RatesHeld, p.Rated = r.RatesHeld, len(known) > 0
	p.Stripped = min(strippedWords, len(known))
	p.Training = pageCharts("training", trainingCharts(r.Curve))
	if r.Scored != nil && r.Result != nil && r.NotMeasured == "" {
		p.Curves = pageCharts("recall", recallCharts(r.Scored.Curves, &r.Result.Measures))
	}
	p.Scatter = pageCharts("rates", rateCharts(r.Rates))
	if len(known) > 0 {
		p.Strips = pageCharts("words", noiseCharts(noiseOfRates(known), strippedWords))
	}
}

// noiseOfRates are rates as charts of noise take them.
func noiseOfRates(list labels.Table) *NoiseReport {
	side := func(of func(labels.Row) (rate, truth float64)) RateReport {
		out := make([]WordRate, len(list))
		for i, r := range list {
			rate, truth := of(r)
			out[i] = WordRate{Word: r.Word, Rate: eval.Number(rate), True: eval.Number(truth)}
		}
		return NewRateReport(out)
	}
	return &NoiseReport{
		Q01: side(func(r labels.Row) (rate, truth float64) { return r.Q01, r.T01 }),
		Q10: side(func(r labels.Row) (rate, truth float64) { return r.Q10, r.T10 }),
	}
}

// meanings tell the headline figures in a sentence, by the names of metrics.
var meanings = []struct{ name, meaning string }{
	{"AP (truth)", "Average precision against what truly holds: how well a word ranks the bags, mean over words."},
	{"human AP", "Average precision that asks for no more agreement than people reach among themselves."},
	{"mAP (labels)",
		"Average precision against the labels of this set: how well a word ranks the bags, mean over words."},
	{"OF1", "F1 of all predictions at p ≥ 0.5 as one list: frequent words count most."},
	{"CF1", "F1 of the mean precision and recall of words at p ≥ 0.5: every word counts the same."},
	{"OF1 at θ*", "The same as OF1 where p reaches the threshold θ*, found without the labels of this set."},
	{"CF1 at θ*", "The same as CF1 where p reaches the threshold θ*."},
	{"Brier", "Mean squared distance of probability and answer: smaller is better."},
	{"ECE", "How far probabilities lie from how often words hold: smaller is better, 0 is calibrated."},
}

// judgedOn says what the figures of a run were measured on.
func judgedOn(r *Run) string {
	set := ""
	switch r.Split {
	case "":
	default:
		set = " of the " + r.Split + " set"
	}
	return fmt.Sprintf("%d %s%s and %d %s", r.Result.Bags, r.samples(), set, r.Result.Classes, ClassNoun(r.Result))
}

// headlines are the main figures that the run has.
func headlines(r *Run) []headline {
	var out []headline
	all := measureTable(r.Result.Truth != nil)
	nouns := strings.NewReplacer("bags", r.samples())
	if ClassNoun(r.Result) == "labels" {
		nouns = strings.NewReplacer("bags", r.samples(), "word", "label")
	}
	for _, m := range meanings {
		metric := all[slices.IndexFunc(all, func(a metric) bool { return a.name == m.name })]
		v := metric.of(r)
		if !v.Defined() || m.name == "mAP (labels)" && r.Result.Truth != nil {
			continue
		}
		h := headline{Name: m.name, Value: fmt.Sprintf("%.*f", metric.decimals, float64(metric.scale*v)),
			Meaning: nouns.Replace(m.meaning)}
		if metric.scale == 100 {
			h.Value += " %"
		}
		if strings.HasSuffix(m.name, "θ*") {
			h.Meaning += fmt.Sprintf(" Here it is %.3f.", r.Result.PlugIn)
		}
		out = append(out, h)
	}
	return out
}
