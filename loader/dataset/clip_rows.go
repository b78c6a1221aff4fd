package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	slashed "path"
	"path/filepath"
	"slices"
	"strings"

	"nmn/internal/durable"
	"nmn/loader"
	"nmn/loader/manifest"
	"nmn/loader/picture"
	"nmn/loader/shard"
)

// HasFrames reports whether a folder holds the frames of clips as nmn frames keeps them.
func HasFrames(folder string) bool {
	return folder != "" && durable.Exists(filepath.Join(folder, shard.IndexName))
}

// Taking describes how frames were extracted from clips, as nmn frames records it in their index.
type Taking struct {
	Frames  int `json:"frames"`  // most frames of a clip
	Size    int `json:"size"`    // longest side that they are shrunk to, 0 for none
	Quality int `json:"quality"` // quality of the JPEG files, 0 if unknown
}

// VideoError means that training data name videos whose frames were not taken yet.
type VideoError struct {
	Where         string // a row of a table, or a file
	Video         string
	Format        string // format of the file; empty if its name alone identifies it
	Clips, Frames string // the folder of the videos, and one for their frames
	// Table is set if labels are in a table and data.images names the frames. Otherwise the frames replace the folder.
	Table bool
}

func (e *VideoError) Error() string {
	format := ""
	if e.Format != "" {
		format = " (" + e.Format + ")"
	}
	instead := "in the place of " + e.Clips
	if e.Table {
		instead = "by `data.images`"
	}
	return fmt.Sprintf("%s: %q is a video%s: training reads frames, which nmn frames takes once; give their folder %s",
		e.Where, loader.Excerpt(e.Video), format, instead)
}

// readRows reads the table or the folder of a manifest. If its pictures are clips in a folder of frames, it opens them
// too, and each row is found by its name; else clips is nil. Rows without frames go to leftOut, which may be nil.
func (d *Splits) readRows(ctx context.Context, path, images string, o manifest.Options, leftOut func(error)) (
	m *manifest.Manifest, clips *loader.ClipTable, err error) {
	frames := images
	if HasFrames(path) {
		frames = path
	}
	if HasFrames(frames) {
		return d.readClipRows(ctx, path, frames, o, leftOut)
	}
	m, err = manifest.Read(ctx, path, o)
	if err != nil {
		if found := videosIn(ctx, path); found != nil {
			err = found
		}
		return nil, nil, whereItStarted(err, path)
	}
	return m, nil, refuseVideos(ctx, m, leftOut != nil)
}

// problems is the file in which nmn frames notes clips that it left out.
const problems = "problems.jsonl"

func (d *Splits) readClipRows(ctx context.Context, path, frames string, o manifest.Options, leftOut func(error)) (
	m *manifest.Manifest, clips *loader.ClipTable, err error) {
	opened, err := d.openFrames("data.images", frames)
	if err != nil {
		return nil, nil, err
	}
	if clips, err = opened.Table(); err != nil {
		return nil, nil, err
	}
	if path == frames {
		m, err = labelsOfClips(frames, clips.Names())
		return m, clips, err
	}
	o.Images = "" // absolute names are names of clips, not of frames
	if m, err = manifest.Read(ctx, path, o); err != nil {
		return nil, nil, whereItStarted(err, path)
	}
	m.Folder = frames
	return m, clips, matchClips(m, clips, leftOut)
}

// labelsOfClips takes the labels of clips from their folders.
func labelsOfClips(frames string, names []string) (*manifest.Manifest, error) {
	if !slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, "/") }) {
		return nil, loader.Unusable(fmt.Errorf("%s has frames of %d clips, but no labels: want a table with a row for "+
			"each clip as the data, such as %s, and these frames by `data.images` %s; or frames of clips that lie in a folder "+
			"for each label; or a file %s with %s", frames, len(names), exampleTable(names[0]), frames, loader.LabelsName,
			loader.ClipLabelsExample))
	}
	return manifest.ReadClips(frames, names)
}

// exampleTable shows a table of clips.
func exampleTable(clip string) string {
	return fmt.Sprintf("the lines \"clip,labels\" and %q", loader.Excerpt(clip)+",dog;grass")
}

// matchClips finds the clips of all rows. No two rows may be of the same clip.
func matchClips(m *manifest.Manifest, clips *loader.ClipTable, leftOut func(error)) error {
	taken := map[int]*manifest.Row{}
	missing, all := 0, m.Rows
	var first error
	m.Rows = nil
	for i := range all {
		row := &all[i]
		at, err := clips.Find(row.Files[0])
		switch {
		case err != nil:
			err = fmt.Errorf("%s, %s: the clip %q: %w", m.File, row.At(), loader.Excerpt(row.Files[0]), err)
			if missing++; leftOut != nil {
				leftOut(err)
			}
			first = cmp.Or(first, err)
			continue
		case taken[at] != nil:
			return loader.Unusable(fmt.Errorf("%s, %s and %s: both are the clip %q of %s: remove one of the two", m.File,
				taken[at].At(), row.At(), loader.Excerpt(clips.Names()[at]), m.Folder))
		}
		taken[at], m.Rows = row, append(m.Rows, *row)
	}
	if missing == 0 || leftOut != nil && len(m.Rows) > 0 {
		return nil
	}
	why := ""
	if info, err := os.Stat(filepath.Join(m.Folder, problems)); err == nil && info.Size() > 0 {
		why = "; " + problems + " there lists the clips that could not be read"
	}
	return fmt.Errorf("%d of %d rows without frames, first: %w%s; take frames of these clips too, or leave them out "+
		"(`data.max_bad_samples`)", missing, len(all), first, why)
}

