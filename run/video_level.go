package run

import (
	"errors"
	"fmt"

	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/report"
)

// level is what a training sample of videos is, for tables; empty for pictures.
func (c *Config) level() string {
	switch {
	case !c.Data.Videos():
		return ""
	case c.ByFrame():
		return report.FrameLevel
	}
	return report.VideoLevel
}

// ByFrame reports whether frames of videos are learned one by one.
func (c *Config) ByFrame() bool {
	return c.Data.VideoLevel == dataset.LevelFrame || c.Data.VideoLevel != dataset.LevelVideo && !c.Net.MIL &&
		c.Net.Backbone == "" // a head learns whole clips by default
}

func (c *Config) validateVideo() error {
	switch d := &c.Data; {
	case d.Set == dataset.MovingScenes && (d.Frames < 3 || d.Frames > 1000):
		return fmt.Errorf("data.frames is %d, want 3 to 1000", d.Frames)
	case c.level() == report.FrameLevel && c.Settings().Folds() > 0:
		return errors.New("recipe: folds of frames would have a video in several folds: take `data.video_level` video, or " +
			"the rates of `noise_rates` online")
	}
	return nil
}

// Scored is a set as the nets of a configuration are judged on it: videos by their frames, where the nets learn frames.
func (c *Config) Scored(set *loader.Set) *loader.Set {
	if !c.ByFrame() {
		return set
	}
	return dataset.ScoredByFrame(set)
}
