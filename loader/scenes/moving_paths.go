package scenes

import (
	"math"

	"nmn/internal/rng"
)

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
