package scenes

import (
	"fmt"

	"nmn/internal/parallel"
	"nmn/internal/rng"
	"nmn/loader"

	dense "gorgonia.org/tensor"
)

// Limits of the moving scenes.
const (
	minMovingFrames = 3 // so that an object can be there for two frames and gone for one
	maxMovingFrames = 1000
	// maxKeptFrames bounds what Cache keeps: frames of 6,912 bytes, 500 MB of them.
	maxKeptFrames = 500_000_000 / pictureBytes
)

// MovingConfig chooses a split of the moving scenes. Clip i depends on (Seed, Split, Frames, i)
// alone.
type MovingConfig struct {
	Seed   uint64
	Split  string // any name; "train", "val" and "test" of one seed share no clip
	N      int    // clips, 1 to 10,000,000
	Frames int    // frames per clip, 3 to 1,000
	// Cache keeps every frame in memory once it has been painted, 6,912 bytes each, where the frames of
	// the split take 500 MB at most. Without it a frame is painted each time it is read.
	Cache bool
}

// Validate returns which field is out of range.
func (c MovingConfig) Validate() error {
	if err := (Config{Split: c.Split, N: c.N}).Validate(); err != nil {
		return fmt.Errorf("moving %w", err)
	}
	if c.Frames < minMovingFrames || c.Frames > maxMovingFrames {
		return fmt.Errorf("moving scenes: Frames = %d, allowed are %d to %d", c.Frames, minMovingFrames, maxMovingFrames)
	}
	return nil
}

// MakeMoving makes a split of the video form of the scenes: clips in which shapes move, come and go.
//
// A clip is a bag of Frames frames. An object is visible for at least two frames in a row but not for all: it
// comes or it goes. A concept is true for a clip if it is true for any frame. Each of the five captions
// describes one frame, drawn at random, and so leaves out the content of others. Labels, Truth and Counts are
// as for Scenes; the vocabulary is the same.
func MakeMoving(config MovingConfig) (*loader.Set, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	set, err := blankScenes("moving-"+config.Split, config.N, newMovingFrames(config))
	if err != nil {
		return nil, err
	}
	labels, truth, counts := set.Labels.Uint8s(), set.Truth.Uint8s(), set.Counts.Uint8s()
	streams := newMovingStreams(config)
	parallel.Each(config.N, func(i int) {
		frames := streams.clip(i).all()
		row := i * classCount
		for t := range frames {
			frames[t].truth(truth[row : row+classCount])
		}
		set.IDs[i] = streams.id(i)
		set.Captions[i] = countWords(streams.captions(i, frames), labels[row:row+classCount], counts[row:row+classCount])
	})
	return set, nil
}

// FrameTruth is what each frame of a clip of the moving scenes shows: Frames×36 of 0 or 1. The truth of
// the clip is their union.
func FrameTruth(config MovingConfig, clip int) (*dense.Dense, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	streams := newMovingStreams(config)
	truth := make([]uint8, config.Frames*classCount)
	for t, frame := range streams.clip(clip).all() {
		frame.truth(truth[t*classCount : (t+1)*classCount])
	}
	return loader.Matrix(truth, classCount), nil
}

// movingStreams holds the random streams of a split: for layouts and paths, captions, backgrounds and the
// camera.
type movingStreams struct {
	split                           string
	frames                          int
	layout, caption, ground, camera uint64
}

func newMovingStreams(config MovingConfig) movingStreams {
	purpose := "moving/" + config.Split + "/"
	return movingStreams{
		split: config.Split, frames: config.Frames,
		layout:  rng.Derive(config.Seed, purpose+"layout"),
		caption: rng.Derive(config.Seed, purpose+"captions"),
		ground:  rng.Derive(config.Seed, purpose+"ground"),
		camera:  rng.Derive(config.Seed, purpose+"camera"),
	}
}

func (s *movingStreams) id(i int) string { return fmt.Sprintf("moving-%s-%06d", s.split, i) }

func (s *movingStreams) clip(i int) *clip {
	stream := rng.New(s.layout, i)
	return drawClip(&stream, s.frames)
}

// captions describes one frame each.
func (s *movingStreams) captions(i int, frames []scene) (captions [CaptionsPerPicture]sceneCaption) {
	stream := rng.New(s.caption, i)
	for c := range captions {
		captions[c] = frames[stream.Intn(len(frames))].describe(&stream)
	}
	return captions
}

// newMovingFrames paints the frames of a split.
func newMovingFrames(config MovingConfig) *paintedSource {
	streams := newMovingStreams(config)
	keep := config.Cache && config.N*config.Frames <= maxKeptFrames
	return newPaintedSource(config.N, config.Frames, keep, func(p *painter, i, t int, pixels *[pictureBytes]uint8) {
		frame := streams.clip(i).frame(t)
		ground, camera := rng.New(streams.ground, i), rng.New(streams.camera, i, t)
		p.paintFrame(&frame, &ground, &camera, pixels)
	})
}