// refuseVideos is a *VideoError if rows name videos: by the names, by how the files start, or without their endings.
// It also refuses rows that name folders, unless rows may be left out.
func refuseVideos(ctx context.Context, m *manifest.Manifest, lenient bool) error {
	videos := rowVideos{m: m, alike: loader.NewAlikeFiles(m.Folder), lenient: lenient}
	for i := range m.Rows {
		row := &m.Rows[i]
		if row.Line == 0 || len(row.Files) > 1 { // rows are lines of a file
			continue
		}
		video, err := videos.of(ctx, row)
		if err != nil {
			return err
		}
		if video == "" {
			continue
		}
		if _, err := os.Stat(m.Folder); err != nil {
			return fmt.Errorf("%s: cannot look for its clips: %w", m.File, err)
		}
		clips := m.Folder
		if common := commonFolder(m); loader.IsFolder(filepath.Join(clips, common)) {
			clips = filepath.Join(clips, common)
		}
		return &VideoError{Where: m.File + ", " + row.At(), Video: row.Files[0], Format: videoFormat(video), Clips: clips,
			Frames: framesBeside(clips), Table: true}
	}
	return nil
}

// rowVideos finds the videos that the rows of a manifest name.
type rowVideos struct {
	m       *manifest.Manifest
	alike   *loader.AlikeFiles
	below   *loader.ClipNames // videos in the folder, once a row needs them
	lenient bool              // rows may be left out
}

// of returns the path of the video that a row names, or "" if it names none. Without its ending, a video is looked for
// in all folders.
func (v *rowVideos) of(ctx context.Context, row *manifest.Row) (string, error) {
	file := row.Files[0]
	path := loader.PathIn(v.m.Folder, file)
	if isVideo(path) {
		return path, nil
	}
	if filepath.Ext(file) != "" {
		return "", nil
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() && !v.lenient {
		return "", loader.Unusable(fmt.Errorf("%s, %s: %q is a folder: list its pictures in a column frames: "+
			"a/1.jpg;a/2.jpg", v.m.File, row.At(), loader.Excerpt(file)))
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if found, err := v.alike.Find(strings.ReplaceAll(file, `\`, "/")); err != nil || len(found) > 0 {
		return "", nil // such as a picture without its ending; FindFiles returns the error
	}
	if v.below == nil {
		if v.below, err = videosBelow(ctx, v.m.Folder); err != nil {
			return "", err
		}
	}
	at, err := v.below.Find(file)
	switch {
	case at >= 0:
		return loader.PathIn(v.m.Folder, v.below.Names()[at]), nil
	case err != nil: // several videos have this name
		return path, nil
	}
	return "", nil
}

// videosBelow are the videos in a folder and its folders, by the names of their files. A folder that cannot be read has
// none: its pictures are missed later.
func videosBelow(ctx context.Context, folder string) (*loader.ClipNames, error) {
	var names loader.ClipNames
	err := loader.WalkFolder(ctx, folder, func(file string, entry fs.DirEntry) error {
		if !entry.IsDir() && picture.IsVideoName(file) {
			names.Add(file)
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		return &loader.ClipNames{}, nil
	}
	return &names, err
}

// isVideo reports whether a file is a video, by its name; one without an ending by how it starts.
func isVideo(file string) bool {
	return picture.IsVideoName(file) || filepath.Ext(file) == "" && videoFormat(file) != ""
}

// videoFormat is the format of a video by how its file starts; empty if it is none or cannot be read.
func videoFormat(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	start := make([]byte, 64)
	n, _ := io.ReadFull(f, start) // a file may be shorter
	return picture.VideoFormat(start[:n])
}

// commonFolder returns the folder below the manifest's folder that all of its rows name.
func commonFolder(m *manifest.Manifest) string {
	common := slashed.Dir(m.Rows[0].Files[0])
	for i := range m.Rows {
		of := slashed.Dir(m.Rows[i].Files[0])
		for common != slashed.Dir(common) && of != common && !strings.HasPrefix(of, common+"/") {
			common = slashed.Dir(common)
		}
	}
	return filepath.FromSlash(common)
}

// framesBeside is a folder for the frames of the clips in a folder.
func framesBeside(clips string) string {
	if base := filepath.Base(clips); base == "." || base == ".." || base == string(filepath.Separator) {
		return "frames"
	}
	return filepath.Clean(clips) + "-frames"
}

// videosIn is a *VideoError if a folder has videos and no pictures; nil if it has none, or is no folder.
func videosIn(ctx context.Context, path string) error {
	if !loader.IsFolder(path) {
		return nil
	}
	var videos []string
	pictures, labelled := false, false
	err := loader.WalkFolder(ctx, path, func(file string, entry fs.DirEntry) error {
		switch {
		case entry.IsDir():
		case picture.IsName(file):
			pictures = true
		case isVideo(filepath.Join(path, filepath.FromSlash(file))):
			videos, labelled = append(videos, file), labelled || strings.Contains(file, "/")
		}
		return nil
	})
	if err != nil || len(videos) == 0 || pictures {
		return nil
	}
	file := videos[0]
	if !labelled {
		return loader.Unusable(fmt.Errorf("%s has %d videos, first %q, but no labels: want a table with a row for each "+
			"clip, such as %s, or a folder for each label with its videos in it", path, len(videos), loader.Excerpt(file),
			exampleTable(file)))
	}
	return &VideoError{Where: path, Video: file, Format: videoFormat(filepath.Join(path, filepath.FromSlash(file))),
		Clips: path, Frames: framesBeside(path)}
}
