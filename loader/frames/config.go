package frames

import (
	"fmt"
	"time"
)

// Config selects the frames to extract, and limits the cost of a clip.
type Config struct {
	Frames  int `json:"frames"`  // frames per clip
	Size    int `json:"size"`    // longest side of a picture in pixels, which larger ones are shrunk to; 0 keeps all
	Quality int `json:"quality"` // quality of the JPEG files, 1 to 100 as in libjpeg

	MaxPixels int           `json:"-"` // most pixels of a frame
	Timeout   time.Duration `json:"-"` // time limit of each pass over a clip
	Threads   int           `json:"-"` // threads of ffmpeg's decoder
}

// DefaultConfig are 26 frames of a clip, whole, at quality 90.
func DefaultConfig() Config {
	return Config{Frames: 26, Quality: 90, MaxPixels: 36_000_000, Timeout: 10 * time.Minute, Threads: 1}
}

// Bounds of the fields.
const (
	maxFrames  = 1000 // the chosen ones are spelt out on the command line of ffmpeg
	maxSide    = 1 << 15
	maxPixels  = 256_000_000
	maxThreads = 256
)

// Validate returns which field is out of range.
func (c Config) Validate() error {
	for _, f := range []struct {
		name             string
		value, low, high int
	}{
		{"Frames", c.Frames, 1, maxFrames},
		{"Size", c.Size, 0, maxSide},
		{"Quality", c.Quality, 1, 100},
		{"MaxPixels", c.MaxPixels, 1, maxPixels},
		{"Threads", c.Threads, 1, maxThreads},
	} {
		if f.value < f.low || f.value > f.high {
			return fmt.Errorf("frames: %s = %d, allowed are %d to %d", f.name, f.value, f.low, f.high)
		}
	}
	if c.Timeout <= 0 {
		return fmt.Errorf("frames: Timeout = %v, want more than 0", c.Timeout)
	}
	return nil
}
