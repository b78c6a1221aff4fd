package main

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"nmn/loader"
)

// auditPage are the flags of the page of an audit.
type auditPage struct {
	file       string
	items      int
	images     string
	thumbnails int
	title      string                                               // of the page; empty for the name of its file
	ofRun      func(ctx context.Context, id string) ([]byte, error) // pictures of a run; nil for none
}

func (a *auditPage) flags(r group) {
	r.file(&a.file, "page", "write a page to review suspects to this `file`", "html")
	r.int(&a.items, "page-items", "show at most this many `suspects` on the page", "[0,]")
	r.directory(&a.images, "images", "find the pictures, named by their ids, in this `folder`")
	r.int(&a.thumbnails, "thumbnails", "include at most this many `pictures`, about 10 kB each", "[0,]")
}

func (a *auditPage) check(cmd *cobra.Command) error {
	if a.file != "" {
		return nil
	}
	return refuse(cmd, "belongs to --page", "page-items", "images", "thumbnails")
}

// write writes the page if --page is given. id returns the name of a picture. makePage makes the page, and returns what
// saves it. A page is not saved if the context ends meanwhile, because it may lack pictures.
func (a *auditPage) write(ctx context.Context, p *program, bags int, id func(bag int) string,
	makePage func(picture func(bag int) []byte) (save func() error)) error {
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
	save := makePage(picture)
	if err := ctx.Err(); err != nil {
		return err
	}
	return save()
}

// name returns the title of the page, or the name of its file without folder and ending.
func (a *auditPage) name() string {
	if a.title != "" {
		return a.title
	}
	return strings.TrimSuffix(filepath.Base(a.file), filepath.Ext(a.file))
}

// pictures returns a function that makes JPEG thumbnails, which are nil for missing pictures. The function is
// nil without a folder. summary prints how many pictures were found.
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
		p.note("pictures in %s: %d; not found or unusable: %d", a.file, made, failed)
	}, nil
}
