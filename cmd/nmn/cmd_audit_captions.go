package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"nmn/labels/misplaced/captions"
	"nmn/loader/annotation"
	"nmn/report"
	"nmn/text"
)

// auditCaptions are the flags of nmn audit captions.
type auditCaptions struct {
	captions   string
	vocabulary string
	options    captions.Options
	top        int
	output     string
	apply      string
	decisions  string
	minError   float64
	page       auditPage
	shown      tablesOutput
}

func newAuditCaptions(p *program) *cobra.Command {
	a := auditCaptions{options: captions.DefaultOptions(), top: 10, minError: .5,
		page: auditPage{command: "audit captions", items: 500, thumbnails: 200}}
	cmd := &cobra.Command{
		Use:   "captions --captions FILE",
		Short: "Find captions that belong to other pictures",
		Long: `Find captions that stand under the wrong picture or clip. The captions of one picture
should agree, with each other and with a classifier that has not learned them; those that
do not, because of words that they have and words that they lack, give themselves away. No
clean label is used, and no picture is needed. Files are those of COCO and MSR-VTT, or CSV
and JSON lines with bag and caption. Where captions do not identify themselves, nothing is
dropped, and it is said why. See docs/guide/captions-audit.md.`,
		Example: `  nmn audit captions --captions captions_train2014.json --output own.csv
  nmn audit captions --captions train_val_annotation.zip --apply kept.json --precision 0.95
  nmn audit captions --captions captions.csv --page captions.html --images pictures/
  nmn audit captions --captions captions.csv --decisions caption-decisions.csv --apply kept.csv`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.check(cmd.Flags().Changed); err != nil {
				return err
			}
			return a.run(cmd.Context(), p)
		},
	}
	in := under(cmd, "Captions")
	in.file(&a.captions, "captions", "`file` of captions: COCO or MSR-VTT (.json, .gz, .zip), .csv with the columns bag "+
		"and caption, perhaps id and file, or .jsonl with such keys", "json", "jsonl", "csv", "zip", "gz")
	in.file(&a.vocabulary, "vocab", "`file` with the words that captions are judged by (default the most frequent words "+
		"of the captions, or those of the --scores file)", "txt")
	in.int(&a.options.Words, "vocab-size", "most frequent `words` of the captions, where no file names words; 0 for all")
	in.file(&a.options.Scores, "scores", "`file` with scores of a classifier that has not learned the bags that it "+
		"scores, out-of-fold: a row for each bag or for some, a column for each word", "csv", "npy")
	in.bool(&a.options.Logits, "logits", "scores are log-odds instead of probabilities")
	in.file(&a.options.Truth, "truth", "`file` with the ids of the captions that are foreign, where they are known: one "+
		"a line, or a column annotation_id", "csv", "txt")
	in.uint64(&a.options.Witness.Seed, "seed", "`seed` of what captions are compared with, and of the interval")
	in.int(&a.options.Witness.Resamples, "resamples", "times that `bags` are drawn anew for the interval of the share; "+
		"0 for none")
	pages := under(cmd, "Page")
	a.page.flags(pages)
	pages.float(&a.minError, "min-error", "least `probability` to be of another bag of a caption on the page")
	drop := under(cmd, "Dropping captions")
	drop.file(&a.decisions, "decisions", "`file` with decisions of people (annotation_id, decision), as the page saves "+
		"it", "csv")
	drop.file(&a.apply, "apply", "`file` for the captions without those that are dropped, in the form of --captions",
		"json", "jsonl", "csv", "gz")
	drop.float(&a.options.Precision, "precision", "expected `share` of the dropped captions that are of other bags "+
		"indeed")
	out := under(cmd, "Output")
	out.file(&a.output, "output", "`file` for the probability of each caption to be of its bag: .csv, .jsonl or .parquet",
		"csv", "jsonl", "parquet")
	out.int(&a.top, "top", "`captions` listed on standard output, the least probable ones")
	a.shown.flags(out)
	return cmd
}

