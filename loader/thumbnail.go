package loader

import (
	"context"
	"errors"
	"path"
	"path/filepath"

	"nmn/loader/picture"
)

// Thumbnailer makes small pictures of the frames of bags. It keeps the memory of a picture from one to the next, and is
// for one goroutine.
type Thumbnailer struct{ frame picture.Picture }

// Middle returns the thumbnail of the middle frame of a bag.
func (t *Thumbnailer) Middle(ctx context.Context, s Source, bag int) (picture.Thumbnail, error) {
	return t.Frame(ctx, s, bag, s.Frames(bag)/2)
}

// Frame returns the thumbnail of a frame, upright for display; errors come from its source.
func (t *Thumbnailer) Frame(ctx context.Context, s Source, bag, frame int) (picture.Thumbnail, error) {
	t.frame.Orientation = picture.OrientationApply
	if err := s.Read(ctx, bag, frame, &t.frame); err != nil {
		return picture.Thumbnail{}, err
	}
	return t.frame.Thumbnail()
}

// FolderThumbnails makes small pictures of bags from the files of a folder that are named by the identifiers of the
// bags, with or without the ending of a picture. It is for one goroutine.
type FolderThumbnails struct {
	source *FileSource
	perBag int // names tried for a bag
	Thumbnailer
}

// pictureNames are the files that a bag's picture may be.
func pictureNames(id string) []string {
	names := []string{id}
	for _, extension := range picture.Extensions() {
		names = append(names, id+extension)
	}
	return names
}

// OpenFolderThumbnails looks for the folder. An id that is an absolute path is taken as it is.
func OpenFolderThumbnails(folder string, ids []string) (*FolderThumbnails, error) {
	t := &FolderThumbnails{perBag: len(pictureNames(""))}
	var files []string
	for _, id := range ids {
		id = path.Clean(id)
		if native := filepath.FromSlash(id); !filepath.IsLocal(native) && !filepath.IsAbs(native) {
			id = "-" // an id that is no path in the folder has no picture
		}
		files = append(files, pictureNames(id)...)
	}
	var err error
	if t.source, err = NewFileSource(folder, files); err != nil {
		return nil, err
	}
	return t, nil
}

// Of returns the thumbnail of a bag. Errors wrap ErrCorrupt if its picture is missing or cannot be used.
func (t *FolderThumbnails) Of(ctx context.Context, bag int) (small picture.Thumbnail, err error) {
	for i := range t.perBag {
		if small, err = t.Frame(ctx, t.source, bag*t.perBag+i, 0); err == nil || !errors.Is(err, ErrCorrupt) {
			break
		}
	}
	return small, err
}
