package main

import (
	"context"

	"github.com/spf13/cobra"

	"nmn/eval"
	"nmn/labels/rates"
	"nmn/report"
)

// ratesCommand are the flags of nmn rates.
type ratesCommand struct {
	files      eval.Files
	estimation rates.Options
	floor      bool
	output     string
	shown      tablesOutput
}

func newRates(p *program) *cobra.Command {
	r := ratesCommand{estimation: rates.DefaultOptions()}
	cmd := &cobra.Command{
		Use:   "rates",
		Short: "Estimate from scores how often labels are missing and wrong",
		Long: `Estimate for each word how often it is missing where it should be (q01) and there
where it should not be (q10), with intervals, from the scores of any program and the
labels alone. Scores must be out-of-fold: made by a model that was not trained on the
bag. Words whose rates cannot be told say why. See docs/guide/audit.md.`,
		Example: `  nmn rates --scores oof.csv --labels labels.csv
  nmn rates --scores oof.npy --logits --labels labels.npy --output rates.csv --json`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkScores("rates", &r.files, r.estimation); err != nil {
				return err
			}
			return r.run(cmd.Context(), p)
		},
	}
	scoreFlags(under(cmd, "Scores"), &r.files)
	e := under(cmd, "Estimate")
	estimationFlags(e, &r.estimation)
	e.float(&r.estimation.Confidence, "confidence", "`probability` that an interval holds the rate")
	e.bool(&r.floor, "noise-rates-floor", "raise the rates as far as the labels let them, for noise that is suspected to "+
		"depend on the bag")
	out := under(cmd, "Output")
	out.file(&r.output, "output", "`file` to write the rates to, .csv, as nmn audit --noise-rates reads them", "csv")
	r.shown.flags(out)
	return cmd
}

func (r *ratesCommand) run(ctx context.Context, p *program) error {
	manifestLabels(ctx, &r.files)
	in, err := rates.ReadFiles(r.files)
	if err != nil {
		return err
	}
	o, done := watchedEstimation(p, r.estimation)
	estimate, err := rates.NewReport(ctx, &in, r.floor, o)
	done()
	if err != nil {
		return err
	}
	if r.output != "" {
		if err := estimate.WriteFile(r.output); err != nil {
			return err
		}
	}
	return r.shown.write(p, func() any { return estimate },
		func() []*report.Table { return []*report.Table{report.RateReportTable(estimate)} })
}
