package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nmn/eval"
	"nmn/labels/audit"
	"nmn/labels/rates"
	"nmn/report"
)

// auditCommand are the flags of nmn audit.
type auditCommand struct {
	files      scoreFiles
	estimation estimation
	rates      string
	calibrate  bool
	minError   float64
	top        int
	classes    int
	suspects   string
	page       auditPage
	correction correction
	format     report.Format
	asJSON     bool
}

func newAudit(p *program) *cobra.Command {
	a := auditCommand{minError: .5, top: 20, classes: 20, page: auditPage{items: 500, thumbnails: 200}, correction: correction{precision: .9}, format: report.Text}
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Find labels that are probably wrong, and correct them",
		Long: `Rank the labels of score files by how probably they are wrong: labels that are there and
should not be, and labels that are missing. The probability comes from out-of-fold scores
and from the noise rates of each word, estimated from the same files or given. Write a
page to look through suspects in a browser, apply what was decided there, or let all
suspects be corrected up to a wanted precision. See docs/audit.md.`,
		Example: `  nmn audit --scores oof.csv --labels labels.csv --page audit.html --images pictures/
  nmn audit --scores oof.csv --labels labels.csv --decisions decisions.csv --output fixed.csv
  nmn audit --scores oof.csv --labels labels.csv --apply --precision 0.95 --output fixed.csv
  nmn audit --scores oof.csv --labels labels.csv --truth truth.csv --suspects suspects.parquet`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.check(cmd.Flags().Changed); err != nil {
				return err
			}
			return a.run(cmd.Context(), p)
		},
	}
	a.files.flags(under(cmd, "Scores"))
	e := under(cmd, "Noise rates")
	e.file(&a.rates, "rates", "`file` with the rates of each word (word, q01, q10) instead of an estimate; scores are then taken as of the true label", "csv")
	e.bool(&a.calibrate, "calibrate", "calibrate the scores by a and b of the --rates file, which were estimated from the same scores")
	a.estimation.flags(e)
	s := under(cmd, "Suspects")
	s.float(&a.minError, "min-error", "least `probability` of being wrong of a suspect")
	s.int(&a.top, "top", "`suspects` listed on standard output, 0 for none")
	s.int(&a.classes, "classes", "`words` summed up by the tables, those with the most labels expected to be wrong, 0 for all")
	s.file(&a.suspects, "suspects", "`file` to write all suspects to, ranked: .csv, .jsonl or .parquet", "csv", "jsonl", "parquet")
	a.page.flags(under(cmd, "Page"))
	a.correction.flags(under(cmd, "Correction"))
	out := under(cmd, "Output")
	enum(out, &a.format, "format", "`format` of the tables", report.Text, report.Markdown, report.CSV, report.JSON)
	out.bool(&a.asJSON, "json", "write everything as one JSON object")
	return cmd
}

func (a *auditCommand) check(given func(string) bool) error {
	switch {
	case !(a.minError > 0 && a.minError <= 1):
		return usagef("audit: --min-error is %g, want above 0 to 1", a.minError)
	case a.top < 0:
		return usagef("audit: --top is %d, want at least 0", a.top)
	case a.classes < 0:
		return usagef("audit: --classes is %d, want at least 0", a.classes)
	case a.calibrate && a.rates == "":
		return usagef("audit: --calibrate belongs to --rates")
	case a.suspects != "" && !slices.Contains(audit.SuspectFormats, strings.ToLower(filepath.Ext(a.suspects))):
		return usagef("audit: --suspects is %q, want a name that ends in %s", a.suspects, strings.Join(audit.SuspectFormats, ", "))
	}
	if err := a.page.check(given); err != nil {
		return err
	}
	if err := a.correction.check(given); err != nil {
		return err
	}
	return a.estimation.check()
}

// auditFindings is what an audit found, for the outputs.
type auditFindings struct {
	in        audit.Input
	result    *audit.Result
	estimate  *rates.Result // nil where rates were given
	judgement *audit.Judgement
	decisions audit.Decisions
	outcome   *correctionOutcome
}

