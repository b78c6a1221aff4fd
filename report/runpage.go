package report

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nmn/eval"
	"nmn/labels"
	"nmn/text"
)

var runHTMLTemplate = htmlTemplate("run")

// runHTML is the content of the page of a run, in its order.
type runHTML struct {
	Style           template.CSS
	Title           string
	Facts           []string
	Against, Judged string      // the labels that Figures compare with, and the set
	Samples         text.Plural // noun for what has labels
	Classes         text.Plural // noun for classes: words or labels
	Figures         []headline
	NotMeasured     string // why there are no figures; empty if there are some
	Measures        []pageTable
	Training        []pageChart
	Curves          []pageChart
	Scatter, Strips []pageChart
	Stripped        int
	Captions        *FoundCaptions
	MentionRates    []pageTable
	Noise           bool     // the run has a noise model
	RateRemarks     []string // about the estimate that the model holds; nil for none
	RatesFrom       string   // sentence about the origin of the rates
	Rated           bool     // the run has rates to show
	NoiseTable      []pageTable
	Unestimated     []string // sentences about classes without an estimate
	Words           []pageTable
	Scored          *Scored
	Compared        *comparisonSection
	Config          string
}

// headline is a measure with its value and its meaning.
type headline struct{ Name, Value, Meaning string }

func newHeadline(name, meaning string, v, scale eval.Number, decimals int) headline {
	h := headline{Name: name, Value: fmt.Sprintf("%.*f", decimals, float64(scale*v)), Meaning: meaning}
	if scale == 100 {
		h.Value += " %"
	}
	return h
}

// strippedWords is the length of the chart of the noisiest words.
const strippedWords = 20

