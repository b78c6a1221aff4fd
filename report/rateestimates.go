package report

import (
	"fmt"
	"slices"
	"strings"

	"nmn/eval"
	"nmn/labels"
	"nmn/labels/rates"
)

// RateEstimateTable shows noise rates per class with their intervals, the calibration of the scores, and
// remarks. The true rates and the thresholds of the classes may be nil.
func RateEstimateTable(r *rates.Result, truth *labels.Rates, thresholds []float64) *Table {
	t := &Table{
		Title: fmt.Sprintf("Noise rates of %d classes from %d samples: q01 = p(missing | true), q10 = p(observed | not "+
			"true)", len(r.Classes), r.Bags),
		Columns: slices.Concat(TextColumns("label"), NumberColumns(0, "labels"), NumberColumns(1, "true, est."),
			NumberColumns(3, "q01", "q01 low", "q01 high", "T01"), NumberColumns(4, "q10", "q10 low", "q10 high", "T10"),
			NumberColumns(2, "a", "b"), NumberColumns(3, "AUC", "theta"), TextColumns("remarks")),
	}
	if truth == nil {
		truth = labels.UnknownRates(len(r.Classes))
	}
	unusable, enough := 0, false
	for c, class := range r.Classes {
		var remarks []string
		for _, d := range class.Diagnoses {
			remarks = append(remarks, string(d))
		}
		if class.NotEstimated() != "" {
			class = class.WithoutRates()
			remarks[0] = "not estimated: " + remarks[0]
		}
		if !class.Usable() {
			unusable++
		}
		enough = enough || !slices.Contains(class.Diagnoses, rates.TooFew)
		theta := eval.Undefined()
		if thresholds != nil {
			theta = eval.Number(thresholds[c])
		}
		t.AddRow(
			words(class.Word), count(class.Positives), figure(class.TruePositives),
			figure(class.Q01), figure(class.Q01Interval.Low), figure(class.Q01Interval.High), figure(truth.Q01[c]),
			figure(class.Q10), figure(class.Q10Interval.Low), figure(class.Q10Interval.High), figure(truth.Q10[c]),
			figure(class.A), figure(class.B), number(class.AUC), number(theta), words(strings.Join(remarks, "; ")),
		)
	}
	t.dropEmptyColumns()
	intervals := fmt.Sprintf("Intervals of %g %% come from the labels of each class alone.", 100*r.Confidence)
	if r.Verified > 0 {
		intervals = fmt.Sprintf("Rates and intervals of %g %% rest on %d verified samples.", 100*r.Confidence, r.Verified)
	}
	if enough {
		intervals = fmt.Sprintf("All classes together: q01 %.3f, q10 %.4f. %s", r.PooledQ01, r.PooledQ10, intervals)
	}
	t.Notes = append(t.Notes, intervals)
	switch {
	case !enough:
		t.Notes = append(t.Notes, "Not estimated: "+TooFewText(len(r.Classes))+".")
	case unusable > 0:
		t.Notes = append(t.Notes, fmt.Sprintf("The rates of %d of %d classes are unreliable, for the reason in their "+
			"remarks. An audit does not use them.", unusable, len(r.Classes)))
	}
	return t
}

// CheckText is what to do if scores do not show how many labels are missing.
const CheckText = "The scores do not show how many labels are missing. Check 50 random pictures, write all true " +
	"labels of each into a file, and give it as verified pictures (docs/guide/audit.md)"

// TooFewText is the reason why no rates could be estimated.
func TooFewText(labels int) string {
	return fmt.Sprintf("none of %d labels is present and absent often enough to estimate its noise", labels)
}

// RateReportTable is RateEstimateTable of a report, with notes on its thresholds and its error.
func RateReportTable(r *rates.Report) *Table {
	t := RateEstimateTable(r.Result, r.Truth, r.Thresholds)
	t.Notes = append(t.Notes, fmt.Sprintf("Calibrated probabilities, sigmoid(a o + b), have their best expected F1 at "+
		"the threshold %.3f (column theta for each label).", r.Threshold))
	if r.Floor != nil {
		t.Notes = append(t.Notes, fmt.Sprintf(
			"Rates are raised to at least q01 %.3f and q10 %.4f, as far as the labels allow.", r.Floor.Q01, r.Floor.Q10))
	}
	if r.Unidentified() {
		t.Notes = append(t.Notes, CheckText+".")
	}
	if r.MeanError != nil {
		t.Notes = append(t.Notes, fmt.Sprintf("Mean error against the true labels (T01, T10), over labels with reliable "+
			"rates: q01 %.3f, q10 %.4f.", r.MeanError.Q01, r.MeanError.Q10))
	}
	return t
}
