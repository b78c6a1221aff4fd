package main

import (
	"context"
	"path/filepath"
	"strings"

	"nmn/labels/audit/multiclass"
	"nmn/report"
	runaudit "nmn/run/audit"
)

// classesRefuse are the flags that an audit of one class for each picture does not use.
var classesRefuse = []string{"noise-rates", "calibrate", "min-slope", "prior-missing", "prior-incorrect", "min-labels",
	"threads"}

// refuseForClasses refuses the flags that an audit of a run with one class for each picture does not use.
func (a *auditCommand) refuseForClasses(given func(string) bool, dir string) error {
	for _, name := range classesRefuse {
		if given(name) && name != "noise-rates" && name != "threads" {
			return usagef("audit: --%s is for several labels for each picture, and %s has one class for each picture", name, dir)
		}
	}
	return nil
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
	if r.HasPictures() && a.page.images == "" {
		a.page.ofRun = r.Picture
	}
	if err := a.showClasses(ctx, p, found); err != nil {
		return err
	}
	a.tellNext(p, r, len(found.Suspects), written)
	return nil
}

// runClasses audits one class for each picture.
func (a *auditCommand) runClasses(ctx context.Context, p *program, given func(string) bool) error {
	for _, name := range classesRefuse {
		if given(name) {
			return usagef("audit: --%s is for several labels for each picture, and %s has one class for each picture", name,
				a.files.Labels)
		}
	}
	if c := a.correction.Labels; strings.EqualFold(filepath.Ext(c), ".jsonl") {
		return usagef("audit: --output is %q, want a name that ends in .csv or .npy: %s has one class for each "+
			"picture", c, a.files.Labels)
	}
	o := multiclass.DefaultOptions()
	o.MinError = a.options.MinError
	r, err := multiclass.Files(ctx, a.files, o)
	if err != nil {
		return err
	}
	if err := a.showClasses(ctx, p, r); err != nil {
		return err
	}
	a.tellPage(p, len(r.Suspects))
	return nil
}

// showClasses corrects labels, writes the files and prints the findings.
func (a *auditCommand) showClasses(ctx context.Context, p *program, r *multiclass.Report) error {
	if a.options.Decisions != "" {
		if err := r.ReadDecisions(a.options.Decisions); err != nil {
			return err
		}
	}
	if err := a.correct(ctx, p, r, r.IDs, r.Input.Rows); err != nil {
		return err
	}
	if a.suspects != "" {
		if err := r.WriteSuspectsFile(a.suspects); err != nil {
			return err
		}
	}
	if err := a.rows.write(r.Table); err != nil {
		return err
	}
	err := a.page.write(ctx, p, r.Rows, r.ID, func(picture func(row int) []byte) error {
		return report.WriteAuditPage(a.page.file, report.NewClassPage(a.page.name(), r, a.page.items, picture))
	})
	if err != nil {
		return err
	}
	return a.shown.write(p, func() any { return r.Summary(a.top) },
		func() []*report.Table { return report.ClassAuditTables(r, a.top, a.classes) })
}
