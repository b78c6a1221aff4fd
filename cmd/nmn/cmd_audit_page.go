package main

import (
	"context"
	"path/filepath"
	"strings"

	"nmn/loader"
)

// auditPage are the flags of the page of an audit.
type auditPage struct {
	command    string // for messages
	file       string
	items      int
	images     string
	thumbnails int
	title      string                                               // of the page; empty for the name of its file
	ofRun      func(ctx context.Context, id string) ([]byte, error) // pictures of a run; nil for none
}

func (a *auditPage) flags(r group) {
	r.file(&a.file, "page", "HTML `file` to look through suspects and decide on them in a browser", "html")
	r.int(&a.items, "page-items", "most `suspects` on the page")
	r.directory(&a.images, "images", "`folder` with the pictures, named by the ids of the bags, with or without "+
		"the ending of a picture")
	r.int(&a.thumbnails, "thumbnails", "most `pictures` put into the page, about 10 kB each")
}

func (a *auditPage) check(given func(string) bool) error {
	for _, name := range []string{"page-items", "images", "thumbnails"} {
		if a.file == "" && given(name) {
			return usagef("%s: --%s belongs to --page", a.command, name)
		}
	}
	if a.items < 0 || a.thumbnails < 0 {
		return usagef("%s: --page-items is %d and --thumbnails is %d, want at least 0", a.command, a.items, a.thumbnails)
	}
	return nil
}

// write has a page of bags written where one is asked for; id is the name of a bag's picture.
func (a *auditPage) write(ctx context.Context, p *program, bags int, id func(bag int) string,
	write func(picture func(bag int) []byte) error) error {
	if a.file == "" {
		return nil
	}
	ids := make([]string, bags)
	for bag := range ids {
		ids[bag] = id(bag)
	}
	picture, closeFolder, err := a.pictures(ctx, p, ids)
	if err != nil {
		return err
	}
	defer closeFolder()
	if err := ctx.Err(); err != nil {
		return err
	}
	return write(picture)
}

// name is that of the page's file, without its folder and ending.
func (a *auditPage) name() string {
	if a.title != "" {
		return a.title
	}
	return strings.TrimSuffix(filepath.Base(a.file), filepath.Ext(a.file))
}

// pictures gives the thumbnails of bags as JPEG, nil for none. It is nil if no folder is named. summary says how many
// there were.
func (a *auditPage) pictures(ctx context.Context, p *program, ids []string) (picture func(bag int) []byte,
	summary func(), err error) {
	if a.images == "" && a.ofRun == nil {
		return nil, func() {}, nil
	}
	of := func(ctx context.Context, bag int) ([]byte, error) { return a.ofRun(ctx, ids[bag]) }
	if a.images != "" {
		folder, err := loader.OpenFolderThumbnails(a.images, ids)
		if err != nil {
			return nil, nil, err
		}
		of = func(ctx context.Context, bag int) ([]byte, error) {
			small, err := folder.Of(ctx, bag)
			return small.JPEG, err
		}
	}
	made, failed := 0, 0
	picture = func(bag int) []byte {
		if made == a.thumbnails || ctx.Err() != nil {
			return nil
		}
		small, err := of(ctx, bag)
		if err != nil {
			failed++
			return nil
		}
		made++
		return small
	}
	return picture, func() {
		p.note("%d pictures are in %s, %d were not found or cannot be used", made, a.file, failed)
	}, nil
}
