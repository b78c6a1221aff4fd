package loader

import (
	"context"
	"fmt"
	"sort"
	"strconv"

	dense "gorgonia.org/tensor"
)

// Frames makes every frame of every bag a bag of its own, with the labels of its video: the set for
// training without multiple-instance learning. The frames of a video follow each other; the ID of
// frame 3 of "video7" is "video7#3". Labels and Truth are copied for each frame. Captions and Counts
// stay with the videos: noise is injected into those before, and results are measured on those
// after, by way of the FrameIndex.
func Frames(s *Set) (*Set, *FrameIndex, error) {
	if s.Len() == 0 || s.Labels == nil || (s.Source == nil) == (s.Vectors == nil) {
		return nil, nil, fmt.Errorf("%s: frames need bags with labels, and pictures or feature vectors", s.Name)
	}
	index := &FrameIndex{offsets: make([]int, s.Len()+1)}
	for bag, id := range s.IDs {
		n := s.frames(bag)
		if n < 1 {
			return nil, nil, fmt.Errorf("%s: bag %d (%s) has %d frames", s.Name, bag, id, n)
		}
		index.offsets[bag+1] = index.offsets[bag] + n
	}
	frames := &Set{Name: s.Name + "-frames", Vocabulary: s.Vocabulary, IDs: make([]string, 0, index.Frames()), Standard: s.Standard}
	videos := make([]int, 0, index.Frames())
	for bag, id := range s.IDs {
		for frame := range s.frames(bag) {
			frames.IDs, videos = append(frames.IDs, id+"#"+strconv.Itoa(frame)), append(videos, bag)
		}
	}
	for _, m := range []struct {
		from *dense.Dense
		to   **dense.Dense
	}{{s.Labels, &frames.Labels}, {s.Truth, &frames.Truth}} {
		var err error
		if *m.to, err = rows(m.from, s.Len(), videos); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", frames.Name, err)
		}
	}
	if s.Source != nil {
		frames.Source = singleFrames{s.Source, index}
	} else {
		frames.Vectors = singleVectors{s.Vectors, index}
	}
	return frames, index, nil
}

// FrameIndex tells which frames of a frame-level set belong to which video of the set it was made of.
type FrameIndex struct {
	offsets []int // video i owns the frames offsets[i] to offsets[i+1]-1
}

// Frames is the number of frames of all videos.
func (x *FrameIndex) Frames() int { return x.offsets[len(x.offsets)-1] }

// Videos is the number of videos.
func (x *FrameIndex) Videos() int { return len(x.offsets) - 1 }

// Of returns the video of a frame of the set, and which of that video's frames it is.
func (x *FrameIndex) Of(frame int) (video, position int) {
	video = sort.SearchInts(x.offsets, frame+1) - 1
	return video, frame - x.offsets[video]
}

// Max takes the scores of frames together: s[v,k] = max over the frames t of video v of scores[t,k].
// index[i] is the frame of the set that row i of scores, n×classes, belongs to, ascending; frames
// that could not be read have no row. It returns the videos that have a row, ascending, and a row for
// each. The maximum of log-odds is the log-odds of the maximal probability.
func (x *FrameIndex) Max(index []int, scores []float32, classes int) (videos []int, best []float32, err error) {
	if classes < 1 || len(scores) != len(index)*classes {
		return nil, nil, fmt.Errorf("scores of frames: %d values for %d frames of %d classes", len(scores), len(index), classes)
	}
	for i, frame := range index {
		if frame < 0 || frame >= x.Frames() || i > 0 && frame <= index[i-1] {
			return nil, nil, fmt.Errorf("scores of frames: row %d is of frame %d; rows must ascend within 0 to %d", i, frame, x.Frames()-1)
		}
		row := scores[i*classes : (i+1)*classes]
		video, _ := x.Of(frame)
		if len(videos) == 0 || videos[len(videos)-1] != video {
			videos, best = append(videos, video), append(best, row...)
			continue
		}
		for k, most := range best[len(best)-classes:] {
			if row[k] > most || row[k] != row[k] { // NaN wins, so that it is seen
				best[len(best)-classes+k] = row[k]
			}
		}
	}
	return videos, best, nil
}

// place returns the bag and the frame in the set of videos; frame is the one asked for, always 0.
func (x *FrameIndex) place(bag, frame int) (video, position int, err error) {
	if bag < 0 || bag >= x.Frames() || frame != 0 {
		return 0, 0, fmt.Errorf("there is no frame %d of bag %d among %d bags of one frame", frame, bag, x.Frames())
	}
	video, position = x.Of(bag)
	return video, position, nil
}

// singleFrames gives the frames of another Source, each as a bag.
type singleFrames struct {
	from  Source
	index *FrameIndex
}

func (s singleFrames) Frames(int) int { return 1 }

func (s singleFrames) Read(ctx context.Context, bag, frame int, pic *Picture) error {
	video, position, err := s.index.place(bag, frame)
	if err != nil {
		return err
	}
	return s.from.Read(ctx, video, position, pic)
}

// withMaxPixels lets a Loader apply its own limit, where the Source behind can.
func (s singleFrames) withMaxPixels(n int) (Source, error) {
	from, err := limitPixels(s.from, n)
	return singleFrames{from, s.index}, err
}

// singleVectors gives the frames of other Vectors, each as a bag.
type singleVectors struct {
	Vectors
	index *FrameIndex
}

func (s singleVectors) Frames(int) int { return 1 }

func (s singleVectors) Read(ctx context.Context, bag, frame int, dst []float32) error {
	video, position, err := s.index.place(bag, frame)
	if err != nil {
		return err
	}
	return s.Vectors.Read(ctx, video, position, dst)
}
