package main

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nmn/eval"
	"nmn/internal/setting"
	"nmn/labels"
	"nmn/labels/audit"
	"nmn/labels/audit/multiclass"
	"nmn/labels/audit/neighbours"
	"nmn/labels/rates"
	"nmn/report"
	"nmn/run"
)

// auditCommand are the flags of nmn audit.
type auditCommand struct {
	files      eval.Files
	options    audit.Options
	top        int
	classes    int
	suspects   string
	page       auditPage
	rows       auditRows
	correction labels.Correction
	ofRun      auditRun
	ofData     auditData
	shown      tablesOutput
}

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
outliers and near-duplicates are found too. See docs/audit.md.

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

func (a *auditCommand) check(given func(string) bool) error {
	switch {
	case !(a.options.MinError >= 0 && a.options.MinError <= 1):
		return usagef("audit: --min-error is %g, want 0 to 1", a.options.MinError)
	case a.top < 0:
		return usagef("audit: --top is %d, want at least 0", a.top)
	case a.classes < 0:
		return usagef("audit: --classes is %d, want at least 0", a.classes)
	case a.options.Calibrate && a.options.NoiseRates == "":
		return usagef("audit: --calibrate belongs to --noise-rates")
	}
	return cmp.Or(checkEnding("audit", "suspects", a.suspects, audit.SuspectFormats), a.page.check(given),
		a.rows.check(given), a.checkCorrection(given))
}

func (a *auditCommand) correctionFlags(r group) {
	r.file(&a.options.Decisions, "decisions", "`file` with decisions of people (id, word, given, decision), as the page "+
		"saves it: they correct labels, and the probabilities of all others", "csv")
	optional(r, &a.correction.Apply, "apply", "correct the first suspects that nobody has decided on, as many as "+
		"--precision allows; with fewer than 5000 labels only after 30 decisions, or with =force at your own risk; "+
		"=pooled also corrects words without rates of their own", labels.ApplyCareful, labels.ApplyForce, labels.ApplyPooled)
	r.float(&a.correction.Precision, "precision", "expected `share` of the labels that --apply corrects that were "+
		"wrong indeed")
	r.file(&a.correction.Labels, "output", "`file` for the corrected labels: .csv, .npy for one class for each bag, of a "+
		"RUN in the form of its data; FILE.changes.csv beside it tells the origin of every change", "csv", "jsonl", "json",
		"npy")
}

func (a *auditCommand) checkCorrection(given func(string) bool) error {
	c := &a.correction
	switch {
	case given("precision") && c.Apply == "":
		return usagef("audit: --precision belongs to --apply")
	case !(c.Precision > 0 && c.Precision <= 1):
		return usagef("audit: --precision is %g, want above 0 to 1", c.Precision)
	case (c.Apply != "" || a.options.Decisions != "") && c.Labels == "":
		return usagef("audit: --apply and --decisions need --output, the file for the corrected labels")
	case c.Labels != "" && c.Apply == "" && a.options.Decisions == "":
		return usagef("audit: --output is for corrected labels and needs --apply or --decisions; --suspects %s "+
			"writes the ranked list", c.Labels)
	case c.Labels != "" && !a.ofRun.on && !isCorrectedForm(c.Labels):
		return usagef("audit: --output is %q, want a name that ends in .csv, in .jsonl for a manifest of that form, or in "+
			".npy where the labels are one class for each bag", c.Labels)
	}
	return nil
}

// labelEnding is that of the file of corrected labels: of a manifest of JSON lines its own.
func (a *auditCommand) labelEnding() string {
	if strings.EqualFold(filepath.Ext(a.files.Labels), ".jsonl") {
		return ".jsonl"
	}
	return ".csv"
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

// finish corrects, writes and shows what was found.
func (a *auditCommand) finish(ctx context.Context, p *program, r *audit.Report) (err error) {
	found, err := a.rows.neighbours(ctx, p, r.IDs, r.Bags)
	if err != nil {
		return err
	}
	if found != nil {
		r.SetNeighbours(found)
	}
	if a.correction.Labels != "" {
		a.correction.Version = programVersion()
		if err := r.Correct(a.correction); err != nil {
			return err
		}
	}
	if a.suspects != "" {
		if err := audit.WriteSuspectsFile(a.suspects, r.Input, r.Suspects); err != nil {
			return err
		}
	}
	if err := a.rows.write(r.Table()); err != nil {
		return err
	}
	err = a.page.write(ctx, p, r.Bags, r.ID, func(picture func(bag int) []byte) error {
		return report.WriteAuditPage(a.page.file, report.NewAuditPage(a.page.name(), r, a.page.items, picture))
	})
	if err != nil {
		return err
	}
	return a.shown.write(p, func() any { return r.Summary(a.top) },
		func() []*report.Table { return report.AuditTables(r, a.top, a.classes) })
}

// tablesOutput are the flags of a command that shows tables, or JSON.
type tablesOutput struct {
	format report.Format
	asJSON bool
}

func (o *tablesOutput) flags(r group) {
	o.format = report.Text
	enum(r, &o.format, "format", "`format` of the tables", report.Text, report.Markdown, report.CSV, report.JSON)
	r.bool(&o.asJSON, "json", "write everything as one JSON object")
}

func (o *tablesOutput) write(p *program, summary func() any, tables func() []*report.Table) error {
	if o.asJSON {
		return writeJSON(p.out, summary())
	}
	return report.Write(p.out, o.format, tables()...)
}

// checkEnding refuses the name of a file that a flag gives, unless it is empty or has one of the endings.
func checkEnding(command, flag, path string, endings []string) error {
	if path == "" || slices.Contains(endings, strings.ToLower(filepath.Ext(path))) {
		return nil
	}
	return usagef("%s: --%s is %q, want a name that ends in %s", command, flag, path, setting.Alternatives(endings))
}

// programVersion is the version for records of changes.
func programVersion() string {
	b := run.ThisBuild()
	return strings.TrimSpace("nmn " + b.Version + " " + b.Revision)
}