func (a *auditCaptions) check(given func(string) bool) error {
	o := &a.options
	switch {
	case a.captions == "":
		return usagef("audit captions: needs --captions, the file of captions")
	case !(o.Precision > 0 && o.Precision <= 1):
		return usagef("audit captions: --precision is %g, want above 0 to 1", o.Precision)
	case !(a.minError >= 0 && a.minError <= 1):
		return usagef("audit captions: --min-error is %g, want 0 to 1", a.minError)
	case given("min-error") && a.page.file == "":
		return usagef("audit captions: --min-error belongs to --page")
	case a.top < 0 || o.Words < 0 || o.Witness.Resamples < 0:
		return usagef("audit captions: --top, --vocab-size and --resamples are at least 0")
	case given("vocab-size") && (a.vocabulary != "" || o.Scores != ""):
		return usagef("audit captions: --vocab-size is for the words of the captions: leave out --vocab and --scores")
	case o.Logits && o.Scores == "":
		return usagef("audit captions: --logits belongs to --scores")
	case a.decisions != "" && a.apply == "":
		return usagef("audit captions: --decisions needs --apply, the file for the captions without the dropped ones")
	case a.output != "" && (a.output == a.apply || a.output == a.page.file) || a.apply != "" && a.apply == a.page.file:
		return usagef("audit captions: --output, --apply and --page are of one name, want three")
	}
	return cmp.Or(checkEnding("audit captions", "output", a.output, captions.Formats), a.page.check(given))
}

func (a *auditCaptions) run(ctx context.Context, p *program) error {
	bags, decisions, err := a.read(ctx)
	if err != nil {
		return err
	}
	if p.watched() {
		a.options.Witness.Progress = func(round, rounds int) {
			p.draw(stage{Title: "captions", Done: round, Total: rounds, Unit: "rounds"},
				fmt.Sprintf("captions: round %d of %d", round, rounds))
		}
	}
	r, err := captions.Audit(ctx, bags, a.options)
	p.status.clear()
	if err != nil {
		return err
	}
	outcome, err := a.write(ctx, p, r, decisions)
	if err != nil {
		return err
	}
	return a.shown.write(p, func() any { return r.Summary(a.top, outcome) },
		func() []*report.Table { return report.CaptionAuditTables(r, a.top, outcome) })
}

// read reads what the audit needs.
func (a *auditCaptions) read(ctx context.Context) (*annotation.Bags, captions.Decisions, error) {
	bags, err := annotation.ReadBags(ctx, a.captions)
	if err != nil {
		return nil, nil, err
	}
	if a.apply != "" { // before the work, which a wrong name would waste
		if err := bags.CheckWithout(a.apply); err != nil {
			return nil, nil, err
		}
	}
	if a.vocabulary != "" {
		if a.options.Vocabulary, err = text.ReadVocabulary(a.vocabulary); err != nil {
			return nil, nil, err
		}
	}
	var decisions captions.Decisions
	if a.decisions != "" {
		decisions, err = captions.ReadDecisionsFile(a.decisions, bags)
	}
	return bags, decisions, err
}

// write writes the files that are asked for.
func (a *auditCaptions) write(ctx context.Context, p *program, r *captions.Report,
	decisions captions.Decisions) (outcome *captions.Outcome, err error) {
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
	return outcome, a.writePage(ctx, p, r, decisions)
}

// writePage writes the page where one is asked for.
func (a *auditCaptions) writePage(ctx context.Context, p *program, r *captions.Report,
	decisions captions.Decisions) error {
	return a.page.write(ctx, p, len(r.IDs), func(bag int) string { return cmp.Or(r.Files[bag], r.IDs[bag]) },
		func(picture func(bag int) []byte) error {
			return report.WriteCaptionPage(a.page.file, report.NewCaptionPage(a.page.name(), r, report.CaptionPageOptions{
				Items: a.page.items, MinError: a.minError, Decisions: decisions, Picture: picture}))
		})
}
