package main

import (
	"errors"
	"fmt"
	"slices"

	"nmn/internal/setting"
	"nmn/loader"
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
