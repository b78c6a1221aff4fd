package main

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nmn/eval"
	"nmn/labels"
	"nmn/labels/audit"
	"nmn/labels/audit/multiclass"
	"nmn/labels/audit/rows"
	"nmn/labels/rates"
	"nmn/loader/manifest"
	"nmn/loader/relabel"
	"nmn/report"
	"nmn/run"
	runaudit "nmn/run/audit"
)

func newAudit(p *program) *cobra.Command {
	a := auditCommand{options: audit.Options{Estimation: rates.DefaultOptions(), MinError: .5}, top: 20, classes: 20,
		page: auditPage{items: 500, thumbnails: 200}, correction: labels.Correction{Precision: .9},
		sources: newSources(), runDir: filepath.Join("runs", "audit"), device: "auto"}
	cmd := &cobra.Command{
		Use:   "audit [DATA | RUN]",
		Short: "Find labels that are probably wrong, and correct them",
		Long: `Find labels that are probably wrong or missing, and correct them. DATA is what nmn train takes,
RUN is the folder of a finished run; or give the --scores and --labels of any program.`,
		Annotations: details(`The probability that a label is wrong comes from out-of-fold scores, which nets compute that
were not trained on the label, and from the noise rates of each label. Review the suspects on
the page in a browser and apply your decisions, or let --apply correct suspects up to a given
precision. Every picture gets a score for how well its labels fit. See docs/guide/audit.md.

With DATA the command trains in --run-dir and audits that run. With RUN it reads data, labels,
pictures and out-of-fold scores from the folder. If these scores do not cover all training
pictures, it estimates the cost of training nets of folds; --noise-rates folds:N trains them.
The page is RUN/audit/audit.html. A table of pictures keeps its form when labels
are corrected; other data get a new table.

If the labels of --labels are one class for each picture, the classes exclude each other: the
noise is then a matrix of classes, and every suspect has a suggested class.

--apply corrects the first suspects without a decision. With fewer than 5000 labels it needs 30
decisions first; --apply=force corrects without them, and --apply=pooled also corrects labels
without their own noise rates. With --output FILE, FILE.changes.csv has the reason of every
change.

With RUN, --noise-rates also takes folds:N, which trains nets of N folds that score all
pictures, or online, which audits only the pictures that have scores. Results do not depend on
--threads.`),
		Example: `  nmn audit pictures.csv --run-dir runs/mine
  nmn audit runs/mine --decisions decisions.csv --output fixed.csv
  nmn audit --scores oof.csv --labels labels.csv --page audit.html --images pictures/`,
		Args: arguments(p, counted(0, 1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if how := labels.Apply(args[0]); how == labels.ApplyForce || how == labels.ApplyPooled {
					return usagef("audit: %s is not the folder of a run; write the value of --apply after an equals sign: "+
						"--apply=%s", how, how)
				}
				if holdsRun(args[0]) {
					return a.auditRun(cmd, p, args[0])
				}
				return a.auditData(cmd, p, args[0])
			}
			if err := cmp.Or(refuse(cmd, "is for nmn audit RUN, the folder of a run", "fold-epochs", "device"),
				refuse(cmd, "is for nmn audit DATA", flagsOfData...)); err != nil {
				return err
			}
			if a.files.Scores == "" {
				return a.askForData()
			}
			if err := a.check(cmd); err != nil {
				return err
			}
			if err := checkScores("audit", &a.files, a.options.Estimation); err != nil {
				return err
			}
			return a.run(cmd, p)
		},
		ValidArgsFunction: completeFolders,
	}
	data := under(cmd, "Data")
	data.directory(&a.runDir, "run-dir", "train DATA in this `folder`")
	setFlags(data, &a.sources.settings)
	r := under(cmd, "Run")
	r.int(&a.foldEpochs, "fold-epochs", "train the nets of folds:N for this many `epochs`", "[0,1000]")
	deviceFlag(r, &a.device)
	scoreFlags(under(cmd, "Scores"), &a.files)
	e := under(cmd, "Noise rates")
	e.file(&a.options.NoiseRates, "noise-rates",
		"take noise rates from this `file`; with RUN also folds:N or online", "csv")
	e.bool(&a.options.Calibrate, "calibrate", "calibrate the scores with the --noise-rates file")
	e.needs("noise-rates", "calibrate")
	estimationFlags(e, &a.options.Estimation)
	verifiedFlag(e, &a.verified)
	e.rare("calibrate", "min-slope", "prior-missing", "prior-incorrect", "min-labels")
	s := under(cmd, "Suspects")
	s.float(&a.options.MinError, "min-error", "list labels that are wrong with this `probability`", "[0,1]")
	s.int(&a.top, "top", "print this many `suspects`", "[0,]")
	s.int(&a.classes, "classes", "summarise this many `labels` in the tables; 0 for all", "[0,]")
	s.output(&a.suspects, "suspects", "write all suspects to this `file`: .csv, .jsonl, .parquet or .npy",
		audit.SuspectFormats...)
	s.output(&a.rows, "rows", "write all pictures, worst labels first, to this `file`", rows.Formats...)
	a.page.flags(under(cmd, "Page"))
	c := under(cmd, "Correction")
	c.file(&a.options.Decisions, "decisions", "apply the decisions in this `file`, saved by the page", "csv")
	optional(c, &a.correction.Apply, "apply", "correct the top suspects; =force and =pooled correct more",
		labels.ApplyCareful, labels.ApplyForce, labels.ApplyPooled)
	c.float(&a.correction.Precision, "precision", "correct suspects while this `share` is expected to be right", "(0,1]")
	c.needs("apply", "precision")
	c.file(&a.correction.Labels, "output", "write the corrected labels to this `file`", "csv", "jsonl", "npy")
	out := under(cmd, "Output")
	a.shown.flags(out)
	cmd.AddCommand(newAuditAnnotators(p))
	cmd.AddCommand(newAuditCaptions(p))
	cmd.AddCommand(newAuditCompare(p))
	return cmd
}

