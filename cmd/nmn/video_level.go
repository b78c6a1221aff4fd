package main

import (
	"errors"
	"fmt"
	"slices"

	"nmn/internal/setting"
	"nmn/loader"
	"nmn/model"
	"nmn/report"
)

// level is what a training sample of videos is, for tables; empty for pictures.
func (c *config) level() string {
	switch {
	case !c.Data.videos():
		return ""
	case c.byFrame():
		return report.FrameLevel
	}
	return report.VideoLevel
}

// byFrame tells whether frames of videos are learned one by one.
func (c *config) byFrame() bool {
	return c.Data.VideoLevel == levelFrame || c.Data.VideoLevel != levelVideo && !c.Net.MIL
}

func (c *config) validateVideo() error {
	d, settings := &c.Data, c.settings()
	switch {
	case d.Set == dataMoving && (d.Frames < 3 || d.Frames > 1000):
		return fmt.Errorf("data.frames is %d, want 3 to 1000", d.Frames)
	case d.VideoLevel != "" && !slices.Contains(videoLevels(), d.VideoLevel):
		return fmt.Errorf("data.video_level is %q, want %s", d.VideoLevel, setting.Alternatives(videoLevels()))
	case c.level() == report.FrameLevel && settings.folds() > 0:
		return errors.New("recipe: folds of frames would have a video in several folds: take --video-level video, or the rates of --rates online")
	}
	return nil
}

// scored is a set as nets of a configuration are judged on it: by their frames, where they learn those.
func (c *config) scored(set *loader.Set) *loader.Set {
	if !c.byFrame() {
		return set
	}
	return scoredByFrame(set)
}

// tellChunks prints what a batch of the longest videos takes in maps and gradients, whole and in chunks of
// fewer frames; nothing of pictures.
func tellChunks(p *program, c *config, longest int, net *model.Net) error {
	if longest < 2 {
		return nil
	}
	bags := c.Train.Batch(net.Config().MIL)
	mib := func(chunk int) float64 { return float64(net.ChunkBytes(longest*bags, bags, chunk, true)) / (1 << 20) }
	line := fmt.Sprintf("maps of %d frames: %.0f MiB", longest*bags, mib(longest*bags))
	for chunk := (longest*bags + 1) / 2; chunk > 0 && chunk >= longest*bags/8; chunk /= 2 {
		line += fmt.Sprintf(", with --chunk-frames %d %.0f MiB", chunk, mib(chunk))
	}
	_, err := fmt.Fprintf(p.out, "            %s\n", line)
	return err
}
