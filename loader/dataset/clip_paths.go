package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nmn/internal/setting"
	"nmn/loader"
	"nmn/loader/picture"
	"nmn/text"
)

// ClipPath is a clip that a path leads to.
type ClipPath struct {
	Path string // path of its video or of the folder of its frames
	// Video is the file of a clip whose frames were not taken yet; empty for others.
	Video string
	// Frames are the files of its frames, in order. A folder that nmn frames has written is read through its
	// index instead.
	Frames []string
	// Err is why the clip cannot be used; nil if it can.
	Err error

	from *loader.ClipSource // the folder of frames, if there is an index
	bag  int
}

// ClipPaths are clips without labels. They must be closed.
type ClipPaths struct {
	Clips []ClipPath
	// Skipped are files of folders that are neither videos nor pictures, less hidden ones.
	Skipped []string
	opened  []*loader.Clips
}

// FindClips lists the clips that paths name: a video, a picture as a clip of one frame, and a folder, which is searched
// with all folders in it: for videos, for folders of frames that nmn frames has written, and for pictures. The pictures
// in one folder are the frames of one clip. Clips come in the order of their paths. That there are none is an
// error.
func FindClips(ctx context.Context, paths []string) (_ *ClipPaths, err error) {
	c := &ClipPaths{}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return nil, fmt.Errorf("cannot find the clips: %w", err)
		case !info.IsDir() && (picture.IsClipName(path) || videoFormat(path) != ""):
			c.Clips = append(c.Clips, ClipPath{Path: path, Video: path})
			continue
		case !info.IsDir():
			c.Clips = append(c.Clips, ClipPath{Path: path, Frames: []string{path}})
			continue
		}
		if err := c.search(ctx, path); err != nil {
			return nil, fmt.Errorf("cannot search %s: %w", path, err)
		}
	}
	if len(c.Clips) == 0 {
		also := ""
		if len(c.Skipped) > 0 {
			also = "; " + DescribeSkipped(c.Skipped)
		}
		return nil, setting.Errorf("", "there is no video (%s) and no folder of pictures in %s%s",
			strings.Join(picture.VideoExtensions(), ", "), strings.Join(paths, ", "), also)
	}
	slices.SortStableFunc(c.Clips, func(a, b ClipPath) int { return cmp.Compare(a.Path, b.Path) })
	c.Clips = slices.CompactFunc(c.Clips, func(a, b ClipPath) bool { return a.Path == b.Path })
	slices.Sort(c.Skipped)
	c.Skipped = slices.Compact(c.Skipped)
	return c, nil
}

func (c *ClipPaths) search(ctx context.Context, folder string) error {
	frames := map[string]int{} // clips by their folder
	return filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || ctx.Err() != nil:
			return cmp.Or(err, ctx.Err())
		case entry.IsDir() && HasFrames(file):
			return cmp.Or(c.open(file), fs.SkipDir)
		case entry.IsDir():
		case entry.Type()&^fs.ModeSymlink == 0 && picture.IsClipName(file):
			c.Clips = append(c.Clips, ClipPath{Path: file, Video: file})
		case entry.Type()&^fs.ModeSymlink == 0 && picture.IsName(file):
			dir := filepath.Dir(file)
			if _, seen := frames[dir]; !seen {
				frames[dir] = len(c.Clips)
				c.Clips = append(c.Clips, ClipPath{Path: dir})
			}
			of := &c.Clips[frames[dir]]
			of.Frames = append(of.Frames, file)
		case !strings.HasPrefix(entry.Name(), "."):
			c.Skipped = append(c.Skipped, file)
		}
		return nil
	})
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
	maxPixels = cmp.Or(maxPixels, picture.PixelCeiling)
	s := &clipPathSource{clips: c.Clips, offsets: make([]int, len(c.Clips))}
	s.pictures = pathSource{maxPixels: maxPixels, maxBytes: picture.MaxFileBytes}
	for i := range c.Clips {
		clip := &c.Clips[i]
		s.offsets[i] = len(s.pictures.files)
		s.pictures.files = append(s.pictures.files, clip.Frames...)
	}
	return &loader.Set{Name: "clips", Vocabulary: v, IDs: c.Paths(), Labels: unknownLabels(len(c.Clips), v.Len()),
		Source: s}
}

// clipPathSource reads the frames of clips from anywhere.
type clipPathSource struct {
	clips    []ClipPath
	pictures pathSource // all frames that are files
	offsets  []int      // the first of each clip there
}

// Frames and Read implement loader.Source. A clip that cannot be used has one frame, whose error gives the
// reason.
func (s *clipPathSource) Frames(bag int) int {
	clip := &s.clips[bag]
	if clip.from != nil {
		return clip.from.Frames(clip.bag)
	}
	return max(1, len(clip.Frames))
}

func (s *clipPathSource) Read(ctx context.Context, bag, frame int, pic *picture.Picture) error {
	clip := &s.clips[bag]
	switch {
	case clip.Err != nil:
		return fmt.Errorf("%s: %w", clip.Path, badClip{clip.Err})
	case clip.from != nil:
		pic.MaxPixels = s.pictures.maxPixels
		if err := clip.from.Read(ctx, clip.bag, frame, pic); err != nil {
			return fmt.Errorf("%s: %w", clip.Path, err)
		}
		return nil
	}
	return s.pictures.Read(ctx, s.offsets[bag]+frame, 0, pic)
}

// badClip wraps loader.ErrCorrupt without its text, which is about pictures.
type badClip struct{ error }

func (b badClip) Unwrap() []error { return []error{loader.ErrCorrupt, b.error} }