// askForData returns an error with the command to type. The call has neither an argument nor --scores.
func (a *auditCommand) askForData() error {
	const scores = "give --scores, out-of-fold scores of every picture"
	labels, images := a.files.Labels, a.page.images
	words := []string{"nmn", "audit", cmp.Or(labels, "DATA")}
	if images != "" {
		words = append(words, "--images", images)
	}
	line := "audit: type " + shellLine(words)
	switch {
	case labels != "":
		return usagef("%s to train on these labels first; or %s", line, scores)
	case images != "":
		return usagef("%s with the file of the labels for DATA, or nmn audit %s if it has a folder for each label", line,
			argument(images))
	}
	return usagef("%s with the file of the labels, or nmn audit RUN with the folder of a run; or %s, and --labels", line,
		scores)
}

func (a *auditCommand) run(cmd *cobra.Command, p *program) error {
	ctx := cmd.Context()
	listed := manifestLabels(ctx, &a.files)
	if listed == nil && multiclass.HasForm(a.files) {
		return a.runClasses(cmd, p)
	}
	if listed == nil {
		if err := a.checkEnding(nil); err != nil {
			return err
		}
	}
	a.options.Estimation.Progress = p.counted("noise rates", "iterations")
	scores, err := rates.ReadFiles(a.files)
	if err != nil {
		return err
	}
	if err := a.checkEnding(listed); err != nil { // only now it is known what the file lists
		return err
	}
	if a.options.Estimation.Verified, err = readVerified(ctx, a.verified, &scores); err != nil {
		return err
	}
	r, err := audit.Scores(ctx, &scores, a.options)
	p.status.clear()
	if err != nil {
		return err
	}
	if listed != nil {
		a.writeManifest(ctx, listed, r)
	}
	if err := a.finish(ctx, p, r); err != nil {
		return err
	}
	if c := a.correction.Labels; c != "" && newManifest(listed) {
		p.message(run.Message{Topic: "labels", Text: c + ": a new manifest (CSV)"})
	}
	a.tellPage(p, len(r.Suspects), a.labelEnding(listed))
	return nil
}

// tellPage prints the file of the page, and the next command after an audit of score files. ending is that of the file
// of corrected labels.
func (a *auditCommand) tellPage(p *program, suspects int, ending string) {
	if a.page.file == "" {
		return
	}
	p.message(run.Message{Topic: "page", Text: a.page.file})
	if suspects > 0 && a.correction.Labels == "" {
		p.message(run.Message{Topic: "next", Text: "review the page, save decisions.csv, then " +
			shellLine([]string{"nmn", "audit", "--scores", a.files.Scores, "--labels", a.files.Labels, "--decisions",
				"decisions.csv", "--output", "fixed" + ending})})
	}
}

