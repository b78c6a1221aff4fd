package main

import (
	"context"

	"github.com/spf13/cobra"

	"nmn/eval"
	"nmn/labels/rates"
	"nmn/report"
)

type ratesCommand struct {
	files      eval.Files
	estimation rates.Options
	floor      bool
	verified   string
	output     string
	shown      tablesOutput
}

func newRates(p *program) *cobra.Command {
	r := ratesCommand{estimation: rates.DefaultOptions()}
	cmd := &cobra.Command{
		Use:   "rates",
		Short: "Estimate how often labels are missing and wrong",
		Long: `Estimate how often each label is missing (q01) and wrong (q10), with intervals, from labels and
out-of-fold scores of any program. The scores must come from nets not trained on the picture.`,
		Annotations: details(`If the rates of a label cannot be estimated, the table gives the reason. See docs/guide/audit.md.
--noise-rates-floor raises the rates as far as the labels allow, for noise that may depend on
the picture. Results do not depend on --threads.`),
		Example: `  nmn rates --scores oof.csv --labels labels.csv
  nmn rates --scores oof.npy --logits --labels labels.npy --output rates.csv --json`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return r.run(cmd.Context(), p) },
	}
	scoreFlags(under(cmd, "Scores"), &r.files)
	e := under(cmd, "Estimate")
	estimationFlags(e, &r.estimation)
	e.float(&r.estimation.Confidence, "confidence", "print intervals with this `probability`")
	e.bool(&r.floor, "noise-rates-floor", "raise the rates as far as the labels allow")
	verifiedFlag(e, &r.verified)
	out := under(cmd, "Output")
	out.file(&r.output, "output", "write the rates to this .csv `file`, for nmn audit", "csv")
	r.shown.flags(out)
	return cmd
}

func (r *ratesCommand) run(ctx context.Context, p *program) error {
	if err := checkScores("rates", &r.files, r.estimation); err != nil {
		return err
	}
	manifestLabels(ctx, &r.files)
	in, err := rates.ReadFiles(r.files)
	if err != nil {
		return err
	}
	if r.estimation.Verified, err = readVerified(ctx, r.verified, &in); err != nil {
		return err
	}
	r.estimation.Progress = p.counted("noise rates", "iterations")
	estimate, err := rates.NewReport(ctx, &in, r.floor, r.estimation)
	p.status.clear()
	if err != nil {
		return err
	}
	if err := writeTo(r.output, estimate.WriteFile); err != nil {
		return err
	}
	return r.shown.write(p, func() any { return estimate },
		func() []*report.Table { return []*report.Table{report.RateReportTable(estimate)} })
}
