package main

import (
	"context"

	"github.com/spf13/cobra"

	"nmn/labels/annotators"
	"nmn/report"
)

type auditAnnotators struct {
	files      annotators.Files
	options    annotators.Options
	top        int
	annotators string
	output     string
	consensus  string
	evidence   string
	shown      tablesOutput
}

func newAuditAnnotators(p *program) *cobra.Command {
	a := auditAnnotators{options: annotators.DefaultOptions(), top: 20}
	cmd := &cobra.Command{
		Use:   "annotators",
		Short: "Estimate the reliability of annotators, and the true labels",
		Long: `Estimate how often each annotator misses a label and gives a wrong one, from the labels of
several annotators alone. It also estimates the true labels (Dawid and Skene's model).`,
		Annotations: details(`Each annotator has two rates: q01 for missed labels and q10 for wrong labels. They are shrunk
towards the rates of all annotators.

--labels has a row for each annotator of each picture: picture,annotator,labels as CSV, with
labels separated by ; or |, or JSON lines. A label that an annotator does not give counts as 0, except
labels in a column unknown, and labels that a column asked does not list. If every answer has
exactly one label, labels exclude each other: each annotator has a confusion matrix, and each
picture one label. If pictures have one annotator each, --scores of a classifier are needed.
--by-label estimates rates for each label separately, for rates that differ between labels.
See docs/guide/annotators.md.`),
		Example: `  nmn audit annotators --labels crowd.csv
  nmn audit annotators --labels crowd.csv --annotators reliability.csv --consensus labels.csv
  nmn audit annotators --labels crowd.jsonl --scores oof.csv --output labels.jsonl --json`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.run(cmd.Context(), p) },
	}
	in := under(cmd, "Labels")
	in.file(&a.files.Labels, "labels", "read a row for each annotator and picture from this `file`", "csv", "jsonl", "gz")
	in.file(&a.files.Vocabulary, "vocab", "use only the labels in this vocabulary `file`", "txt")
	in.file(&a.files.Bags, "samples", "read the ids of the pictures, in order, from this `file`", "txt")
	in.file(&a.files.Scores, "scores", "read out-of-fold scores of a classifier from this `file`", "csv")
	in.bool(&a.files.Logits, "logits", "read scores as log-odds instead of probabilities")
	in.needs("scores", "logits")
	in.excludes("scores", "samples") // both list the pictures
	e := under(cmd, "Estimate")
	e.bool(&a.options.ByLabel, "by-label", "estimate rates for each label separately")
	e.int(&a.options.Iterations, "iterations", "stop after this many `iterations` of each phase")
	e.float(&a.options.Strength01, "prior-missing", "shrink q01 by this many true `labels`; 0 estimates it")
	e.float(&a.options.Strength10, "prior-incorrect", "shrink q10 by this many false `labels`; 0 estimates it")
	e.float(&a.options.Confidence, "confidence", "print intervals with this `probability`")
	out := under(cmd, "Output")
	out.int(&a.top, "top", "print this many least reliable `annotators`; 0 for all", "[0,]")
	out.output(&a.annotators, "annotators", "write all annotators to this .csv `file`", ".csv")
	out.output(&a.output, "output", "write labels with posterior to this `file`: .csv or .jsonl",
		annotators.LabelFormats...)
	out.output(&a.consensus, "consensus", "write the probable labels to this `file`: .csv or .jsonl",
		annotators.LabelFormats...)
	out.output(&a.evidence, "evidence", "write log-likelihood ratios to this `file`: .npy or .csv",
		annotators.EvidenceFormats...)
	a.shown.flags(out)
	return cmd
}

func (a *auditAnnotators) run(ctx context.Context, p *program) error {
	if a.files.Labels == "" {
		return usagef("audit annotators: needs --labels, a file with a row for each annotator of each picture")
	}
	if err := a.options.Validate(); err != nil {
		return usageError{err}
	}
	r, err := annotators.AuditFiles(ctx, a.files, a.options)
	if err != nil {
		return err
	}
	for _, out := range []struct {
		path  string
		write func(string) error
	}{{a.annotators, r.WriteAnnotatorsFile}, {a.output, r.WriteLabelsFile}, {a.consensus, r.WriteConsensusFile},
		{a.evidence, r.WriteEvidenceFile}} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := writeTo(out.path, out.write); err != nil {
			return err
		}
	}
	return a.shown.write(p, func() any { return r.Summary() },
		func() []*report.Table { return []*report.Table{report.AnnotatorTable(r, a.top)} })
}
