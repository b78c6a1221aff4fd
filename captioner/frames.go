package captioner

import (
	"context"
	"errors"
	"fmt"

	"nmn/loader/features"
)

// ErrInput is wrapped by all errors about data that do not fit each other or the captioner.
var ErrInput = errors.New("data that cannot be captioned")

// FrameFeatures are clips with features for each frame. They always return equal data for a clip.
type FrameFeatures interface {
	// Clips is the number of clips.
	Clips() int
	// ID names a clip in messages and results.
	ID(clip int) string
	// Frames is the largest number of frames of a clip, Width the number of features of a frame.
	Frames() int
	Width() int
	// FrameCount is the number of frames of a clip, 1 to Frames().
	FrameCount(clip int) int
	// Features writes Frames()×Width() features of a clip into dst, frame by frame. Missing frames come last
	// and are 0.
	Features(clip int, dst []float32) error
}

// Source is the training data of a captioner: clips with features and captions. It serves one goroutine at a time.
type Source interface {
	FrameFeatures
	// Captions are the word ids of a clip's captions, without BOS and EOS; the caller leaves them as they
	// are. A clip may have none.
	Captions(clip int) [][]int32
}

// FrameFiles name files of features: a row for each frame, with a table of the rows of each clip, as
// nmn extract --per-frame writes them, or a row for each clip.
type FrameFiles struct {
	Features string // .npy, .npz, .safetensors, or a table with features
	Array    string // in .npz and .safetensors; may be empty if the file has one array
	Clips    string // .csv: clip, first row, rows; empty where each row is a clip
	IDs      []string
	// PerRow is the number of frames in a row, one after another, if each row is a clip: T of an array of
	// clips × T × features. 0 is 1.
	PerRow int
}

// FrameFile is a file of features that stay on disk and are read clip by clip. It is safe for concurrent
// use. Close it when it is no longer used.
type FrameFile struct {
	table  *features.Table
	clips  []clipRows
	frames int
	width  int
	perRow int
}

// clipRows are the rows of a clip.
type clipRows struct {
	id          string
	first, rows int
}

// OpenFrames opens the files and checks that they fit each other.
func OpenFrames(ctx context.Context, o FrameFiles) (*FrameFile, error) {
	table, err := features.Open(ctx, features.Options{Features: o.Features, Array: o.Array, IDs: o.IDs, Unlabelled: true,
		LabelsElsewhere: true})
	if err != nil {
		return nil, err
	}
	f := &FrameFile{table: table, perRow: max(o.PerRow, 1)}
	if err := f.arrange(o); err != nil {
		return nil, errors.Join(err, table.Close())
	}
	return f, nil
}

// arrange finds the rows of each clip.
func (f *FrameFile) arrange(o FrameFiles) (err error) {
	rows, width := f.table.Rows.Len(), f.table.Rows.Width()
	switch {
	case o.PerRow < 0:
		return fmt.Errorf("features %q: %d frames in a row, want at least 1: %w", o.Features, o.PerRow, ErrInput)
	case o.Clips != "" && f.perRow > 1:
		return fmt.Errorf("features %q: a row has either one frame, with the clips in %q, or %d frames: %w",
			o.Features, o.Clips, f.perRow, ErrInput)
	case width%f.perRow != 0:
		return fmt.Errorf("features %q: rows of %d numbers are not %d frames: %w",
			o.Features, width, f.perRow, ErrInput)
	}
	f.width = width / f.perRow
	if o.Clips != "" {
		if f.clips, err = readClipRows(o.Clips, rows); err != nil {
			return err
		}
		for _, c := range f.clips {
			f.frames = max(f.frames, c.rows)
		}
		return nil
	}
	if f.table.IDs == nil {
		return fmt.Errorf("features %q: nothing names its %d rows: give the table of clips that "+
			"`extract.output_clips` writes (`captions.clips`), or a list of identifiers (`captions.ids`): %w",
			o.Features, rows, ErrInput)
	}
	f.frames = f.perRow
	for i, id := range f.table.IDs {
		f.clips = append(f.clips, clipRows{id, i, 1})
	}
	return nil
}

// Close closes the file.
func (f *FrameFile) Close() error { return f.table.Close() }

// The methods that follow implement FrameFeatures.

func (f *FrameFile) Clips() int              { return len(f.clips) }
func (f *FrameFile) ID(clip int) string      { return f.clips[clip].id }
func (f *FrameFile) Frames() int             { return f.frames }
func (f *FrameFile) Width() int              { return f.width }
func (f *FrameFile) FrameCount(clip int) int { return f.clips[clip].rows * f.perRow }

func (f *FrameFile) Features(clip int, dst []float32) error {
	c, row := f.clips[clip], f.width*f.perRow
	for i := range c.rows {
		if err := f.table.Rows.Read(c.first+i, dst[i*row:(i+1)*row]); err != nil {
			return fmt.Errorf("clip %q: %w", c.id, err)
		}
	}
	clear(dst[c.rows*row : f.frames*f.width])
	return nil
}

// Fit checks that a captioner for a number of frames and a width can caption clips. Another width or more
// frames are errors that wrap ErrInput. Clips that all have fewer frames are an error too unless fewer is
// set, because the captioner has not learned from such clips.
func Fit(f FrameFeatures, frames, width int, fewer bool) error {
	switch {
	case f.Width() != width:
		return fmt.Errorf("the features have %d numbers for a frame, the captioner takes %d: they come from another "+
			"layer or vocabulary: %w",
			f.Width(), width, ErrInput)
	case f.Frames() > frames:
		return fmt.Errorf("clips have up to %d frames, the captioner takes %d: take as many frames of the clips as "+
			"it was trained on: %w",
			f.Frames(), frames, ErrInput)
	case f.Frames() < frames && !fewer:
		return fmt.Errorf("clips have at most %d frames, the captioner was trained on up to %d: take as many, or "+
			"allow fewer (`captions.fewer_frames`): %w",
			f.Frames(), frames, ErrInput)
	}
	return nil
}
