package main

import (
	"context"
	"math"

	"github.com/spf13/cobra"

	"nmn/eval"
	"nmn/labels"
	"nmn/labels/rates"
	"nmn/report"
)

// ratesCommand are the flags of nmn rates.
type ratesCommand struct {
	files      scoreFiles
	estimation estimation
	floor      bool
	output     string
	format     report.Format
	asJSON     bool
}

// estimatedRates is the JSON of nmn rates.
type estimatedRates struct {
	*rates.Result
	// Threshold of the calibrated probabilities with the best expected F1, of all classes together and
	// of each.
	Threshold  float64      `json:"threshold"`
	Thresholds []float64    `json:"class_thresholds"`
	Floor      *rates.Floor `json:"floor,omitempty"`
	// MeanError of q01 and q10 against the true labels, over the classes whose rates are believed.
	MeanError *meanError `json:"mean_error,omitempty"`
	truth     *labels.Rates
}

type meanError struct {
	Q01 eval.Number `json:"q01"`
	Q10 eval.Number `json:"q10"`
}

func newRates(p *program) *cobra.Command {
	r := ratesCommand{format: report.Text}
	cmd := &cobra.Command{
		Use:   "rates",
		Short: "Estimate from scores how often labels are missing and wrong",
		Long: `Estimate for each word how often it is missing where it should be (q01) and there
where it should not be (q10), with intervals, from the scores of any program and the
labels alone. Scores must be out-of-fold: made by a model that was not trained on the
bag. Words whose rates cannot be told say why. See docs/audit.md.`,
		Example: `  nmn rates --scores oof.csv --labels labels.csv
  nmn rates --scores oof.npy --logits --labels labels.npy --output rates.csv --json`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := r.estimation.check(); err != nil {
				return err
			}
			estimate, err := r.estimate(cmd.Context(), p)
			if err != nil {
				return err
			}
			return r.show(p, estimate)
		},
	}
	r.files.flags(under(cmd, "Scores"))
	e := under(cmd, "Estimate")
	r.estimation.flags(e)
	e.bool(&r.floor, "rates-floor", "raise the rates as far as the labels let them, for noise that is suspected to depend on the bag")
	out := under(cmd, "Output")
	out.file(&r.output, "output", "`file` to write the rates to, .csv, as nmn audit --rates reads them", "csv")
	enum(out, &r.format, "format", "`format` of the table", report.Text, report.Markdown, report.CSV, report.JSON)
	out.bool(&r.asJSON, "json", "write everything as one JSON object")
	return cmd
}

func (r *ratesCommand) estimate(ctx context.Context, p *program) (*estimatedRates, error) {
	in, err := r.files.readLogits("rates")
	if err != nil {
		return nil, err
	}
	o, done := r.estimation.watched(p)
	result, err := rates.Estimate(ctx, ratesInput(&in), o)
	done()
	if err != nil {
		return nil, err
	}
	estimate := &estimatedRates{}
	if r.floor {
		estimate.Floor = new(rates.Floor)
		if result, *estimate.Floor, err = rates.Raise(ctx, ratesInput(&in), result, o); err != nil {
			return nil, err
		}
	}
	estimate.Result = result
	calibrated := result.Calibrated(in.Scores)
	if estimate.Threshold, err = eval.PlugInThreshold(calibrated, true); err != nil {
		return nil, err
	}
	if estimate.Thresholds, err = eval.PlugInThresholds(calibrated, in.Bags, in.Classes, true); err != nil {
		return nil, err
	}
	if in.Truth != nil {
		return estimate, estimate.compare(&in)
	}
	return estimate, nil
}

// compare holds the rates that are believed against those of the true labels.
func (e *estimatedRates) compare(in *eval.Input) (err error) {
	if e.truth, err = eval.TrueRates(in.Labels, in.Truth, in.Bags, in.Classes); err != nil {
		return err
	}
	believed := e.Rates()
	e.MeanError = &meanError{meanGap(believed.Q01, e.truth.Q01), meanGap(believed.Q10, e.truth.Q10)}
	return nil
}

// meanGap is the mean distance, without entries that are unknown on either side.
func meanGap(a, b []float64) eval.Number {
	sum, n := 0.0, 0
	for i := range a {
		if gap := math.Abs(a[i] - b[i]); !math.IsNaN(gap) {
			sum += gap
			n++
		}
	}
	return eval.Number(sum / float64(n))
}

func (r *ratesCommand) show(p *program, estimate *estimatedRates) error {
	table := report.RateEstimateTable(estimate.Result, estimate.truth, estimate.Thresholds)
	table.Notes = append(table.Notes, estimate.notes()...)
	if r.output != "" {
		if err := estimate.Result.WriteFile(r.output); err != nil {
			return err
		}
	}
	if r.asJSON {
		return writeJSON(p.out, estimate)
	}
	return report.Write(p.out, r.format, table)
}
