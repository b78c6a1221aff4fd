package scenes

import (
	"fmt"
	"math"

	dense "gorgonia.org/tensor"

	"nmn/internal/parallel"
	"nmn/internal/rng"
	"nmn/loader"
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

// topSpeed is how far an object moves along an axis from frame to frame at most, pixels.
const topSpeed = 2.5

// clip is a scene in motion. Its objects have the positions of their first frame.
type clip struct {
	scene
	paths  [maxObjects]path
	frames int
}

// path is when an object is there, and how it moves.
type path struct {
	first, end int     // it is there from frame first to frame end-1
	dx, dy     float64 // pixels per frame
}

// drawClip draws a scene, and of each object when it is there and how it moves: two frames at least and
// one less than all at most, from the first frame on or to the last, each as likely.
func drawClip(s *rng.Stream, frames int) *clip {
	c := &clip{scene: layOut(s), frames: frames}
	for i := range c.count {
		p := &c.paths[i]
		length := 2 + s.Intn(frames-2)
		p.end = length
		if appears := s.Float64() < .5; appears {
			p.first, p.end = frames-length, frames
		}
		p.dx, p.dy = onGrid(s.Uniform(-topSpeed, topSpeed)), onGrid(s.Uniform(-topSpeed, topSpeed))
	}
	return c
}

// frame returns frame t: the objects visible then, at their positions. An object turns round where it would
// leave the canvas. A verb whose mark would leave the canvas is not shown.
func (c *clip) frame(t int) scene {
	f := scene{place: c.place, phase: c.phase, brightness: c.brightness}
	for i := range c.count {
		p := &c.paths[i]
		if t < p.first || t >= p.end {
			continue
		}
		object := &f.objects[f.count]
		*object = c.objects[i]
		steps := float64(t - p.first)
		object.x = bounce(object.x+steps*p.dx, object.radius)
		object.y = bounce(object.y+steps*p.dy, object.radius)
		object.dropVerb()
		f.count++
	}
	f.reveal()
	return f
}

// all lists the frames.
func (c *clip) all() []scene {
	frames := make([]scene, c.frames)
	for t := range frames {
		frames[t] = c.frame(t)
	}
	return frames
}

// bounce folds a coordinate into what an object of a radius may take, .8 radii from the borders: a ball
// between two walls. Exact on the grid.
func bounce(x, radius float64) float64 {
	near := onGrid(.8 * radius)
	room := pictureSize - 2*near
	x = math.Mod(x-near, 2*room)
	if x < 0 {
		x += 2 * room
	}
	return near + min(x, 2*room-x)
}
