package report

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"

	"nmn/eval"
	"nmn/labels/rates"
	"nmn/report/chart"
	"nmn/text"
)

// NoiseReport holds the noise rates of a run.
type NoiseReport struct {
	Run              string `json:"run"`
	FeatureDependent bool   `json:"feature_dependent"`
	Epoch            int    `json:"epoch"` // of the checkpoint, in its stage
	Step             int    `json:"step"`
	// A feature-dependent model has rates for each bag of Split. LeftOut counts the bags that could not be read.
	Split   string      `json:"split,omitempty"`
	Bags    int         `json:"samples,omitempty"`
	LeftOut int         `json:"left_out,omitempty"`
	Samples text.Plural `json:"-"`                         // the noun for bags
	Levels  []float64   `json:"quantile_levels,omitempty"` // the levels of the quantiles in each spread
	Q01     RateReport  `json:"q01"`                       // p(z=0|y=1), how often a label is missing
	Q10     RateReport  `json:"q10"`                       // p(z=1|y=0), how often a label is incorrect
}

// RateReport is one of the two rates: its mean over the classes, and the classes with the highest rate first.
type RateReport struct {
	Mean       eval.Number     `json:"mean"`
	True       eval.Number     `json:"true"`
	Error      eval.Number     `json:"error"` // mean distance from the true rates, over classes with known rates
	Words      []WordRate      `json:"classes"`
	Departures []RateDeparture `json:"departures,omitempty"` // the bags that differ most from the mean of their class
}

// WordRate is a rate of one class.
type WordRate struct {
	Word   string        `json:"class"`
	Rate   eval.Number   `json:"rate"` // mean over bags in a feature-dependent model
	Spread *rates.Spread `json:"spread,omitempty"`
	True   eval.Number   `json:"true"`
	Error  eval.Number   `json:"error"`            // distance from the true rate
	Remark string        `json:"remark,omitempty"` // why this class has no rate
	// Estimate is the rate estimated from out-of-fold scores before training; nil for none.
	Estimate *WordEstimate `json:"estimate,omitempty"`
}

// WordEstimate is a rate estimated from scores, with its interval and remarks. An unreliable rate is undefined.
type WordEstimate struct {
	Rate    eval.Number `json:"rate"`
	Low     eval.Number `json:"low"`
	High    eval.Number `json:"high"`
	Remarks string      `json:"remarks,omitempty"`
}

// RateDeparture is a bag whose rate differs from the mean of the class.
type RateDeparture struct {
	ID   string  `json:"id"`
	Word string  `json:"class"`
	Rate float64 `json:"rate"`
	Mean float64 `json:"mean"`
}

// NewRateReport sorts rates of classes and returns their report.
func NewRateReport(list []WordRate) RateReport {
	for i := range list {
		list[i].Error = eval.Number(math.Abs(float64(list[i].Rate - list[i].True)))
	}
	mean := func(of func(WordRate) eval.Number) eval.Number {
		values := make([]eval.Number, len(list))
		for i, w := range list {
			values[i] = of(w)
		}
		mean, _ := meanAndSpread(values)
		return mean
	}
	slices.SortStableFunc(list, func(a, b WordRate) int { return cmp.Compare(b.Rate, a.Rate) })
	return RateReport{
		Mean:  mean(func(w WordRate) eval.Number { return w.Rate }),
		True:  mean(func(w WordRate) eval.Number { return w.True }),
		Error: mean(func(w WordRate) eval.Number { return w.Error }), Words: list,
	}
}

type noiseSide struct {
	*RateReport
	symbol, truth  string
	title, heading string
	kind           string // of error
	decimals       int
}

func (r *NoiseReport) sides() [2]noiseSide {
	return [2]noiseSide{
		{RateReport: &r.Q01, symbol: "q01", truth: "T01", title: "Missing labels: q01 = p(z=0|y=1)",
			heading: "Labels most often missing", kind: "missing", decimals: 3},
		{RateReport: &r.Q10, symbol: "q10", truth: "T10", title: "Incorrect labels: q10 = p(z=1|y=0)",
			heading: "Labels most often incorrect", kind: "incorrect", decimals: 4},
	}
}

