package main

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"nmn/labels/misplaced"
	"nmn/loader"
	"nmn/loader/annotation"
	"nmn/report"
	"nmn/run"
	"nmn/text"
)

type auditCaptions struct {
	captions   string
	vocabulary string
	options    misplaced.AuditOptions
	top        int
	output     string
	apply      string
	decisions  string
	minError   float64
	page       auditPage
	nets       captionNets
	shown      tablesOutput
}

func newAuditCaptions(p *program) *cobra.Command {
	a := auditCaptions{options: misplaced.DefaultAuditOptions(), top: 10, minError: .5,
		page: auditPage{items: 500, thumbnails: 200}}
	cmd := &cobra.Command{
		Use:   "captions DATA",
		Short: "Find captions that belong to other pictures",
		Long: `Find captions that are under the wrong picture or clip, by comparing the captions of each
picture with each other and, with --scores or --train, with a classifier. It needs no clean
labels.`,
		Annotations: details(`A caption is suspect if it has words that the other captions lack, and lacks words that they
have. DATA is a file of COCO, MSR-VTT or Flickr30k, CSV or JSON lines with image and caption,
or a folder of pictures with a text file next to each, a caption on each line.
If captions do not identify themselves, nothing is dropped and the reason is printed. A single
caption of a picture needs a classifier: --train, --backbone and --features train nets in
--run-dir, each on a part of the pictures, and judge captions by the scores of the others. If
you interrupt it, the same command continues. See docs/guide/captions-audit.md.`),
		Example: `  nmn audit captions captions.csv --page captions.html --images pictures/
  nmn audit captions pairs.csv --images pictures/ --backbone dinov2-small --output own.csv
  nmn audit captions captions.csv --decisions caption-decisions.csv --apply kept.csv`,
		Args:              arguments(p, counted(1, 1)),
		ValidArgsFunction: completeFiles("json", "jsonl", "csv", "txt", "token", "zip", "gz"),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.run(cmd, p, args[0]) },
	}
	in := under(cmd, "Captions")
	in.file(&a.vocabulary, "vocab", "judge captions by the words in this `file`", "txt")
	in.int(&a.options.Words, "vocab-size", "judge captions by this many most frequent `words`")
	in.file(&a.options.Scores, "scores", "read out-of-fold scores of a classifier from this `file`", "csv", "npy")
	in.bool(&a.options.Logits, "logits", "read scores as log-odds instead of probabilities")
	in.needs("scores", "logits")
	in.file(&a.options.Truth, "truth", "read the ids of the captions known to be wrong from this `file`", "csv", "txt")
	in.uint64(&a.options.Witness.Seed, "seed", "draw comparisons and intervals from this `seed`")
	in.int(&a.options.Witness.Resamples, "resamples", "resample `pictures` this many times for the interval")
	a.nets.flags(under(cmd, "Classifier"))
	pages := under(cmd, "Page")
	a.page.flags(pages)
	pages.float(&a.minError, "min-error", "show captions that are wrong with this `probability`")
	pages.needs("page", "min-error")
	drop := under(cmd, "Dropping captions")
	drop.file(&a.decisions, "decisions", "apply the decisions in this `file`, saved by the page", "csv")
	drop.file(&a.apply, "apply", "write the captions without dropped ones to this `file`", "json", "jsonl", "csv", "gz")
	drop.float(&a.options.Precision, "precision", "drop captions while this `share` is expected to be wrong")
	out := under(cmd, "Output")
	out.output(&a.output, "output", "write the probability of each caption to this `file`", misplaced.Formats...)
	out.int(&a.top, "top", "print this many least probable `captions`")
	a.shown.flags(out)
	return cmd
}

