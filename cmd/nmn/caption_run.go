package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"nmn/captioning"
	"nmn/durable"
	"nmn/eval/caption"
	"nmn/kernels"
	"nmn/model/s2vt"
	"nmn/train"
)

// wordsName is the vocabulary of a captioner in its folder.
const wordsName = "words.txt"

// captionRun is one captioner that is trained in one folder.
type captionRun struct {
	program    *program
	config     captionConfig
	words      *captioning.Words
	train      *captioning.Set
	validation *captioning.Set // nil for none
	dir        string
	title      string // for people

	backend kernels.Backend
	last    caption.Scores // of the last validation
}

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
	Build      build           `json:"build"`
}

// run trains the captioner, or goes on where it was interrupted. What is complete is not run again; reused
// tells.
func (r *captionRun) run(ctx context.Context) (o *captionOutcome, reused bool, err error) {
	identity, err := r.fingerprint()
	if err != nil {
		return nil, false, err
	}
	if o, err = readCaptionOutcome(r.dir); err != nil {
		return nil, false, err
	}
	if o != nil && o.Fingerprint == identity {
		return o, true, nil
	}
	if err := r.prepare(); err != nil {
		return nil, false, err
	}
	net, err := r.newNet()
	if err != nil {
		return nil, false, err
	}
	defer func() { err = firstError(err, net.Close()) }()
	if o, err = r.learn(ctx, net); err != nil {
		return nil, false, err
	}
	o.Fingerprint, o.Build = identity, thisBuild()
	return o, false, r.finish(ctx, o)
}

// newNet makes a net for the data.
func (r *captionRun) newNet() (*s2vt.Net, error) {
	net, err := s2vt.New(r.config.model(r.train.Frames(), r.train.Width(), r.words.Len()), r.backend)
	if err != nil {
		return nil, err
	}
	if err := net.Init(r.config.Train.Seed); err != nil {
		return nil, errors.Join(err, net.Close())
	}
	return net, nil
}

// options are those of the trainer, without observers.
func (r *captionRun) options(net *s2vt.Net) captioning.Options {
	o := captioning.Options{Config: r.config.Train, Net: net, Words: r.words, Data: r.train, Directory: r.dir}
	if r.validation == nil {
		o.Config.ValidateEpochs, o.Config.Patience = 0, 0
		return o
	}
	o.Validate = func(ctx context.Context, net *s2vt.Net) (float64, error) {
		result, _, err := r.judge().Score(ctx, net)
		if err != nil {
			return 0, err
		}
		r.last = result.All
		return r.last.CIDErD, nil
	}
	return o
}

func (r *captionRun) judge() *captioning.Judge {
	return &captioning.Judge{Words: r.words, Data: r.validation, Generation: r.config.Validation.generation()}
}

// learn trains to the end, from the last checkpoint of the folder where there is one.
func (r *captionRun) learn(ctx context.Context, net *s2vt.Net) (o *captionOutcome, err error) {
	trainer, err := captioning.New(r.options(net))
	if err != nil {
		return nil, err
	}
	defer func() { err = firstError(err, trainer.Close()) }()
	step := -1
	if last := filepath.Join(r.dir, train.LastName); exists(last) {
		if err := trainer.Resume(last); err != nil {
			return nil, err
		}
		step = trainer.Position().Step
		r.program.log.Info("resumed", "dir", r.dir, "step", step)
	}
	records, err := openCaptionRecords(r, step)
	if err != nil {
		return nil, err
	}
	trainer.Observers = append(records.observers(), r.watch())
	began := time.Now()
	reached, err := trainer.Run(ctx)
	r.program.status.clear()
	if err = firstError(err, records.close()); err != nil {
		if errors.Is(err, train.ErrInterrupted) {
			err = fmt.Errorf("%w: %w", errInterrupted, err)
		}
		return nil, err
	}
	return &captionOutcome{Epochs: reached.Position.Epoch - 1, Steps: reached.Position.Step, Loss: records.loss, Seconds: time.Since(began).Seconds(),
		Words: r.words.AtLeast(0), Clips: r.train.Clips(), Captions: r.train.Pairs()}, nil
}

