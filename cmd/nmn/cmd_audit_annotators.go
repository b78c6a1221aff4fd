package main

import (
	"context"

	"github.com/spf13/cobra"

	"nmn/labels/annotators"
	"nmn/report"
)

// auditAnnotators are the flags of nmn audit annotators.
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
		Short: "Tell how reliable each of several annotators is, and which labels hold",
		Long: `Tell from the labels of several annotators for each bag, and nothing else, how often each
of them misses a label that holds (q01) and gives one that does not (q10), by the model
of Dawid and Skene with one pair of rates for each annotator, drawn towards that of all.
--labels has a row for each annotator of each bag: bag,annotator,labels as CSV, labels
with ; or | between them, or JSON lines. Every label that an annotator does not give
counts as a 0, but for those in a column unknown, and those that a column asked does not
list. If every answer has exactly one label, labels are taken to exclude each other:
each annotator has a confusion matrix, and each bag one label. Where bags have one
annotator each, --scores of a classifier are needed. See docs/guide/annotators.md.`,
		Example: `  nmn audit annotators --labels crowd.csv
  nmn audit annotators --labels crowd.csv --annotators reliability.csv --consensus labels.csv
  nmn audit annotators --labels crowd.jsonl --scores oof.csv --output labels.jsonl --evidence E.npy --json`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.check(cmd.Flags().Changed); err != nil {
				return err
			}
			return a.run(cmd.Context(), p)
		},
	}
	in := under(cmd, "Labels")
	in.file(&a.files.Labels, "labels", "`file` with a row for each annotator of each bag", "csv", "jsonl", "gz")
	in.file(&a.files.Vocabulary, "vocab", "vocabulary `file`, word, POS, count on each line; other labels are left out "+
		"(default: all labels that are met)", "txt")
	in.file(&a.files.Bags, "bags", "`file` with the id of each bag on a line, in the order of --evidence, also of those "+
		"that nobody labelled (default: as they are met)", "txt")
	in.file(&a.files.Scores, "scores", "`file` with out-of-fold scores of a classifier: a row for each bag, named in a "+
		"column id, a column for each word", "csv")
	in.bool(&a.files.Logits, "logits", "scores are log-odds instead of probabilities")
	e := under(cmd, "Estimate")
	e.bool(&a.options.ByLabel, "by-label", "each annotator has rates for each label, as if each were a file of its own: "+
		"for rates that differ among labels")
	e.int(&a.options.Iterations, "iterations", "most `iterations` of each phase")
	e.float(&a.options.Strength01, "prior-missing", "weight of all annotators on q01, in true `labels`; 0 estimates it")
	e.float(&a.options.Strength10, "prior-incorrect", "weight of all annotators on q10, in untrue `labels`; 0 "+
		"estimates it")
	e.float(&a.options.Confidence, "confidence", "`probability` that an interval holds the rate")
	out := under(cmd, "Output")
	out.int(&a.top, "top", "`annotators` listed on standard output, the least reliable first, 0 for all")
	out.file(&a.annotators, "annotators", "`file` to write all annotators to, .csv", "csv")
	out.file(&a.output, "output", "`file` to write the labels of each bag to, with posterior and evidence: .csv or "+
		".jsonl", "csv", "jsonl")
	out.file(&a.consensus, "consensus", "`file` to write the labels to that probably hold: .csv, a table of 0 and 1, "+
		"empty if nobody was asked, or .jsonl, a manifest of pictures named by their bags", "csv", "jsonl")
	out.file(&a.evidence, "evidence", "`file` to write log p(labels | y=1) - log p(labels | y=0) to, bags × words: "+
		".npy or .csv", "npy", "csv")
	a.shown.flags(out)
	return cmd
}

func (a *auditAnnotators) check(given func(string) bool) error {
	switch {
	case a.files.Labels == "":
		return usagef("audit annotators: needs --labels, a file with a row for each annotator of each bag")
	case a.files.Scores != "" && a.files.Bags != "":
		return usagef("audit annotators: --bags and --scores both tell the bags; choose one")
	case a.files.Scores == "" && given("logits"):
		return usagef("audit annotators: --logits belongs to --scores")
	case a.top < 0:
		return usagef("audit annotators: --top is %d, want at least 0", a.top)
	}
	for _, out := range []struct {
		flag, path string
		formats    []string
	}{{"annotators", a.annotators, []string{".csv"}}, {"output", a.output, annotators.LabelFormats},
		{"consensus", a.consensus, annotators.LabelFormats}, {"evidence", a.evidence, annotators.EvidenceFormats}} {
		if err := checkEnding("audit annotators", out.flag, out.path, out.formats); err != nil {
			return err
		}
	}
	if err := a.options.Validate(); err != nil {
		return usageError{err}
	}
	return nil
}

func (a *auditAnnotators) run(ctx context.Context, p *program) error {
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
		if out.path == "" {
			continue
		}
		if err := out.write(out.path); err != nil {
			return err
		}
	}
	return a.shown.write(p, func() any { return r.Summary() },
		func() []*report.Table { return []*report.Table{report.AnnotatorTable(r, a.top)} })
}
