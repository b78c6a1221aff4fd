package main

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"nmn/labels"
	"nmn/labels/audit"
	"nmn/labels/audit/multiclass"
	"nmn/report"
	"nmn/run"
	runaudit "nmn/run/audit"
)

// finish corrects labels, writes the files and prints the findings.
func (a *auditCommand) finish(ctx context.Context, p *program, r *audit.Report) (err error) {
	if err := a.correct(r); err != nil {
		return err
	}
	write := func(path string) error { return audit.WriteSuspectsFile(path, r.Input, r.Suspects) }
	if err := writeTo(a.suspects, write); err != nil {
		return err
	}
	if err := writeTo(a.rows, func(path string) error { return r.Table().WriteFile(path) }); err != nil {
		return err
	}
	err = a.page.write(ctx, p, r.Bags, r.ID, func(picture func(bag int) []byte) func() error {
		page := report.NewAuditPage(a.page.name(), r, a.page.items, picture)
		return func() error { return report.WriteAuditPage(a.page.file, page) }
	})
	if err == nil && r.Estimate != nil && r.Estimate.Unidentified() {
		err = a.writeCheckPage(ctx, p, r)
	}
	if err != nil {
		return err
	}
	return a.shown.write(p, func() any { return r.Summary(a.top) },
		func() []*report.Table { return report.AuditTables(r, a.top, a.classes) })
}

// writeCheckPage writes a page to check random pictures next to the page of suspects, if there are pictures.
func (a *auditCommand) writeCheckPage(ctx context.Context, p *program, r *audit.Report) error {
	page := a.page
	if page.file == "" || page.thumbnails == 0 || page.images == "" && page.ofRun == nil {
		return nil
	}
	page.file = strings.TrimSuffix(page.file, filepath.Ext(page.file)) + "-check.html"
	err := page.write(ctx, p, r.Bags, r.ID, func(picture func(bag int) []byte) func() error {
		check := report.NewCheckPage(page.name(), r, picture)
		return func() error { return report.WriteCheckPage(page.file, check) }
	})
	if err == nil {
		p.message(run.Message{Topic: "check", Text: page.file +
			": mark all labels of random pictures, save verified.jsonl, and give it as --verified"})
	}
	return err
}

// correctable is the result of an audit of several labels for each bag, or of one.
type correctable interface {
	Correct(labels.Correction) error
}

// correct corrects labels if --output is given.
func (a *auditCommand) correct(found correctable) error {
	if a.correction.Labels == "" {
		return nil
	}
	a.correction.Version = programVersion()
	return found.Correct(a.correction)
}

// refuseForClasses refuses flags that an audit of one class for each picture does not use. of names the audited file or
// folder.
func refuseForClasses(cmd *cobra.Command, of string, more ...string) error {
	return refuse(cmd, "is for several labels for each picture, and "+of+" has one class for each picture",
		append(more, "calibrate", "min-slope", "prior-missing", "prior-incorrect", "min-labels", "verified")...)
}

// rankClasses ranks the labels of a run with one class for each picture, and prints the findings.
func (a *auditCommand) rankClasses(ctx context.Context, p *program, r *runaudit.Audit,
	scores *runaudit.OutOfFold) error {
	if a.options.NoiseRates != "" {
		return usagef("audit: --noise-rates is %q, and a run with one class for each picture takes folds:N or online",
			a.options.NoiseRates)
	}
	o := multiclass.DefaultOptions()
	o.MinError = a.options.MinError
	found, err := r.RankClasses(ctx, scores, o)
	if err != nil {
		return err
	}
	var written *runaudit.Corrected
	a.correction.WriteClasses = func(corrected []int32) (err error) {
		written, err = r.WriteClasses(ctx, found, corrected, a.correction.Labels)
		return err
	}
	if err := a.showClasses(ctx, p, found); err != nil {
		return err
	}
	a.tellNext(p, r, len(found.Suspects), written)
	return nil
}

func (a *auditCommand) runClasses(cmd *cobra.Command, p *program) error {
	if err := refuseForClasses(cmd, a.files.Labels, "noise-rates", "threads"); err != nil {
		return err
	}
	if c := a.correction.Labels; strings.EqualFold(filepath.Ext(c), ".jsonl") {
		return usagef("audit: --output is %q, want a name that ends in .csv or .npy: %s has one class for each "+
			"picture", c, a.files.Labels)
	}
	o := multiclass.DefaultOptions()
	o.MinError = a.options.MinError
	r, err := multiclass.Files(cmd.Context(), a.files, o)
	if err != nil {
		return err
	}
	if err := a.showClasses(cmd.Context(), p, r); err != nil {
		return err
	}
	a.tellPage(p, len(r.Suspects), a.labelEnding(nil))
	return nil
}

// showClasses corrects labels, writes the files and prints the findings.
func (a *auditCommand) showClasses(ctx context.Context, p *program, r *multiclass.Report) error {
	if a.options.Decisions != "" {
		if err := r.ReadDecisions(a.options.Decisions); err != nil {
			return err
		}
	}
	if err := a.correct(r); err != nil {
		return err
	}
	if err := writeTo(a.suspects, r.WriteSuspectsFile); err != nil {
		return err
	}
	if err := writeTo(a.rows, r.Table.WriteFile); err != nil {
		return err
	}
	err := a.page.write(ctx, p, r.Rows, r.ID, func(picture func(row int) []byte) func() error {
		page := report.NewClassPage(a.page.name(), r, a.page.items, picture)
		return func() error { return report.WriteAuditPage(a.page.file, page) }
	})
	if err != nil {
		return err
	}
	return a.shown.write(p, func() any { return r.Summary(a.top) },
		func() []*report.Table { return report.ClassAuditTables(r, a.top, a.classes) })
}
