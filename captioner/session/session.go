package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"nmn/captioner"
	"nmn/captioner/metrics"
	"nmn/captioner/s2vt"
	"nmn/internal/setting"
	"nmn/kernels"
	"nmn/run"
)

// Observer receives messages and progress while a captioner is trained.
type Observer = run.ObserverOf[captioner.Observer]

// Options are the resources of a session.
type Options = run.OptionsOf[captioner.Observer]

// Session is a device with the data of a configuration, on which a captioner is trained. Sessions on sets that were
// opened elsewhere, and on a device that several of them share, are made without Open; their owner closes both.
type Session struct {
	Config  Config
	Backend kernels.Backend
	Data    *Data
	Log     *slog.Logger
	Observe Observer
	Title   string // for people, while it is trained

	restart bool // Options.Restart
}

// Open checks a configuration and opens its data and its device, in this order: a mistake in the data is seen before
// a device is waited for. Mistakes in the configuration are a *setting.Error. Close the session.
func Open(ctx context.Context, c Config, o Options) (*Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	switch {
	case c.Data.Train.Features == "":
		return nil, setting.Errorf("data.train.features", "data.train.features is empty: name a file of features")
	case c.Data.Train.Captions == "":
		return nil, setting.Errorf("data.train.captions", "data.train.captions is empty: name a file of captions")
	}
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	data, err := c.Data.OpenData(ctx, c.Words, o.Observer.Message)
	if c.Build != nil && errors.Is(err, fs.ErrNotExist) { // the configuration is that of a run
		err = fmt.Errorf("%w; where the data have moved, name their new place: the run goes on if the content is the same, "+
			"and keeps the place", err)
	}
	if err != nil {
		return nil, err
	}
	resources := c.Resources()
	backend, note, err := run.OpenDevice(&resources, 0, false, log)
	if mistake := new(setting.Error); errors.As(err, &mistake) {
		err = &setting.Error{Key: "device", Reason: mistake.Reason} // its key in this configuration
	}
	if err != nil {
		return nil, errors.Join(err, data.Close())
	}
	o.Observer.Notify(run.DeviceMessage(backend, note))
	return &Session{Config: c, Backend: backend, Data: data, Log: log, Observe: o.Observer, Title: "captioner",
		restart: o.Restart}, nil
}

// Close closes device and data.
func (s *Session) Close() error { return cmp.Or(s.Backend.Close(), s.Data.Close()) }

// Model is the net for the data.
func (s *Session) Model() s2vt.Config {
	return s.Config.Model(s.Data.Train.Frames(), s.Data.Train.Width(), s.Data.Words.Len())
}

func (s *Session) newNet() (*s2vt.Net, error) {
	net, err := s2vt.New(s.Model(), s.Backend)
	if err != nil {
		return nil, err
	}
	if err := net.Init(s.Config.Train.Seed); err != nil {
		return nil, errors.Join(err, net.Close())
	}
	return net, nil
}

// trainerOptions returns the options of a trainer, without observers. dir is empty for a trainer that saves
// nothing.
func (s *Session) trainerOptions(net *s2vt.Net, dir string) captioner.Options {
	o := captioner.Options{Config: s.Config.Train, Net: net, Words: s.Data.Words, Data: s.Data.Train, Directory: dir}
	if s.Data.Validation == nil {
		o.Config.ValidateEpochs, o.Config.Patience = 0, 0
		return o
	}
	o.Validate = s.score
	return o
}

// score judges a net by the validation clips.
func (s *Session) score(ctx context.Context, net *s2vt.Net) (metrics.Scores, error) {
	j := captioner.Judge{Words: s.Data.Words, Data: s.Data.Validation, Generation: s.Config.Validation.Generation()}
	result, _, err := j.Score(ctx, net)
	if err != nil {
		return metrics.Scores{}, err
	}
	return result.All, nil
}