// Tables returns the report as tables: means, the most classes with the highest rates (0 for all), and the bags that
// differ most from the mean of their class.
func (r *NoiseReport) Tables(most int) []*Table {
	tables := []*Table{r.summary()}
	for _, side := range r.sides() {
		tables = append(tables, side.table(most))
	}
	for _, side := range r.sides() {
		if len(side.Departures) > 0 {
			tables = append(tables, side.departures(r.Samples))
		}
	}
	return tables
}

func (r *NoiseReport) summary() *Table {
	t := &Table{
		Title: fmt.Sprintf("Noise model of %s, %s, epoch %d, step %d: means over %d classes", r.Run, r.kind(), r.Epoch,
			r.Step, len(r.Q01.Words)),
		Columns: append(TextColumns("rate"), NumberColumns(4, "mean", "true", "mean error")...),
	}
	for _, side := range r.sides() {
		t.AddRow(words(side.title), number(side.Mean), number(side.True), number(side.Error))
	}
	t.dropEmptyColumns()
	if r.FeatureDependent {
		note := fmt.Sprintf("Every %s of the %s split (%s) has its own rates. The rates of a class are means over the %v.",
			r.Samples.One(), r.Split, r.Samples.Count(r.Bags), r.Samples)
		if r.LeftOut > 0 {
			note += fmt.Sprintf(" %d more %v could not be read.", r.LeftOut, r.Samples)
		}
		t.Notes = append(t.Notes, note)
	}
	return t
}

// noiseTable sums up both rates, with the class that has the highest one.
func noiseTable(r *NoiseReport) *Table {
	t := &Table{Title: "Noise rates", Columns: slices.Concat(TextColumns("kind of error", "rate"),
		NumberColumns(3, "mean", "true mean", "highest"), TextColumns("highest for"))}
	for _, side := range r.sides() {
		row := Row{Cells: []Cell{words(side.kind + " labels"), words(side.symbol), number(side.Mean), number(side.True),
			unknown(), words("")}}
		if len(side.Words) > 0 {
			row.Cells[4], row.Cells[5] = number(side.Words[0].Rate), words(side.Words[0].Word)
		}
		t.Rows = append(t.Rows, row)
	}
	t.dropEmptyColumns()
	return t
}

func (r *NoiseReport) kind() string {
	if r.FeatureDependent {
		return "feature-dependent"
	}
	return "feature-independent"
}

func (s noiseSide) table(most int) *Table {
	figures := []string{s.symbol, "sd"}
	for _, level := range rates.SpreadLevels {
		figures = append(figures, fmt.Sprintf("%g %%", 100*level))
	}
	figures = append(figures, s.truth, "error", "from scores", "low", "high")
	t := &Table{Title: s.heading, Columns: slices.Concat(TextColumns("label"), NumberColumns(s.decimals, figures...),
		TextColumns("remarks"))}
	shown := s.Words
	if most > 0 && most < len(shown) {
		shown = shown[:most]
		t.Notes = append(t.Notes, fmt.Sprintf("The table shows the first %d of %d classes.", most, len(s.Words)))
	}
	for _, w := range shown {
		t.AddRow(w.cells()...)
	}
	t.dropIfEmpty("remarks")
	t.dropEmptyColumns()
	return t
}

func (w WordRate) cells() []Cell {
	row := []Cell{words(w.Word), number(w.Rate)}
	if w.Spread != nil {
		row = append(row, figure(w.Spread.SD))
		for _, q := range w.Spread.Quantiles {
			row = append(row, figure(q))
		}
	} else {
		row = append(row, slices.Repeat([]Cell{unknown()}, 1+len(rates.SpreadLevels))...)
	}
	row = append(row, number(w.True), number(w.Error))
	e := cmp.Or(w.Estimate, &WordEstimate{Rate: eval.Undefined(), Low: eval.Undefined(), High: eval.Undefined()})
	return append(row, number(e.Rate), number(e.Low), number(e.High), words(cmp.Or(e.Remarks, w.Remark)))
}