// finish scores the best checkpoint and writes the result, which comes last.
func (r *captionRun) finish(ctx context.Context, o *captionOutcome) error {
	o.Checkpoint = train.LastName
	if r.validation != nil && exists(filepath.Join(r.dir, train.BestName)) {
		o.Checkpoint = train.BestName
	}
	if r.validation != nil {
		scores, err := r.score(ctx, filepath.Join(r.dir, o.Checkpoint))
		if err != nil {
			return err
		}
		o.Validation = scores
	}
	data, err := json.MarshalIndent(o, "", " ")
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(r.dir, resultName), append(data, '\n'))
}

func (r *captionRun) score(ctx context.Context, checkpoint string) (_ *caption.Scores, err error) {
	net, _, err := captioning.OpenNet(checkpoint, r.backend)
	if err != nil {
		return nil, err
	}
	defer func() { err = firstError(err, net.Close()) }()
	result, _, err := r.judge().Score(ctx, net)
	if err != nil {
		return nil, err
	}
	return &result.All, nil
}

func readCaptionOutcome(dir string) (*captionOutcome, error) {
	path := filepath.Join(dir, resultName)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var o captionOutcome
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, fmt.Errorf("%s: %w; remove the file to score again", path, err)
	}
	return &o, nil
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
	hashText(h, string(settings))
	hashText(h, r.words.Fingerprint())
	for _, set := range []*captioning.Set{r.train, r.validation} {
		if set == nil {
			continue
		}
		features := make([]float32, set.Frames()*set.Width())
		for clip := range set.Clips() {
			hashText(h, set.ID(clip))
			for _, text := range set.References(clip) {
				hashText(h, text)
			}
			if clip != 0 && clip != set.Clips()/2 && clip != set.Clips()-1 {
				continue
			}
			if err := set.Features(clip, features); err != nil {
				return "", err
			}
			for _, v := range features {
				hashText(h, strconv.FormatFloat(float64(v), 'x', -1, 32))
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// captionMayChange are the settings that a run may be continued with.
var captionMayChange = []string{"device", "threads", "build.", "train.epochs", "train.max_steps", "train.log_steps", "train.checkpoint_steps"}

// prepare makes the folder. One with another run, or with another vocabulary, is refused.
func (r *captionRun) prepare() error {
	switch there, err := readCaptionConfig(r.dir); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if key, was, is := changedKey(flatten(there), flatten(&r.config), captionMayChange); key != "" {
			return usagef("%s holds another run: its %s is %s, this one's %s; name another --run-dir, or remove that folder", r.dir, key, was, is)
		}
	}
	if err := os.MkdirAll(r.dir, 0o777); err != nil {
		return err
	}
	if err := r.removeLeftovers(); err != nil {
		return err
	}
	words := filepath.Join(r.dir, wordsName)
	if exists(words) {
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
	b := thisBuild()
	c.Build = &b
	data, err := c.yaml()
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(r.dir, configName), data)
}

// removeLeftovers deletes what a killed process left of the files that it was writing aside.
func (r *captionRun) removeLeftovers() error {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch target, aside := durable.Target(e.Name()); {
		case !aside:
		case target == configName, target == wordsName, target == resultName, target == summaryName, target == logName:
			if err := os.Remove(filepath.Join(r.dir, e.Name())); err != nil {
				return fmt.Errorf("cannot remove an unfinished file: %w", err)
			}
		}
	}
	return nil
}

func readCaptionConfig(dir string) (*captionConfig, error) {
	path := filepath.Join(dir, configName)
	data, err := readConfigFile(path)
	if err != nil {
		return nil, err
	}
	var c captionConfig
	return &c, readConfig(path, data, &c)
}
