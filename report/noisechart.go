package report

import (
	"nmn/eval"
	"nmn/report/chart"
	"nmn/text"
)

// chartedWords is the number of classes up to which a chart is readable.
const chartedWords = 100

// noiseCharts draws both rates side by side, each with the most classes that have the highest rates. A rate is
// a dot on a bar from 0, or on the quantiles of a feature-dependent model (5 to 95 % thin, 25 to 75 % thick).
// The true rate is a cross line, and the interval estimated from scores lies below the bar.
func noiseCharts(r *NoiseReport, most int) []numbered {
	var out []numbered
	rows := min(most, len(r.Q01.Words))
	for _, side := range r.sides() {
		c := &chart.Chart{Title: side.title, Rows: []string{}, X: chart.Axis{Label: "rate", Max: reach(side.Words[:rows])},
			Summary: "The rate of each class, the highest first."}
		for _, w := range side.Words[:rows] {
			c.Rows = append(c.Rows, w.Word)
		}
		c.Marks = strips(side.Words[:rows], r.Samples)
		out = append(out, numbered{Chart: c})
	}
	return out
}

// reach returns the end of the axis, so that all marks fit.
func reach(list []WordRate) float64 {
	top := 0.0
	to := func(v eval.Number) {
		if v.Defined() {
			top = max(top, float64(v))
		}
	}
	for _, w := range list {
		to(w.Rate)
		to(w.True)
		if w.Spread != nil {
			to(eval.Number(w.Spread.Quantiles[4]))
		}
		if w.Estimate != nil {
			to(w.Estimate.High)
		}
	}
	return max(1.05*top, 1e-6)
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
	var marks []chart.Mark
	for _, m := range []chart.Mark{bar, thin, thick, estimate, truth, rate} {
		if len(m.Points) > 0 {
			marks = append(marks, m)
		}
	}
	return marks
}
