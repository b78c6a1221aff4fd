package main

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"nmn/labels"
	"nmn/labels/audit"
	"nmn/labels/audit/multiclass"
	"nmn/labels/audit/neighbours"
	"nmn/labels/rates"
	"nmn/loader/manifest"
	"nmn/loader/relabel"
)

func newAudit(p *program) *cobra.Command {
	a := auditCommand{options: audit.Options{Estimation: rates.DefaultOptions(), MinError: .5}, top: 20, classes: 20,
		page: auditPage{command: "audit", items: 500, thumbnails: 200}, correction: labels.Correction{Precision: .9},
		rows: auditRows{options: neighbours.DefaultOptions()}}
	cmd := &cobra.Command{
		Use:   "audit [DATA | RUN]",
		Short: "Find labels that are probably wrong, and correct them",
		Long: `Rank labels by how probably they are wrong: labels that are there and should not be, and
labels that are missing. The probability comes from out-of-fold scores, of nets that have not
learned the label, and from the noise rates of each word. Write a page to look through
suspects in a browser, apply what was decided there, or let all suspects be corrected up to a
wanted precision. Every bag gets a score of how well its labels fit; with --features,
outliers and near-duplicates are found too. See docs/guide/audit.md.

DATA is what nmn train takes: the command trains on it, in --run-dir, and audits the run. RUN
is the folder of a finished run: data, labels, pictures and out-of-fold scores are found
there. Where these are not of all training bags, the command says what nets of folds would
cost, and --noise-rates folds:N trains them; with DATA it trains them at once. The page is written
to RUN/audit/audit.html, and corrected labels in the form that the data came in.

With --scores and --labels it audits the scores of any program. Where the labels are one class
for each bag, integers or names, the classes exclude each other: noise is then a matrix of
classes against classes, and every suspect has a class suggested.`,
		Example: `  nmn audit pictures.csv --run-dir runs/mine
  nmn audit runs/mine
  nmn audit runs/mine --noise-rates folds:2
  nmn audit runs/mine --decisions decisions.csv --output fixed.csv
  nmn audit --scores oof.csv --labels labels.csv --page audit.html --images pictures/
  nmn audit --scores oof.csv --labels labels.csv --decisions decisions.csv --output fixed.csv
  nmn audit --scores oof.csv --labels labels.csv --apply --precision 0.95 --output fixed.csv
  nmn audit --scores oof.csv --labels labels.csv --truth truth.csv --suspects suspects.parquet
  nmn audit --scores softmax.npy --labels classes.npy --features x.npy --rows rows.csv`,
		Args: arguments(p, cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if how := labels.Apply(args[0]); how == labels.ApplyForce || how == labels.ApplyPooled {
					return usagef("audit: %s is the folder of no run; a value of --apply follows an equals sign: --apply=%s", how, how)
				}
				if holdsRun(args[0]) {
					return a.auditRun(cmd.Context(), p, args[0], cmd.Flags().Changed)
				}
				return a.auditData(cmd.Context(), p, args[0], cmd.Flags().Changed)
			}
			if err := cmp.Or(a.ofRun.check(cmd.Flags().Changed), a.ofData.refuse(cmd.Flags().Changed)); err != nil {
				return err
			}
			if err := a.check(cmd.Flags().Changed); err != nil {
				return err
			}
			if err := checkScores("audit", &a.files, a.options.Estimation); err != nil {
				return err
			}
			return a.run(cmd.Context(), p, cmd.Flags().Changed)
		},
		ValidArgsFunction: completeFolders,
	}
	a.ofData.flags(under(cmd, "Data"))
	a.ofRun.flags(under(cmd, "Run"))
	scoreFlags(under(cmd, "Scores"), &a.files)
	e := under(cmd, "Noise rates")
	e.file(&a.options.NoiseRates, "noise-rates",
		"`file` with the rates of each word (word, q01, q10) instead of an estimate; "+
			"scores are then taken as of the true label. With RUN also folds:N, nets of N folds that give all bags scores, "+
			"or online, for those bags alone that have some", "csv")
	e.bool(&a.options.Calibrate, "calibrate", "calibrate the scores by a and b of the --noise-rates file, which were "+
		"estimated from the same scores")
	estimationFlags(e, &a.options.Estimation)
	s := under(cmd, "Suspects")
	s.float(&a.options.MinError, "min-error", "least `probability` of being wrong of a suspect, 0 to rank all labels")
	s.int(&a.top, "top", "`suspects` listed on standard output, 0 for none")
	s.int(&a.classes, "classes", "`words` summed up by the tables, those with the most labels expected to be wrong, "+
		"0 for all")
	s.file(&a.suspects, "suspects", "`file` to write all suspects to, ranked: .csv, .jsonl, "+
		".parquet or .npy", "csv", "jsonl", "parquet", "npy")
	a.rows.flags(under(cmd, "Bags"))
	a.page.flags(under(cmd, "Page"))
	a.correctionFlags(under(cmd, "Correction"))
	out := under(cmd, "Output")
	a.shown.flags(out)
	cmd.AddCommand(newAuditAnnotators(p))
	cmd.AddCommand(newAuditCaptions(p))
	cmd.AddCommand(newAuditCompare(p))
	return cmd
}

func (a *auditCommand) run(ctx context.Context, p *program, given func(string) bool) error {
	listed := manifestLabels(ctx, &a.files)
	if listed == nil && multiclass.HasForm(a.files) {
		return a.runClasses(ctx, p, given)
	}
	if c := a.correction.Labels; c != "" && !strings.EqualFold(filepath.Ext(c), a.labelEnding()) {
		return usagef("audit: --output is %q, want a name that ends in %s", c, a.labelEnding())
	}
	estimation, done := watchedEstimation(p, a.options.Estimation)
	a.options.Estimation = estimation
	r, err := audit.Files(ctx, a.files, a.options)
	done()
	if err != nil {
		return err
	}
	if listed != nil {
		a.writeManifest(ctx, listed, r)
	}
	return a.finish(ctx, p, r)
}

// writeManifest has corrected labels written as the manifest that they came from.
func (a *auditCommand) writeManifest(ctx context.Context, m *manifest.Manifest, r *audit.Report) {
	a.correction.Write = func(corrected []uint8) error {
		l, err := manifestRows(m, r, corrected)
		if err == nil {
			_, err = relabel.Manifest(ctx, m, l, a.correction.Labels)
		}
		return err
	}
}