// writeManifest makes the correction write labels in the form of their manifest.
func (a *auditCommand) writeManifest(ctx context.Context, m *manifest.Manifest, r *audit.Report) {
	a.correction.Write = func(corrected []uint8) error {
		l, err := manifestRows(m, r, corrected)
		if err == nil && newManifest(m) {
			return relabel.NewManifest(relabel.RowsOf(m, l, nil), a.correction.Labels)
		}
		if err == nil {
			_, err = relabel.Manifest(ctx, m, l, a.correction.Labels)
		}
		return err
	}
}

type auditCommand struct {
	files      eval.Files
	options    audit.Options
	top        int
	classes    int
	suspects   string
	verified   string
	page       auditPage
	rows       string
	correction labels.Correction
	shown      tablesOutput
	// DATA is audited by training on it in runDir, and then auditing that run.
	onData  bool
	sources sources
	runDir  string
	// onRun is set for DATA too.
	onRun      bool
	foldEpochs int
	device     string
}

func (a *auditCommand) check(cmd *cobra.Command) error {
	if a.verified != "" && a.options.NoiseRates != "" && !a.onRun {
		return usagef("audit: --verified is for rates that are estimated, and --noise-rates gives them: leave out one")
	}
	return cmp.Or(a.page.check(cmd), a.checkCorrection())
}

func (a *auditCommand) checkCorrection() error {
	c := &a.correction
	switch {
	case (c.Apply != "" || a.options.Decisions != "") && c.Labels == "":
		return usagef("audit: --apply and --decisions need --output, the file of the corrected labels")
	case c.Labels != "" && c.Apply == "" && a.options.Decisions == "":
		return usagef("audit: --output is for corrected labels and needs --apply or --decisions; use --suspects %s "+
			"for the ranked list", c.Labels)
	case c.Labels != "" && !a.onRun &&
		!slices.Contains([]string{".csv", ".jsonl", ".npy"}, strings.ToLower(filepath.Ext(c.Labels))):
		return usagef("audit: --output is %q, want a name that ends in .csv, in .jsonl for a manifest of that form, or in "+
			".npy for one class for each picture", c.Labels)
	}
	return nil
}

// newManifest reports whether the corrected labels of a manifest become a new one, because its form has no line for
// each row. m is nil for other labels.
func newManifest(m *manifest.Manifest) bool { return m != nil && !relabel.HasLines(m) }

// checkEnding refuses an --output whose name does not end as the file of corrected labels should.
func (a *auditCommand) checkEnding(listed *manifest.Manifest) error {
	c, ending := a.correction.Labels, a.labelEnding(listed)
	switch {
	case c == "" || strings.EqualFold(filepath.Ext(c), ending):
		return nil
	case newManifest(listed):
		return usagef("audit: --output is %q, want .csv: these labels become a new manifest", c)
	}
	return usagef("audit: --output is %q, want a name that ends in %s", c, ending)
}

// labelEnding returns the ending of the file of corrected labels: .jsonl for lines of JSON that are written again, else
// .csv. listed is the manifest of the labels once it is read, or nil.
func (a *auditCommand) labelEnding(listed *manifest.Manifest) string {
	if strings.EqualFold(filepath.Ext(a.files.Labels), ".jsonl") && !newManifest(listed) {
		return ".jsonl"
	}
	return ".csv"
}

// flagsOfData are the flags that need data.
var flagsOfData = []string{"run-dir", "set"}

func newAuditCompare(p *program) *cobra.Command {
	var shown tablesOutput
	cmd := &cobra.Command{
		Use:   "compare RUN RUN...",
		Short: "Compare runs before and after labels were corrected",
		Long: `Compare finished runs on the same pictures with different labels; the first run has the original
labels. The table counts changed labels, wrong labels if true labels are known, and scores.`,
		Example: `  nmn audit compare runs/mine runs/mine-corrected`,
		Args:    arguments(p, counted(2, anyNumber)),
		RunE: func(cmd *cobra.Command, args []string) error {
			runs, err := runaudit.CompareLabels(cmd.Context(), args, p.log)
			if err != nil {
				return err
			}
			return shown.write(p, func() any { return runs },
				func() []*report.Table { return []*report.Table{report.LabelGainTable(runs)} })
		},
		ValidArgsFunction: completeFolders,
	}
	shown.flags(under(cmd, "Output"))
	return cmd
}
