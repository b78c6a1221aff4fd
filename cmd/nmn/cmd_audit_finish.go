package main

import (
	"context"

	"nmn/labels/audit"
	"nmn/report"
)

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