// WriteHTML writes the page of a run as one self-contained HTML file: measures, curves, noise rates, classes, samples
// and configuration, as far as the run has them.
func (r *Run) WriteHTML(w io.Writer) error {
	name := r.armName()
	p := runHTML{Style: template.CSS(pageStyle + htmlFile("run.css") + htmlFile("bags.css")), Title: name,
		Facts: r.facts(), Scored: r.Scored, Config: strings.TrimRight(r.Config, "\n")}
	p.Samples, p.Classes = r.Samples, "labels"
	if r.Result != nil {
		p.Classes = ClassNoun(r.Result)
	}
	if r.Name != "" {
		p.Title = r.Name + ": " + name
	}
	if e := r.Result; e != nil {
		p.Figures, p.NotMeasured = headlines(r), r.NotMeasured
		p.Against, p.Judged = "the labels", judgedOn(r)
		if e.Truth != nil {
			p.Against = "the true labels"
		}
		if e.Measured() {
			p.Measures, p.Words = pageTables(EvaluationTables(e)), pageTables(WordTables(e, wordsShown))
			p.Measures = append(p.Measures, pageTables(slices.Concat(confusionTable(e), transitionTable(r)))...)
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
	if p.Captions = r.Captions; p.Captions != nil {
		p.MentionRates = pageTables(mentionRateTables(p.Captions.Rates))
	}
	p.draw(r)
	if r.Compared != nil {
		p.Compared = &comparisonSections("arms", []Comparison{*r.Compared})[0]
	}
	return runHTMLTemplate.Execute(w, &p)
}

func (p *runHTML) draw(r *Run) {
	known := estimatedRates(r.Rates)
	p.Noise, p.RateRemarks, p.Unestimated = len(r.Rates)+len(r.RateRemarks) > 0, r.RateRemarks, unestimatedNotes(r.Rates)
	p.Rated = len(known) > 0
	if p.Rated {
		p.RatesFrom = r.ratesFrom()
		p.NoiseTable = pageTables([]*Table{noiseTable(noiseOfRates(known))})
	}
	p.Stripped = min(strippedWords, len(known))
	p.Training = pageCharts("training", trainingCharts(r.Curve))
	if r.Scored != nil && r.Result != nil && r.NotMeasured == "" {
		cut := &r.Result.Measures
		if r.Scored.Exclusive { // no threshold predicts
			cut = nil
		}
		p.Curves = pageCharts("recall", recallCharts(r.Scored.Curves, cut))
	}
	p.Scatter = pageCharts("rates", rateCharts(r.Rates))
	if len(known) > 0 {
		p.Strips = pageCharts("words", noiseCharts(noiseOfRates(known), strippedWords))
	}
}

func (r *Run) ratesFrom() string {
	switch {
	case len(r.RateRemarks) > 0:
		return "The rates were estimated before training."
	case r.RatesHeld:
		return "The rates were set before training and did not change."
	}
	return "The noise model has learned these rates."
}

// noiseOfRates converts rates for the charts of noise.
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

// meanings explain the main measures in a sentence.
func meanings(samples, classes text.Plural) []struct{ name, meaning string } {
	ranks := fmt.Sprintf(": how well a %s ranks the %v, as a mean over %v.", classes.One(), samples, classes)
	return []struct{ name, meaning string }{
		{"AP (truth)", "Average precision against the true labels" + ranks},
		{"human AP", "Average precision up to the recall that people reach among themselves."},
		{"mAP (labels)", "Average precision against the labels of this set" + ranks},
		{"OF1", fmt.Sprintf("F1 of all predictions with p ≥ 0.5 together. Frequent %v count most.", classes)},
		{"CF1", fmt.Sprintf("F1 of the mean precision and recall of %v with p ≥ 0.5. Every %s counts equally.", classes,
			classes.One())},
		{"OF1 at θ*", "OF1 with the threshold θ* instead of 0.5. θ* is found without the labels of this set."},
		{"CF1 at θ*", "CF1 with the threshold θ* instead of 0.5."},
		{"Brier", "Mean squared error of the probabilities. Smaller is better."},
		{"ECE", "Calibration error: distance of probabilities from frequencies. Smaller is better."},
	}
}

func judgedOn(r *Run) string {
	set := ""
	if r.Split != "" {
		set = " of the " + r.Split + " set"
	}
	return fmt.Sprintf("%d %v%s and %d %v", r.Result.Bags, r.Samples, set, r.Result.Classes, ClassNoun(r.Result))
}

func headlines(r *Run) []headline {
	if isOneClass(r.Result) {
		return oneClassHeadlines(r)
	}
	var out []headline
	all := measureTable(r.Result.Truth != nil)
	for _, m := range meanings(r.Samples, ClassNoun(r.Result)) {
		metric := all[slices.IndexFunc(all, func(a metric) bool { return a.name == m.name })]
		v := metric.of(r)
		if !v.Defined() || m.name == "mAP (labels)" && r.Result.Truth != nil {
			continue
		}
		h := newHeadline(m.name, m.meaning, v, metric.scale, metric.decimals)
		if strings.HasSuffix(m.name, "θ*") {
			h.Meaning += fmt.Sprintf(" Here θ* is %.3f.", r.Result.PlugIn)
		}
		out = append(out, h)
	}
	return out
}

// Files of a run's page.
const (
	HTMLFile  = "report.html"
	RatesFile = "q.csv"
)

// WriteRun writes the page of one run into its folder, and q.csv for a run that has noise rates. Files are written
// completely or not at all.
func WriteRun(folder string, r *Run) error {
	if r.Rates != nil {
		if err := r.Rates.WriteFile(filepath.Join(folder, RatesFile), r.Rates.LearntColumns()); err != nil {
			return err
		}
	}
	return savePage(filepath.Join(folder, HTMLFile), "page of "+cmp.Or(r.Name, r.Arm), r.WriteHTML)
}

// wordsShown is the length of lists of best and worst words on a page.
const wordsShown = 10

// roundedDuration rounds a duration to seconds, and a short one more finely.
func roundedDuration(d time.Duration) time.Duration {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond)
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}

// counts returns how many samples and classes were evaluated.
func (r *Run) counts() string {
	if r.NotMeasured != "" {
		return "nothing"
	}
	return fmt.Sprintf("%d %v, %d %v", r.Result.Bags, r.Samples, r.Result.Classes, ClassNoun(r.Result))
}

// ClassNoun returns the noun for the classes of an evaluation: "words" of captions, otherwise "labels".
func ClassNoun(r *eval.Result) text.Plural {
	if r.CaptionsPerSample > 0 || r.GroupSize.Group != nil {
		return "words"
	}
	if isOneClass(r) {
		return "classes"
	}
	return "labels"
}

// facts returns what was trained and how. The arm is in the title of the page.
func (r *Run) facts() (facts []string) {
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, name+": "+value)
		}
	}
	add("data", r.Dataset)
	if r.Flips != (Flips{}) {
		add("flipped labels", r.Flips.String()+" (percent)")
	} else if r.Noise > 0 { // 0 without captions
		replaced := "replaced captions"
		if r.Result != nil && isOneClass(r.Result) {
			replaced = "replaced labels"
		}
		add(replaced, strings.TrimSpace(noiseCell(r.Noise).Text+" % "+r.NoiseKind))
	}
	add("left out", r.LeftOut)
	add("augmentations", r.Augment)
	add("seed", fmt.Sprint(r.Seed))
	if r.Duration > 0 {
		add("duration", roundedDuration(r.Duration).String())
	}
	add("features", r.Features)
	add("weights", r.Weights)
	if r.Result != nil {
		add("evaluated on", r.counts())
	}
	add("threshold "+thresholdColumn, r.ThresholdFrom)
	if a := r.Audit; a != nil {
		add("wrong labels found by", a.From)
		for _, m := range measureTable(true) {
			if v := m.of(r); strings.HasPrefix(m.name, "audit") && v.Defined() {
				add(m.name, fmt.Sprintf("%.*f %%", m.decimals, float64(m.scale*v)))
			}
		}
	}
	return facts
}
