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

	dense "gorgonia.org/tensor"

	"nmn/internal/setting"
	"nmn/internal/visible"
	"nmn/loader"
	"nmn/loader/manifest"
	"nmn/loader/picture"
	"nmn/text"
)

// VideoLevel is the kind of training sample of videos.
type VideoLevel string

// The levels.
const (
	LevelAuto  VideoLevel = "auto"  // video with MIL, frame without: the two rows of the paper's Table 3
	LevelFrame VideoLevel = "frame" // a frame has the labels of its video, a test video the maximum over its frames
	LevelVideo VideoLevel = "video" // a video is a bag of the cells of all its frames
)

// PictureConfig says where pictures are and how they are read.
type PictureConfig struct {
	Images string `yaml:"images" of:"captions manifest" help:"find the pictures, or the frames of clips, in this <folder>"`
	// VideoLevel selects what a training sample is if bags have several frames.
	VideoLevel VideoLevel  `yaml:"video_level,omitempty" of:"moving-scenes msrvtt clips manifest" help:"what one training sample is: a frame or the whole video; auto is video with MIL" values:"auto,frame,video"`
	Fit        picture.Fit `yaml:"fit" of:"scenes moving-scenes captions msrvtt clips manifest" help:"fit pictures to the input; empty is longest with MIL on vgg16 and ResNets, else square" values:"longest,square,none"`
	// Resize is the filter for resizing pictures, and Orientation the handling of the orientation in their
	// files. Empty values mean bilinear and ignore.
	Resize        picture.Filter      `yaml:"resize,omitempty" help:"<filter> for resizing; antialias equals that of Pillow and torchvision" values:"antialias,bicubic,bilinear"`
	Orientation   picture.Orientation `yaml:"orientation,omitempty" help:"apply or ignore the Exif orientation of pictures" values:"apply,ignore"`
	MaxBadSamples int                 `yaml:"max_bad_samples" of:"features captions msrvtt clips manifest" help:"leave out up to this many unusable <pictures> or clips; more stop the run" range:"[0,]"`
	MaxPixels     int                 `yaml:"max_pixels" help:"largest picture to decode, in <pixels>" range:"[0,]"`
}

// FindPictures lists the pictures that paths name. A file is taken whatever its name is. A folder is
// searched, with all folders in it, for names with the extension of a picture (picture.Extensions). A link in
// a folder counts as its target. skipped are the files of folders with other names, except hidden ones, whose
// names begin with a dot. Both lists are sorted without duplicates. It is an error if there are no pictures.
//
// A list of pictures may be the only path: a .txt file with a path on each line, or a table as manifest.Read
// reads it, with labels or without. Relative paths begin in images, or if that is empty in the folder of the list, and
// files keeps its order.
func FindPictures(ctx context.Context, paths []string, images string) (files, skipped []string, err error) {
	switch {
	case IsList(paths):
		files, err = readList(ctx, paths[0], images)
		return files, nil, err
	case images != "":
		return nil, nil, setting.Errorf("data.images", "`data.images` is for a list of pictures: leave it out")
	}
	skipped, err = find(paths, func(file string, entry fs.DirEntry) (bool, error) {
		taken := entry == nil || !entry.IsDir() && picture.IsName(file)
		if taken {
			files = append(files, file)
		}
		return taken, nil
	})
	if err == nil && len(files) == 0 {
		err = nothingFound("picture", picture.Extensions(), paths, skipped)
	}
	slices.Sort(files)
	return slices.Compact(files), skipped, err
}

// IsList reports whether paths are one list of pictures, by its ending.
func IsList(paths []string) bool {
	if len(paths) != 1 || loader.IsFolder(paths[0]) {
		return false
	}
	return slices.Contains([]string{".txt", ".csv", ".tsv", ".json", ".jsonl"}, TextEnding(paths[0]))
}

// readList returns the pictures of a list. One whose file is not found keeps the path that the list gives.
func readList(ctx context.Context, list, images string) (files []string, err error) {
	folder := cmp.Or(images, filepath.Dir(list))
	if TextEnding(list) == ".txt" {
		files, err = loader.ReadIDs(ctx, list)
	} else {
		files, folder, err = readRows(ctx, list, images)
	}
	for i, file := range files {
		if !filepath.IsAbs(file) {
			files[i] = filepath.Join(folder, file)
		}
	}
	return files, err
}

// readRows returns the pictures of a table, and the folder in which their paths begin.
func readRows(ctx context.Context, file, images string) (files []string, folder string, err error) {
	m, err := manifest.Read(ctx, file, manifest.Options{Images: images, NoLabels: true})
	if err != nil {
		return nil, "", fmt.Errorf("%w; or list the pictures in a .txt file, a path on each line", err)
	}
	at := make(map[string]int, len(m.Rows))
	for i, row := range m.Rows {
		if len(row.Files) != 1 {
			return nil, "", fmt.Errorf("%s, %s: it is a clip of %d frames; name the folder of the frames", file, row.At(),
				len(row.Files))
		}
		at[row.ID] = i
		files = append(files, row.Files[0])
	}
	if err := m.FindFiles(ctx, m.Folder, func(error) {}); err != nil {
		return nil, "", err
	}
	for _, row := range m.Rows {
		files[at[row.ID]] = row.Files[0]
	}
	return files, m.Folder, nil
}

