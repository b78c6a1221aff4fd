package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"nmn/internal/durable"
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

func (a *auditPage) flags(r room) {
	r.file(&a.file, "page", "HTML `file` to look through suspects and decide on them in a browser", "html")
	r.int(&a.items, "page-items", "most `suspects` on the page")
	r.directory(&a.images, "images", "`folder` with the pictures, named by the ids of the bags, with or without .jpg, .jpeg or .png")
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
func (a *auditPage) write(ctx context.Context, p *program, f *auditFindings) error {
	if a.file == "" {
		return nil
	}
	undecided := *f.result
	undecided.Suspects = f.decisions.Undecided(f.result.Suspects)
	var picture func(int) string
	if a.images != "" {
		t, err := a.openThumbnails(ctx, f)
		if err != nil {
			return err
		}
		defer t.source.Close()
		picture = t.url
		defer func() { p.note("%d pictures are in %s, %d were not found or cannot be used", t.made, a.file, t.failed) }()
	}
	name := strings.TrimSuffix(filepath.Base(a.file), filepath.Ext(a.file))
	page := report.NewAuditPage(name, f.in, &undecided, f.estimate, a.items, picture)
	if err := ctx.Err(); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := page.Write(&b); err != nil {
		return fmt.Errorf("page of the audit: %w", err)
	}
	return durable.Save(a.file, b.Bytes())
}

// thumbnails makes small JPEGs of pictures of bags.
type thumbnails struct {
	ctx          context.Context
	source       *loader.FileSource
	perBag       int // names tried for a bag
	left         int
	made, failed int
	loader.Thumbnailer
}

// namesOf are the files that a bag's picture may be.
func namesOf(id string) []string { return []string{id, id + ".jpg", id + ".jpeg", id + ".png"} }

func (a *auditPage) openThumbnails(ctx context.Context, f *auditFindings) (*thumbnails, error) {
	t := &thumbnails{ctx: ctx, perBag: len(namesOf("")), left: a.thumbnails}
	var files []string
	for i := range f.in.Bags {
		id := path.Clean(f.in.ID(i))
		if !filepath.IsLocal(filepath.FromSlash(id)) {
			id = "-" // an id that is no path in the folder has no picture
		}
		files = append(files, namesOf(id)...)
	}
	source, err := loader.NewFileSource(a.images, files)
	t.source = source
	return t, err
}

// url is the picture of a bag as a data: URL, "" once there are enough or where there is none.
func (t *thumbnails) url(bag int) string {
	if t.left == 0 || t.ctx.Err() != nil {
		return ""
	}
	for i := range t.perBag {
		small, err := t.Frame(t.ctx, t.source, bag*t.perBag+i, 0)
		if err == nil {
			t.left--
			t.made++
			return "data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(small.JPEG)
		}
		if !errors.Is(err, loader.ErrCorrupt) {
			break
		}
	}
	t.failed++
	return ""
}