func (a *auditCommand) run(ctx context.Context, p *program) error {
	f, err := a.audit(ctx, p)
	if err != nil {
		return err
	}
	if a.correction.decisions != "" {
		if f.decisions, err = audit.ReadDecisionsFile(a.correction.decisions, &f.in); err != nil {
			return err
		}
	}
	if f.outcome, err = a.correction.carryOut(f); err != nil {
		return err
	}
	if a.suspects != "" {
		if err := audit.WriteSuspectsFile(a.suspects, f.in, f.result.Suspects); err != nil {
			return err
		}
	}
	if err := a.page.write(ctx, p, f); err != nil {
		return err
	}
	return a.show(p, f)
}

// audit reads the files, finds the rates and ranks the labels.
func (a *auditCommand) audit(ctx context.Context, p *program) (*auditFindings, error) {
	scores, err := a.files.readLogits("audit")
	if err != nil {
		return nil, err
	}
	f := &auditFindings{in: audit.Input{
		Bags: scores.Bags, Classes: scores.Classes, Logits: scores.Scores, Labels: scores.Labels,
		Words: scores.Words, IDs: scores.IDs, Truth: scores.Truth,
	}}
	if err := a.findRates(ctx, p, &scores, f); err != nil {
		return nil, err
	}
	if f.result, err = audit.Run(f.in, a.minError); err != nil {
		return nil, err
	}
	if f.in.Truth != nil {
		if f.judgement, err = audit.Judge(f.in, []int{10, 100, 1000}); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (a *auditCommand) findRates(ctx context.Context, p *program, scores *eval.Input, f *auditFindings) error {
	if a.rates == "" {
		o, done := a.estimation.watched(p)
		estimate, err := rates.Estimate(ctx, ratesInput(scores), o)
		done()
		if err != nil {
			return err
		}
		f.estimate = estimate
		f.in.FromEstimate(estimate)
		return nil
	}
	given, err := readRates(a.rates, scores.Words)
	if err != nil {
		return err
	}
	f.in.Rates = given.Rates()
	if a.calibrate {
		if f.in.A, f.in.B = given.Calibration(); f.in.A == nil {
			return fmt.Errorf("%s: --calibrate needs the columns a and b, which nmn rates --output writes", a.rates)
		}
	}
	return nil
}

func (a *auditCommand) show(p *program, f *auditFindings) error {
	if a.asJSON {
		return writeJSON(p.out, a.json(f))
	}
	var tables []*report.Table
	if a.top > 0 {
		t := report.SuspectTable(f.in, f.result.Suspects[:min(a.top, len(f.result.Suspects))])
		t.Notes = append(t.Notes, f.summary(a.minError))
		tables = append(tables, t)
	}
	tables = append(tables, report.AuditClassTable(f.in, f.result, f.estimate, a.classes))
	if f.judgement != nil {
		tables = append(tables, report.JudgementTable(f.judgement))
	}
	if f.outcome != nil {
		last := tables[len(tables)-1]
		last.Notes = append(last.Notes, f.outcome.summary())
	}
	return report.Write(p.out, a.format, tables...)
}

// summary says how many suspects there are and what to expect of them.
func (f *auditFindings) summary(minError float64) string {
	incorrect, missing := 0.0, 0.0
	for _, c := range f.result.Classes {
		incorrect += c.ExpectedIncorrect
		missing += c.ExpectedMissing
	}
	s := fmt.Sprintf("%d of %d labels are wrong with a probability of at least %g", len(f.result.Suspects), len(f.in.Labels), minError)
	if k := audit.AtPrecision(f.result.Suspects, .9); k > 0 {
		s += fmt.Sprintf("; the first %d have an expected precision of 90 %%", k)
	}
	return s + fmt.Sprintf(". Expected in all: %.0f incorrect and %.0f missing labels.", math.Round(incorrect), math.Round(missing))
}
