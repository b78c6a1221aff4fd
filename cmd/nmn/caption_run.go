package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"nmn/captioning"
	"nmn/eval/caption"
	"nmn/internal/durable"
	"nmn/kernels"
	"nmn/model/s2vt"
	"nmn/run"
	"nmn/train"
)

// captionRun is one captioner that is trained in one folder.
type captionRun struct {
	program    *program
	config     captionConfig
	words      *captioning.Words
	train      *captioning.Set
	validation *captioning.Set // nil for none
	dir        string
	title      string // for people

	features []*captioning.FrameFile // that were opened for it
	backend  kernels.Backend
	last     caption.Scores // of the last validation
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
	defer func() { err = cmp.Or(err, net.Close()) }()
	if o, err = r.learn(ctx, net); err != nil {
		return nil, false, err
	}
	o.Fingerprint, o.Build = identity, run.ThisBuild()
	return o, false, r.finish(ctx, o)
}

// model is the net for the data.
func (r *captionRun) model() s2vt.Config {
	return r.config.model(r.train.Frames(), r.train.Width(), r.words.Len())
}

// newNet makes it.
func (r *captionRun) newNet() (*s2vt.Net, error) {
	net, err := s2vt.New(r.model(), r.backend)
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
	defer func() { err = cmp.Or(err, trainer.Close()) }()
	step := -1
	if last := filepath.Join(r.dir, train.LastName); durable.Exists(last) {
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
	if err = cmp.Or(err, records.close()); err != nil {
		if errors.Is(err, train.ErrInterrupted) {
			err = fmt.Errorf("%w: %w", run.ErrInterrupted, err)
		}
		return nil, err
	}
	return &captionOutcome{Epochs: reached.Position.Epoch - 1, Steps: reached.Position.Step, Loss: records.summary.Last("epoch", "loss"), Seconds: time.Since(began).Seconds(),
		Words: r.words.AtLeast(0), Clips: r.train.Clips(), Captions: r.train.Pairs()}, nil
}

// finish scores the best checkpoint and writes the result, which comes last.
func (r *captionRun) finish(ctx context.Context, o *captionOutcome) error {
	o.Checkpoint = train.LastName
	if r.validation != nil && durable.Exists(filepath.Join(r.dir, train.BestName)) {
		o.Checkpoint = train.BestName
	}
	if r.validation != nil {
		scores, err := r.score(ctx, filepath.Join(r.dir, o.Checkpoint))
		if err != nil {
			return err
		}
		o.Validation = scores
	}
	return durable.SaveJSON(filepath.Join(r.dir, run.ResultFile), o)
}

func (r *captionRun) score(ctx context.Context, checkpoint string) (_ *caption.Scores, err error) {
	net, _, err := captioning.OpenNet(checkpoint, r.backend)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	result, _, err := r.judge().Score(ctx, net)
	if err != nil {
		return nil, err
	}
	return &result.All, nil
}
