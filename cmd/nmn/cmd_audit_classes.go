package main

import (
	"context"
	"path/filepath"
	"strings"

	"nmn/labels/audit/multiclass"
	"nmn/report"
)

// classesRefuse are the flags that an audit of one class for each picture does not use.
var classesRefuse = []string{"noise-rates", "calibrate", "page", "decisions", "suspects", "min-slope",
	"prior-missing", "prior-incorrect", "min-labels", "threads"}

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
	if err := a.correct(ctx, p, r, r.IDs, r.Input.Rows); err != nil {
		return err
	}
	if err := a.rows.write(r.Table); err != nil {
		return err
	}
	return a.shown.write(p, func() any { return r.Summary(a.top) },
		func() []*report.Table { return report.ClassAuditTables(r, a.top, a.classes) })
}
