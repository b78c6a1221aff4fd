package main

import (
	"context"
	"path/filepath"
	"strings"

	"nmn/labels/audit"
	"nmn/loader"
	"nmn/report"
)

// auditPage are the flags of the page of an audit.
type auditPage struct {
	file       string
	items      int
	images     string
	thumbnails int
}

func (a *auditPage) flags(r group) {
	r.file(&a.file, "page", "HTML `file` to look through suspects and decide on them in a browser", "html")
	r.int(&a.items, "page-items", "most `suspects` on the page")
	r.directory(&a.images, "images", "`folder` with the pictures, named by the ids of the bags, with or without "+
		".jpg, .jpeg or .png")
	r.int(&a.thumbnails, "thumbnails", "most `pictures` put into the page, about 10 kB each")
}

func (a *auditPage) check(given func(string) bool) error {
	for _, name := range []string{"page-items", "images", "thumbnails"} {
		if a.file == "" && given(name) {
			return usagef("audit: --%s belongs to --page", name)
		}
	}
	if a.items < 0 || a.thumbnails < 0 {
		return usagef("audit: --page-items is %d and --thumbnails is %d, want at least 0", a.items, a.thumbnails)
	}
	return nil
}

// write writes the page where one is asked for.
func (a *auditPage) write(ctx context.Context, p *program, r *audit.Report) error {
	if a.file == "" {
		return nil
	}
	var picture func(int) []byte
	if a.images != "" {
		made, failed := 0, 0
		ids := make([]string, r.Bags)
		for i := range ids {
			ids[i] = r.ID(i)
		}
		folder, err := loader.OpenFolderThumbnails(a.images, ids)
		if err != nil {
			return err
		}
		defer folder.Close()
		picture = func(bag int) []byte {
			if made == a.thumbnails || ctx.Err() != nil {
				return nil
			}
			small, err := folder.Of(ctx, bag)
			if err != nil {
				failed++
				return nil
			}
			made++
			return small.JPEG
		}
		defer func() { p.note("%d pictures are in %s, %d were not found or cannot be used", made, a.file, failed) }()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	name := strings.TrimSuffix(filepath.Base(a.file), filepath.Ext(a.file))
	return report.WriteAuditPage(a.file, report.NewAuditPage(name, r, a.items, picture))
}
