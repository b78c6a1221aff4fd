package loader

import (
	"context"
	"fmt"
	"nmn/internal/parallel"
	"sort"
	"strconv"
)

// Frames turns every frame of every bag into a separate bag, with the labels of its video: the set for
// training without multiple-instance learning. The frames of a video follow each other; the ID of frame 3 of
// "video7" is "video7#3". Labels and Truth are copied for each frame, unless the set has Rows. Captions and
// Counts stay with the videos: inject noise into the videos first, and measure results on the videos
// afterwards, using the FrameIndex.
func Frames(ctx context.Context, s *Set) (*Set, *FrameIndex, error) {
	if s.Len() == 0 || s.Labels == nil && s.Rows == nil || (s.Source == nil) == (s.Vectors == nil) {
		return nil, nil, fmt.Errorf("%s: frames need samples with labels, and pictures or feature vectors", s.Name)
	}
	index, err := indexFrames(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	frames := &Set{Name: s.Name + "-frames", Vocabulary: s.Vocabulary, ByBlocks: s.ByBlocks, Standard: s.Standard,
		Columns: s.Columns}
	if s.Rows != nil {
		frames.Rows, frames.survey = frameRows{s, index}, &survey{}
	} else if err := copyToFrames(frames, s, index); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", frames.Name, err)
	}
	if s.Source != nil {
		frames.Source = placedSource{s.Source, index}
	} else {
		frames.Vectors = placedVectors{s.Vectors, index}
	}
	return frames, index, nil
}

// indexFrames counts the frames of all bags. An unusable clip of an index of shards has one, and reading it
// returns the reason.
func indexFrames(ctx context.Context, s *Set) (*FrameIndex, error) {
	index := &FrameIndex{offsets: make([]int, s.Len()+1)}
	parallel.Each(s.Len(), func(bag int) {
		if ctx.Err() == nil {
			index.offsets[bag+1] = s.frames(bag)
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for bag := range s.Len() {
		n := index.offsets[bag+1]
		if n < 1 && s.ByBlocks {
			n = 1
		}
		if n < 1 {
			return nil, fmt.Errorf("%s: sample %d (%s) has %d frames", s.Name, bag, s.IDs[bag], n)
		}
		index.offsets[bag+1] = index.offsets[bag] + n
	}
	return index, nil
}

// copyToFrames gives frames the names and labels of their videos.
func copyToFrames(frames, s *Set, index *FrameIndex) (err error) {
	frames.IDs = make([]string, 0, index.Frames())
	videos := make([]int, 0, index.Frames())
	for bag, id := range s.IDs {
		for frame := range index.of(bag) {
			frames.IDs, videos = append(frames.IDs, frameID(id, frame)), append(videos, bag)
		}
	}
	if frames.Labels, err = rows(s.Labels, s.Len(), videos); err != nil {
		return err
	}
	frames.Truth, err = rows(s.Truth, s.Len(), videos)
	return err
}

func frameID(video string, frame int) string { return video + "#" + strconv.Itoa(frame) }

// frameRows are the rows of frames, made from the rows of their videos.
type frameRows struct {
	videos *Set
	index  *FrameIndex
}

func (r frameRows) Len() int { return r.index.Frames() }

func (r frameRows) KnowsTruth() bool { return r.videos.KnowsTruth() }

func (r frameRows) Read(ctx context.Context, bag int, row *Row) error {
	video, frame, err := r.index.place(bag, 0)
	if err == nil {
		err = r.videos.Row(ctx, video, row)
	}
	row.ofFrame(frame)
	return err
}

// walk reads the row of each video once.
func (r frameRows) walk(ctx context.Context, visit func(bag int, row *Row) error) error {
	return r.videos.EachRow(ctx, func(video int, row *Row) error {
		id := row.ID
		for frame := range r.index.of(video) {
			row.ID = id
			row.ofFrame(frame)
			if err := visit(r.index.offsets[video]+frame, row); err != nil {
				return err
			}
		}
		return nil
	})
}

// ofFrame turns the row of a video into the row of one of its frames, which has no captions.
func (r *Row) ofFrame(frame int) {
	r.ID, r.Counts, r.Captions = frameID(r.ID, frame), r.Counts[:0], nil
}

// FrameIndex maps frames of a frame-level set to videos of the original set.
type FrameIndex struct {
	offsets []int // video i owns the frames offsets[i] to offsets[i+1]-1
}

// Frames is the number of frames of all videos.
func (x *FrameIndex) Frames() int { return x.offsets[len(x.offsets)-1] }

// Offsets are the starts of each video's frames, followed by the number of all frames: video i has the frames
// Offsets[i] to Offsets[i+1]-1. They must not be changed.
func (x *FrameIndex) Offsets() []int { return x.offsets }

// of returns the number of frames of a video.
func (x *FrameIndex) of(video int) int { return x.offsets[video+1] - x.offsets[video] }

// Videos is the number of videos.
func (x *FrameIndex) Videos() int { return len(x.offsets) - 1 }

// Of returns the video of a frame of the set, and the position of the frame in that video.
func (x *FrameIndex) Of(frame int) (video, position int) {
	video = sort.SearchInts(x.offsets, frame+1) - 1
	return video, frame - x.offsets[video]
}

// place returns the bag and the frame in the set of videos; frame is the one asked for, always 0.
func (x *FrameIndex) place(bag, frame int) (video, position int, err error) {
	if bag < 0 || bag >= x.Frames() || frame != 0 {
		return 0, 0, fmt.Errorf("there is no frame %d of sample %d among %d samples of one frame", frame, bag, x.Frames())
	}
	video, position = x.Of(bag)
	return video, position, nil
}

// frames is 1.
func (x *FrameIndex) frames(int, func(int) int) int { return 1 }
