package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"nmn/captioner"
	"nmn/captioner/metrics"
	"nmn/internal/durable"
	"nmn/internal/origin"
	"nmn/run"
	"nmn/run/folder"
	"nmn/train"
)

// Outcome is the result of a complete run: result.json.
type Outcome struct {
	Fingerprint string  `json:"fingerprint"` // of configuration and data
	Epochs      int     `json:"epochs"`
	Steps       int     `json:"steps"`
	Loss        float64 `json:"loss"` // of the last epoch, for each caption
	Seconds     float64 `json:"seconds"`
	Checkpoint  string  `json:"checkpoint"` // the one to generate with
	Words       int     `json:"words"`
	Clips       int     `json:"clips"`
	Captions    int     `json:"captions"`
	// Validation are the scores of the best checkpoint; nil without validation clips.
	Validation *metrics.Scores `json:"validation,omitempty"`
	Build      run.Build       `json:"build"`
}

// ReadOutcome reads the result of a folder, or returns nil if there is none.
func ReadOutcome(dir string) (*Outcome, error) {
	return durable.LoadJSON[Outcome](filepath.Join(dir, run.ResultFile), "remove the file to score again")
}

// FindCheckpoint finds the checkpoint that a path names, a file or a run folder. A run in which nothing was held out
// has no best one, and then the last is taken.
func FindCheckpoint(path string, which run.Checkpoint) (file string, err error) {
	if which == run.Best && !durable.Exists(filepath.Join(path, train.BestName)) &&
		durable.Exists(filepath.Join(path, train.LastName)) {
		which = run.Last
	}
	file, _, err = run.FindCheckpoint(path, which)
	return file, err
}

// ReadConfig reads the configuration of a run folder.
func ReadConfig(dir string) (*Config, error) {
	var c Config
	if err := run.ReadConfigInto(dir, &c); err != nil {
		return nil, err
	}
	if c.Build != nil {
		c.Data.places().ComeFrom(c.Build.Folder, dir)
	}
	return &c, nil
}

// mayChange are the settings that a run may be continued with, for they change no step.
var mayChange = []string{"device", "threads", "build.", "train.epochs", "train.max_steps", "train.log_steps",
	"train.checkpoint_"}

// ofCaptioner is the folder of a captioner.
var ofCaptioner = folder.Kind{Config: run.ConfigFile, Writes: func(name string) bool {
	return isRunFile(name) || train.IsCheckpoint(name)
}}

// clearFolder removes the run in a folder. What no run has written stays.
func clearFolder(dir string) error {
	there, err := ReadConfig(dir)
	return folder.Clear(dir, ofCaptioner, err, folder.Found{Written: func() bool { return there.Build != nil }})
}

// prepare makes the folder. It refuses a folder with another run, with another vocabulary, with a run on
// other files, or with other files.
func (s *Session) prepare(ctx context.Context, dir string) error {
	there, err := ReadConfig(dir)
	err = folder.Check(dir, ofCaptioner, err, folder.Found{
		Written: func() bool { return there.Build != nil },
		Changed: func() (key, was, is string) {
			x, y := folder.Flatten(there), folder.Flatten(&s.Config)
			s.Config.Data.places().Hide(x, y)
			return folder.ChangedKey(x, y, mayChange)
		},
	})
	if err != nil {
		return err
	}
	files, err := s.sameData(ctx, dir)
	if err != nil {
		return err
	}
	if err := run.SaveFiles(ctx, s.Log, func() error { return folder.Claim(dir, isRunFile) }); err != nil {
		return err
	}
	words := filepath.Join(dir, captioner.WordsFile)
	hasWords := durable.Exists(words)
	if hasWords {
		there, err := captioner.ReadWords(words)
		if err == nil {
			err = there.Same(s.Data.Words)
		}
		if err != nil {
			return fmt.Errorf("%s holds another run: its vocabulary is another one: %w", dir, err)
		}
	}
	return run.SaveFiles(ctx, s.Log, func() error {
		// The configuration comes first, because without it the other files would not belong to a run.
		if err := s.Config.save(dir, run.ThisBuild()); err != nil {
			return err
		}
		if !hasWords {
			if err := s.Data.Words.WriteFile(words); err != nil {
				return err
			}
		}
		return folder.KeepData(dir, files)
	})
}

func (c Config) save(dir string, b run.Build) error {
	return run.SaveConfigOf(dir, b, func(b *run.Build) ([]byte, error) { c.Build = b; return c.YAML() })
}

// keepPlaces stores the current places of the files in the configuration of a complete run.
func (c *Config) keepPlaces(dir string) error {
	there, err := ReadConfig(dir)
	if err != nil || !there.Data.places().Take(c.Data.places()) {
		return err
	}
	return there.save(dir, *there.Build)
}

// sameData refuses a folder whose run began with other files than there are now, and returns the list to keep there.
func (s *Session) sameData(ctx context.Context, dir string) (origin.List, error) {
	now, err := origin.Find(ctx, s.Data.Places, false)
	if err != nil {
		return nil, err
	}
	return folder.SameData(ctx, dir, now)
}

// isRunFile reports whether this package writes a file of a run folder. Checkpoints are written by another
// package.
func isRunFile(name string) bool {
	ours := []string{run.ConfigFile, run.DataFile, captioner.WordsFile, run.ResultFile, run.LogFile}
	return slices.Contains(ours, name)
}

// fingerprint identifies the computation of a run: settings without the places of files, words, captions, and
// features of three clips.
func (s *Session) fingerprint() (string, error) {
	h := sha256.New()
	c := s.Config
	c.Device, c.Threads, c.Build, c.Train.LogSteps = "", 0, nil, 0
	c.Train.CheckpointMinutes = 0
	for _, path := range c.Data.places() {
		if *path != "" {
			*path = "named"
		}
	}
	settings, err := c.YAML()
	if err != nil {
		return "", err
	}
	folder.HashText(h, string(settings))
	folder.HashText(h, s.Data.Words.Fingerprint())
	for _, set := range []*captioner.Set{s.Data.Train, s.Data.Validation} {
		if set == nil {
			continue
		}
		features := make([]float32, set.Frames()*set.Width())
		for clip := range set.Clips() {
			folder.HashText(h, set.ID(clip))
			for _, text := range set.References(clip) {
				folder.HashText(h, text)
			}
			if clip != 0 && clip != set.Clips()/2 && clip != set.Clips()-1 {
				continue
			}
			if err := set.Features(clip, features); err != nil {
				return "", err
			}
			for _, v := range features {
				folder.HashText(h, strconv.FormatFloat(float64(v), 'x', -1, 32))
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
