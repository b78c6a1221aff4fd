package report

import (
	"bytes"
	"cmp"
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
	Measures        []pageTable
	Training        template.HTML
	Curves          template.HTML
	Scatter, Strips template.HTML
	Stripped        int
	Captions        *FoundCaptions
	MentionRates    []pageTable
	Noise           bool     // there is a noise model
	RateRemarks     []string // of the estimate that it holds; nil where it has learnt its rates
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
		Scored: r.Scored, Config: strings.TrimRight(r.Config, "\n")}
	if r.Name != "" {
		p.Title = r.Name + ": " + name
	}
	for _, row := range factsTable(r).Rows[1:] { // without the arm, which the title names
		p.Facts = append(p.Facts, row.Cells[0].Text+": "+row.Cells[1].Text)
	}
	if e := r.Result; e != nil {
		p.Figures = headlines(r)
		p.Against, p.Judged = "the labels", fmt.Sprintf("%d bags and %d words", e.Bags, e.Classes)
		if e.Truth != nil {
			p.Against = "what truly holds"
		}
		p.Measures, p.Words = pageTables(EvaluationTables(e)), pageTables(WordTables(e, wordsShown))
	}
	if c := r.Captions; c != nil {
		p.Captions = c
		p.MentionRates = pageTables(foundCaptionTables(&FoundCaptions{Rates: c.Rates}))
	}
	if err := p.draw(r); err != nil {
		return err
	}
	if r.Compared != nil {
		sections, err := comparisonSections([]Comparison{*r.Compared})
		if err != nil {
			return err
		}
		p.Compared = &sections[0]
	}
	return runHTMLTemplate.Execute(w, &p)
}

// draw makes the drawings.
func (p *runHTML) draw(r *Run) error {
	known := estimatedRates(r.Rates)
	p.Noise, p.RateRemarks, p.Unestimated = len(r.Rates) > 0, r.RateRemarks, unestimatedNotes(r.Rates)
	noise := noiseOfRates(known)
	p.Stripped = min(strippedWords, len(known))
	for _, drawing := range []struct {
		to   *template.HTML
		draw func(w io.Writer) (bool, error)
	}{
		{&p.Training, func(w io.Writer) (bool, error) { return Curves(w, "svg", r.Curve) }},
		{&p.Curves, func(w io.Writer) (bool, error) {
			if r.Scored == nil || r.Result == nil {
				return false, nil
			}
			return ScoreCurves(w, "svg", r.Scored.Curves, &r.Result.Measures)
		}},
		{&p.Scatter, func(w io.Writer) (bool, error) { return RateScatter(w, "svg", r.Rates) }},
		{&p.Strips, func(w io.Writer) (bool, error) {
			if len(known) == 0 {
				return false, nil
			}
			return true, noiseChart(w, "svg", noise, strippedWords)
		}},
	} {
		var err error
		if *drawing.to, err = inlineSVG(drawing.draw); err != nil {
			return err
		}
	}
	return nil
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
	{"OF1 at θ*", "The same as OF1 where p reaches the threshold θ*, found without labels."},
	{"CF1 at θ*", "The same as CF1 where p reaches the threshold θ*."},
	{"Brier", "Mean squared distance of probability and answer: smaller is better."},
	{"ECE", "How far probabilities lie from how often words hold: smaller is better, 0 is calibrated."},
}

// headlines are the main figures that the run has.
func headlines(r *Run) []headline {
	var out []headline
	all := metrics(r.Result.Truth != nil)
	for _, m := range meanings {
		metric := all[slices.IndexFunc(all, func(a metric) bool { return a.name == m.name })]
		v := metric.of(r)
		if !v.Defined() || m.name == "mAP (labels)" && r.Result.Truth != nil {
			continue
		}
		h := headline{Name: m.name, Value: fmt.Sprintf("%.*f", metric.decimals, float64(metric.scale*v)),
			Meaning: m.meaning}
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

// html is the page as a file has it.
func (r *Run) html() ([]byte, error) {
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		return nil, fmt.Errorf("page of %s: %w", cmp.Or(r.Name, r.Arm), err)
	}
	return b.Bytes(), nil
}