func (a *auditCaptions) check(cmd *cobra.Command) error {
	o := &a.options
	switch {
	case !(o.Precision > 0 && o.Precision <= 1):
		return usagef("audit captions: --precision is %g, want above 0 to 1", o.Precision)
	case !(a.minError >= 0 && a.minError <= 1):
		return usagef("audit captions: --min-error is %g, want 0 to 1", a.minError)
	case a.top < 0 || o.Words < 0 || o.Witness.Resamples < 0:
		return usagef("audit captions: --top, --vocab-size and --resamples are at least 0")
	case cmd.Flags().Changed("vocab-size") && (a.vocabulary != "" || o.Scores != ""):
		return usagef("audit captions: --vocab-size cannot be combined with --vocab or --scores")
	case a.nets.wanted() && o.Scores != "":
		return usagef("audit captions: --scores are scores already, and --train, --backbone and --features make some: " +
			"leave out one")
	case a.decisions != "" && a.apply == "":
		return usagef("audit captions: --decisions needs --apply, the file of the kept captions")
	case a.output != "" && (a.output == a.apply || a.output == a.page.file) || a.apply != "" && a.apply == a.page.file:
		return usagef("audit captions: --output, --apply and --page need three different files")
	}
	if !a.nets.wanted() {
		if err := refuse(cmd, "belongs to --train", "run-dir", "set"); err != nil {
			return err
		}
	}
	return a.checkPage(cmd)
}

// checkPage checks the flags of the page. The pictures are also for the classifier.
func (a *auditCaptions) checkPage(cmd *cobra.Command) error {
	if a.nets.wanted() && a.page.file == "" {
		return refuse(cmd, "belongs to --page", "page-items", "thumbnails")
	}
	return a.page.check(cmd)
}

func (a *auditCaptions) run(cmd *cobra.Command, p *program, file string) error {
	ctx := cmd.Context()
	a.captions = file
	if err := a.check(cmd); err != nil {
		return err
	}
	bags, decisions, err := a.read(ctx)
	if err != nil {
		return err
	}
	if a.nets.wanted() {
		if err := a.score(ctx, p); err != nil {
			return err
		}
	}
	a.options.Witness.Progress = p.counted("captions", "rounds")
	r, err := misplaced.Audit(ctx, bags, a.options)
	p.status.clear()
	if err != nil {
		return err
	}
	outcome, err := a.write(ctx, p, r, decisions)
	if err != nil {
		return err
	}
	err = a.shown.write(p, func() any { return r.Summary(a.top, outcome) },
		func() []*report.Table { return report.CaptionAuditTables(r, a.top, outcome) })
	if err == nil && r.Refusal != "" && a.options.Scores == "" {
		p.message(run.Message{Topic: "next", Text: "nmn audit captions " + argument(a.captions) +
			" --images PICTURES --train: have nets score the pictures, and judge the captions by that"})
	}
	if err == nil && a.page.file != "" {
		p.message(run.Message{Topic: "page", Text: a.page.file})
		if a.decisions == "" && a.apply == "" {
			p.message(run.Message{Topic: "next", Text: "review the page, save caption-decisions.csv, then nmn audit captions " +
				argument(a.captions) + " --decisions caption-decisions.csv --apply kept" + bags.Extension()})
		}
	}
	return err
}

func (a *auditCaptions) read(ctx context.Context) (*annotation.Bags, misplaced.Decisions, error) {
	bags, err := annotation.ReadBags(ctx, a.captions)
	if err != nil {
		return nil, nil, err
	}
	if loader.IsFolder(a.captions) {
		a.page.images = cmp.Or(a.page.images, a.captions)
	}
	if a.apply != "" { // a wrong name fails before the work
		if err := bags.CheckWithout(a.apply); err != nil {
			return nil, nil, err
		}
	}
	if a.vocabulary != "" {
		if a.options.Vocabulary, err = text.ReadVocabulary(a.vocabulary); err != nil {
			return nil, nil, err
		}
	}
	var decisions misplaced.Decisions
	if a.decisions != "" {
		decisions, err = misplaced.ReadDecisionsFile(a.decisions, bags)
	}
	return bags, decisions, err
}

func (a *auditCaptions) write(ctx context.Context, p *program, r *misplaced.Report,
	decisions misplaced.Decisions) (outcome *misplaced.Outcome, err error) {
	if a.output != "" {
		if err := r.WriteFile(a.output); err != nil {
			return nil, err
		}
	}
	if a.apply != "" {
		if outcome, err = r.Apply(ctx, a.apply, decisions); err != nil {
			return nil, err
		}
	}
	return outcome, a.page.write(ctx, p, len(r.IDs), func(bag int) string { return cmp.Or(r.Files[bag], r.IDs[bag]) },
		func(picture func(bag int) []byte) func() error {
			page := report.NewCaptionPage(a.page.name(), r, report.CaptionPageOptions{Items: a.page.items,
				MinError: a.minError, Decisions: decisions, Picture: picture})
			return func() error { return report.WriteCaptionPage(a.page.file, page) }
		})
}