func (s noiseSide) departures(samples text.Plural) *Table {
	t := &Table{
		Title:   capital(samples.String()) + " whose " + s.symbol + " differs most from the mean of the class",
		Columns: append(TextColumns(samples.One(), "label"), NumberColumns(s.decimals, s.symbol, "mean")...),
	}
	for _, d := range s.Departures {
		t.AddRow(words(d.ID), words(d.Word), figure(d.Rate), figure(d.Mean))
	}
	return t
}

var noisePageTemplate = htmlTemplate("noise")

// WritePage writes one self-contained HTML file with the charts and all tables.
func (r *NoiseReport) WritePage(w io.Writer) error {
	return noisePageTemplate.Execute(w, struct {
		Style   template.CSS
		Report  *NoiseReport
		Charts  []pageChart
		Tables  []pageTable
		Cut     bool
		Charted int
	}{Style: template.CSS(pageStyle), Report: r, Charts: pageCharts("rates", noiseCharts(r, chartedWords)),
		Tables: pageTables(r.Tables(0)), Cut: len(r.Q01.Words) > chartedWords, Charted: chartedWords})
}

// WriteMarkdown writes all tables.
func (r *NoiseReport) WriteMarkdown(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "# Noise of %s\n\n", markdownEscapes.Replace(r.Run)); err != nil {
		return err
	}
	return Write(w, Markdown, r.Tables(0)...)
}

// chartedWords is the number of classes up to which a chart is readable.
const chartedWords = 100

// noiseCharts draws both rates side by side, each with the most classes that have the highest rates. A rate is
// a dot on a bar from 0, or on the quantiles of a feature-dependent model (5 to 95 % thin, 25 to 75 % thick).
// The true rate is a cross line, and the interval estimated from scores lies below the bar.
func noiseCharts(r *NoiseReport, most int) []numbered {
	var out []numbered
	rows := min(most, len(r.Q01.Words))
	for _, side := range r.sides() {
		c := &chart.Chart{Title: side.title, Rows: []string{}, Summary: "The rate of each class, the highest first.",
			Marks: strips(side.Words[:rows], r.Samples)}
		for _, w := range side.Words[:rows] {
			c.Rows = append(c.Rows, w.Word)
		}
		c.X = chart.Axis{Label: "rate", Max: max(1.05*farthest(c.Marks), 1e-6)}
		out = append(out, numbered{Chart: c})
	}
	return out
}

// strips returns the marks of classes with rates, a row for each, the first at the top.
func strips(list []WordRate, samples text.Plural) []chart.Mark {
	of := " of the " + samples.String()
	thin := chart.Mark{Name: "5 to 95 %" + of, Shape: chart.Thin, Color: chart.Blue, Faint: true}
	thick := chart.Mark{Name: "25 to 75 %" + of, Shape: chart.Thick, Color: chart.Blue, Faint: true}
	bar := chart.Mark{Shape: chart.Thick, Color: chart.Blue, Faint: true}
	estimate := chart.Mark{Name: "interval of the estimate from scores", Shape: chart.Thin, Color: chart.Green, Lift: 7}
	truth := chart.Mark{Name: "true rate", Shape: chart.Upright, Color: chart.Red}
	rate := chart.Mark{Name: "rate of the model", Shape: chart.Dot, Color: chart.Blue}
	for i, w := range list {
		if !w.Rate.Defined() {
			continue
		}
		y := float64(i)
		at := func(v float64) chart.Point { return chart.Point{X: v, Y: y} }
		if q := w.Spread; q != nil {
			thin.Points = append(thin.Points, at(q.Quantiles[0]), at(q.Quantiles[4]))
			thick.Points = append(thick.Points, at(q.Quantiles[1]), at(q.Quantiles[3]))
			rate.Name = "mean over the " + samples.String()
		} else {
			bar.Points = append(bar.Points, at(0), at(float64(w.Rate)))
		}
		if e := w.Estimate; e != nil && e.Low.Defined() && e.High.Defined() {
			estimate.Points = append(estimate.Points, at(float64(e.Low)), at(float64(e.High)))
		}
		if w.True.Defined() {
			truth.Points = append(truth.Points, at(float64(w.True)))
		}
		rate.Points = append(rate.Points, at(float64(w.Rate)))
	}
	return []chart.Mark{bar, thin, thick, estimate, truth, rate} // those without points are not drawn
}
