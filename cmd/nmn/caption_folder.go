package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"nmn/captioning"
	"nmn/eval/caption"
	"nmn/internal/durable"
	"nmn/run"
)

// wordsName is the vocabulary of a captioner in its folder.
const wordsName = "words.txt"

// captionOutcome is what a complete run has found: result.json.
type captionOutcome struct {
	Fingerprint string  `json:"fingerprint"`
	Epochs      int     `json:"epochs"`
	Steps       int     `json:"steps"`
	Loss        float64 `json:"loss"` // of the last epoch, for each caption
	Seconds     float64 `json:"seconds"`
	Checkpoint  string  `json:"checkpoint"` // the one to generate with
	Words       int     `json:"words"`
	Clips       int     `json:"clips"`
	Captions    int     `json:"captions"`
	// Validation are the scores of the best checkpoint; nil where nothing was held out.
	Validation *caption.Scores `json:"validation,omitempty"`
	Build      run.Build       `json:"build"`
}

func readCaptionOutcome(dir string) (*captionOutcome, error) {
	return durable.LoadJSON[captionOutcome](filepath.Join(dir, run.ResultFile), "remove the file to score again")
}

// fingerprint identifies what a run computes: settings, words, captions, and features of three clips.
func (r *captionRun) fingerprint() (string, error) {
	h := sha256.New()
	c := r.config
	c.Device, c.Threads, c.Build, c.Train.LogSteps = "", 0, nil, 0
	settings, err := c.yaml()
	if err != nil {
		return "", err
	}
	run.HashText(h, string(settings))
	run.HashText(h, r.words.Fingerprint())
	for _, set := range []*captioning.Set{r.train, r.validation} {
		if set == nil {
			continue
		}
		features := make([]float32, set.Frames()*set.Width())
		for clip := range set.Clips() {
			run.HashText(h, set.ID(clip))
			for _, text := range set.References(clip) {
				run.HashText(h, text)
			}
			if clip != 0 && clip != set.Clips()/2 && clip != set.Clips()-1 {
				continue
			}
			if err := set.Features(clip, features); err != nil {
				return "", err
			}
			for _, v := range features {
				run.HashText(h, strconv.FormatFloat(float64(v), 'x', -1, 32))
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// captionMayChange are the settings that a run may be continued with.
var captionMayChange = []string{"device", "threads", "build.", "train.epochs", "train.max_steps", "train.log_steps", "train.checkpoint_steps"}

// prepare makes the folder. One with another run, or with another vocabulary, is refused.
func (r *captionRun) prepare() error {
	there, err := readCaptionConfig(r.dir)
	changed := func() (key, was, is string) {
		return run.ChangedKey(run.Flatten(there), run.Flatten(&r.config), captionMayChange)
	}
	if err := run.ClaimFolder(r.dir, err, changed, isCaptionFile); err != nil {
		return err
	}
	words := filepath.Join(r.dir, wordsName)
	if durable.Exists(words) {
		there, err := captioning.ReadWords(words)
		if err == nil {
			err = there.Same(r.words)
		}
		if err != nil {
			return fmt.Errorf("%s holds another run: its vocabulary is another one: %w", r.dir, err)
		}
	} else if err := r.words.WriteFile(words); err != nil {
		return err
	}
	c := r.config
	b := run.ThisBuild()
	c.Build = &b
	data, err := c.yaml()
	if err != nil {
		return err
	}
	return durable.Save(filepath.Join(r.dir, run.ConfigFile), data)
}

// isCaptionFile tells the files of a captioner's folder that are written aside, but for checkpoints.
func isCaptionFile(name string) bool {
	return slices.Contains([]string{run.ConfigFile, wordsName, run.ResultFile, run.SummaryFile, run.LogFile}, name)
}

func readCaptionConfig(dir string) (*captionConfig, error) {
	path := filepath.Join(dir, run.ConfigFile)
	file, err := run.ReadDocument(path)
	if err != nil {
		return nil, err
	}
	var c captionConfig
	return &c, file.Decode(&c)
}
