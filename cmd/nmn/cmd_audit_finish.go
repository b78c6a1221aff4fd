package main

import (
	"context"
	"path/filepath"
	"strings"

	"nmn/labels"
	"nmn/labels/audit"
	"nmn/labels/audit/neighbours"
	"nmn/report"
	"nmn/run"
)

// finish corrects labels, writes the files and prints the findings.
func (a *auditCommand) finish(ctx context.Context, p *program, r *audit.Report) (err error) {
	if err := a.correct(ctx, p, r, r.IDs, r.Bags); err != nil {
		return err
	}
	write := func(path string) error { return audit.WriteSuspectsFile(path, r.Input, r.Suspects) }
	if err := writeTo(a.suspects, write); err != nil {
		return err
	}
	if err := writeTo(a.rows.file, func(path string) error { return r.Table().WriteFile(path) }); err != nil {
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
	SetNeighbours(*neighbours.Result)
	Correct(labels.Correction) error
}

// correct adds the neighbours to the result and then corrects labels.
func (a *auditCommand) correct(ctx context.Context, p *program, found correctable, ids []string, bags int) error {
	near, err := a.rows.neighbours(ctx, p, ids, bags)
	if err != nil {
		return err
	}
	if near != nil {
		found.SetNeighbours(near)
	}
	if a.correction.Labels == "" {
		return nil
	}
	a.correction.Version = programVersion()
	return found.Correct(a.correction)
}