// find calls take for files that paths name, without an entry, and for the files and folders in folders. take reports
// whether it takes a file. skipped are the other files of folders, except hidden ones, sorted without duplicates.
func find(paths []string, take func(file string, entry fs.DirEntry) (bool, error)) (skipped []string, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err == nil && info.IsDir(): // the separator follows a link
			err = filepath.WalkDir(path+string(filepath.Separator), func(file string, entry fs.DirEntry, err error) error {
				file = filepath.Clean(file)
				taken := false
				if err == nil && (entry.IsDir() || entry.Type()&^fs.ModeSymlink == 0) {
					taken, err = take(file, entry)
				}
				if err == nil && !taken && !entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
					skipped = append(skipped, file)
				}
				return err
			})
		case err == nil:
			_, err = take(path, nil)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot search %s: %w", path, err)
		}
	}
	slices.Sort(skipped)
	return slices.Compact(skipped), nil
}

func nothingFound(noun string, extensions, paths, skipped []string) error {
	also := ""
	if len(skipped) > 0 {
		also = "; " + DescribeSkipped(skipped)
	}
	return setting.Errorf("", "there is no %s (%s) in %s%s", noun, strings.Join(extensions, ", "),
		strings.Join(paths, ", "), also)
}

// DescribeSkipped describes at least one file that FindPictures has skipped: how many there are, the first names, and
// what to do about pictures in an unsupported format.
func DescribeSkipped(files []string) string {
	const named = 3
	names := slices.Clone(files)
	for i, file := range files[:min(named, len(files))] {
		names[i] = visible.Line(file)
		if loader.IsFolder(file) {
			names[i] += " (a link to a folder: name it too)"
		}
	}
	are := "1 file was skipped, because its name has no picture's extension: "
	if n := len(files); n > 1 {
		are = fmt.Sprintf("%d files were skipped, because their names have no picture's extension: ", n)
	}
	are += manifest.FirstOf(names, named)
	if slices.ContainsFunc(files, picture.IsForeignName) {
		are += "; " + picture.ForeignCure()
	}
	return are
}

// PictureIDs names the files that FindPictures has found in paths, for tables. Files in the one folder, or in the
// folder of the list (images if that is not empty), are named by their path in it, to match the tables they are joined
// with. Others are named by the path that was given.
func PictureIDs(paths []string, images string, files []string) []string {
	if len(paths) != 1 || paths[0] == files[0] {
		return files
	}
	folder := paths[0]
	if IsList(paths) {
		folder = cmp.Or(images, filepath.Dir(folder))
	}
	ids := slices.Clone(files)
	for i, file := range files {
		if inside, err := filepath.Rel(folder, file); err == nil && filepath.IsLocal(inside) {
			ids[i] = filepath.ToSlash(inside)
		}
	}
	return ids
}

// Pictures returns a set of picture files without labels, each named by its path. Pictures of more than
// maxPixels pixels are not decoded; 0 sets no limit but picture.PixelCeiling.
func Pictures(files []string, v *text.Vocabulary, maxPixels int) *loader.Set {
	clips := make([]ClipPath, len(files))
	for i, file := range files {
		clips[i] = ClipPath{Path: file, Frames: []string{file}}
	}
	return unlabelledSet("pictures", v, files, clipPathSource{clips, maxPixels})
}

// unlabelledSet is a set without labels. The unknown labels that it holds are never read.
func unlabelledSet(name string, v *text.Vocabulary, ids []string, source loader.Source) *loader.Set {
	labels := dense.New(dense.WithShape(len(ids), v.Len()), dense.WithBacking(make([]uint8, len(ids)*v.Len())))
	return &loader.Set{Name: name, Vocabulary: v, IDs: ids, Labels: labels, Source: source}
}

// readPicture decodes a file of at most maxPixels pixels, 0 for picture.PixelCeiling. Errors wrap loader.ErrCorrupt.
func readPicture(file string, maxPixels int, pic *picture.Picture) error {
	info, err := os.Stat(file)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > picture.MaxFileBytes) {
		err = fmt.Errorf("not a regular file of at most %d bytes", picture.MaxFileBytes)
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(file)
	}
	if err == nil {
		pic.MaxPixels = cmp.Or(maxPixels, picture.PixelCeiling)
		err = picture.Decode(data, pic)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, loader.ErrCorrupt):
		return fmt.Errorf("%s: %w", file, err)
	}
	return fmt.Errorf("%s: %w: %w", file, loader.ErrCorrupt, err)
}
