package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"nmn/internal/fault"
	"nmn/loader"
	"nmn/loader/picture"
	"nmn/text"
)

// ClipPath is a clip that a path leads to.
type ClipPath struct {
	Path  string // path of its video or of the folder of its frames
	Video string // file of a clip whose frames were not taken yet; empty for others
	// Frames are the files of its frames, in order. A folder that nmn frames has written is read through its
	// index instead.
	Frames []string
	Err    error // why the clip cannot be used; nil if it can

	from *loader.ClipSource // the folder of frames, if there is an index
	bag  int
}

// ClipPaths are clips without labels. They must be closed.
type ClipPaths struct {
	Clips   []ClipPath
	Skipped []string // files of folders that are neither videos nor pictures, less hidden ones
	opened  []*loader.Clips
}

// FindClips lists the clips that paths name: a video, a picture as a clip of one frame, and a folder, which is searched
// with all folders in it: for videos, for folders of frames that nmn frames has written, and for pictures. The pictures
// in one folder are the frames of one clip. Clips come in the order of their paths. That there are none is an error.
func FindClips(ctx context.Context, paths []string) (_ *ClipPaths, err error) {
	c := &ClipPaths{}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	frames := map[string]int{} // clips by the folder of their frames
	c.Skipped, err = find(paths, func(file string, entry fs.DirEntry) (bool, error) {
		folder := filepath.Dir(file)
		at, seen := frames[folder]
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case entry != nil && entry.IsDir() && HasFrames(file):
			return true, cmp.Or(c.open(file), fs.SkipDir)
		case entry != nil && entry.IsDir():
			return false, nil
		case picture.IsClipName(file) || entry == nil && videoFormat(file) != "":
			c.Clips = append(c.Clips, ClipPath{Path: file, Video: file})
		case entry == nil:
			c.Clips = append(c.Clips, ClipPath{Path: file, Frames: []string{file}})
		case !picture.IsName(file):
			return false, nil
		case seen:
			c.Clips[at].Frames = append(c.Clips[at].Frames, file)
		default:
			frames[folder] = len(c.Clips)
			c.Clips = append(c.Clips, ClipPath{Path: folder, Frames: []string{file}})
		}
		return true, nil
	})
	if err == nil && len(c.Clips) == 0 {
		err = nothingFound("video and no folder of pictures", picture.VideoExtensions(), paths, c.Skipped)
	}
	slices.SortStableFunc(c.Clips, func(a, b ClipPath) int { return cmp.Compare(a.Path, b.Path) })
	c.Clips = slices.CompactFunc(c.Clips, func(a, b ClipPath) bool { return a.Path == b.Path })
	return c, err
}

// open takes in the clips of a folder of frames with an index.
func (c *ClipPaths) open(folder string) error {
	clips, err := loader.OpenClips(folder)
	if err != nil {
		return err
	}
	c.opened = append(c.opened, clips)
	table, err := clips.Table()
	if err != nil {
		return err
	}
	source, err := table.Source(table.Names())
	for i, name := range table.Names() {
		c.Clips = append(c.Clips, ClipPath{Path: filepath.Join(folder, filepath.FromSlash(name)), from: source, bag: i})
	}
	return err
}

// Close closes the folders of frames.
func (c *ClipPaths) Close() error {
	var err error
	for _, one := range c.opened {
		err = errors.Join(err, one.Close())
	}
	return err
}

// Paths returns the paths of all clips.
func (c *ClipPaths) Paths() []string {
	paths := make([]string, len(c.Clips))
	for i := range c.Clips {
		paths[i] = c.Clips[i].Path
	}
	return paths
}

// Set is a set of the clips, each named by its path, without labels. The frames of videos must be there. Pictures of
// more than maxPixels pixels are not decoded; 0 sets no limit but picture.PixelCeiling.
func (c *ClipPaths) Set(v *text.Vocabulary, maxPixels int) *loader.Set {
	return unlabelledSet("clips", v, c.Paths(), clipPathSource{c.Clips, maxPixels})
}

// clipPathSource reads pictures and the frames of clips from anywhere.
type clipPathSource struct {
	clips     []ClipPath
	maxPixels int
}

// Frames and Read implement loader.Source. A clip that cannot be used has one frame, whose error gives the reason.
func (s clipPathSource) Frames(bag int) int {
	clip := &s.clips[bag]
	if clip.from != nil {
		return clip.from.Frames(clip.bag)
	}
	return max(1, len(clip.Frames))
}

func (s clipPathSource) Read(ctx context.Context, bag, frame int, pic *picture.Picture) error {
	clip := &s.clips[bag]
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case clip.Err != nil:
		return fmt.Errorf("%s: %w", clip.Path, fault.As(loader.ErrCorrupt, clip.Err))
	case clip.from == nil:
		return readPicture(clip.Frames[frame], s.maxPixels, pic)
	}
	pic.MaxPixels = cmp.Or(s.maxPixels, picture.PixelCeiling)
	if err := clip.from.Read(ctx, clip.bag, frame, pic); err != nil {
		return fmt.Errorf("%s: %w", clip.Path, err)
	}
	return nil
}
