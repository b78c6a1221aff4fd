package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"nmn/internal/setting"
	"nmn/kernels"
	"nmn/train"
)

// errInterrupted ends work that its context has ended, after what was done has been saved.
var errInterrupted = errors.New("interrupted")

// observer is told what people may want to know while a session works. Every function may be nil.
type observer struct {
	// message is told what happens.
	message func(message)
	// training is told that the training of a net begins, and returns who watches its steps.
	training func(training) []train.Observer
	// trained is told that it has ended.
	trained func()
}

// message is something that people may want to know.
type message struct {
	// topic is what it is about in a word, such as device, data or rates; empty where the text says so.
	topic string
	text  string // a line or several
	// detail is of interest for those who watch or have asked for details, and for nobody else.
	detail bool
}

// training is a training that begins.
type training struct {
	title  string // for people
	arm    armName
	mil    bool
	noise  float64 // share of the captions that are replaced
	seed   uint64
	device string
}

// session is a device with the data of a configuration, on which arms are trained.
type session struct {
	backend kernels.Backend
	data    *dataSets
	log     *slog.Logger
	observe observer

	weightsShown bool // what was taken from a file of weights: every net of an experiment takes the same
}

// sessionOptions are what a session needs beside a configuration.
type sessionOptions struct {
	log     *slog.Logger // nil for nowhere
	observe observer
}

// openSession opens the device and the data of a configuration, in which it notes the precision of the device.
func openSession(ctx context.Context, c *config, o sessionOptions) (*session, error) {
	if o.log == nil {
		o.log = slog.New(slog.DiscardHandler)
	}
	s := &session{log: o.log, observe: o.observe}
	backend, note, err := openDevice(&c.Run, s.log)
	if err != nil {
		return nil, err
	}
	s.backend = backend
	s.tell(deviceMessage(backend, note))
	if s.data, err = c.openData(ctx, s.log); err == nil {
		err = c.startRates(s.data)
	}
	if err != nil {
		return nil, cmp.Or(err, s.Close())
	}
	s.tell(message{text: s.data.describe(), detail: true})
	return s, nil
}

func (s *session) tell(m message) {
	if s.observe.message != nil {
		s.observe.message(m)
	}
}

// openDevice opens the device of a configuration and sets the precision there to that of the device. note says why
// it is not another one, or is empty.
func openDevice(r *runConfig, log *slog.Logger) (backend kernels.Backend, note string, err error) {
	backend, note, err = kernels.Open(kernels.Config{Device: r.Device, Threads: r.Threads, Precision: r.Precision,
		ConvExact: r.ConvExact, SyncLaunches: r.SyncLaunches, NoGraphs: r.NoGraphs, NVTX: r.NVTX, Logger: log})
	switch {
	case errors.Is(err, kernels.ErrUnsupported):
		return nil, "", err
	case err != nil:
		return nil, "", &setting.Error{Field: "run.device", Err: err}
	}
	r.Precision = backend.Precision()
	log.Info("device", "name", backend.Name(), "precision", r.Precision, "note", note)
	return backend, note, nil
}

// deviceMessage tells of a device. Who has a program for graphics cards has a card, and wants to know that it idles.
func deviceMessage(backend kernels.Backend, note string) message {
	if note == "" {
		return message{topic: "device", text: backend.Name(), detail: true}
	}
	return message{topic: "device", text: fmt.Sprintf("%s (%s)", backend.Name(), note), detail: !kernels.HasCUDA}
}

// Close closes device and data.
func (s *session) Close() error {
	var err error
	if s.data != nil {
		err = s.data.Close()
	}
	return cmp.Or(err, s.backend.Close())
}

// at is the session as runs of a configuration see it: where they learn frames of videos one by one, the
// training split has a bag for each frame, and the others are scored by theirs.
func (s *session) at(ctx context.Context, c *config) (*session, error) {
	data, err := s.data.at(ctx, c.byFrame())
	if err != nil {
		return nil, err
	}
	level := *s
	level.data = data
	return &level, nil
}

// arm is the run of an arm in a folder.
func (s *session) arm(c config, dir, from string, r *recipe) *armRun {
	return &armRun{session: s, config: c, data: s.data, dir: dir, from: from, recipe: r}
}

// recipe of a group of arms with its folder; nil for the paper's plain form.
func (s *session) recipe(c config, dir string) *recipe {
	return newRecipe(recipeOptions{settings: c.settings(), data: s.data, dir: dir, trainer: s.arm(c, dir, "", nil), log: s.log,
		message: func(topic, text string) { s.tell(message{topic: topic, text: text}) }})
}

// standardise brings features to one scale, where the configuration asks for it, and tells how many count for
// nothing then.
func (s *session) standardise(ctx context.Context, c *dataConfig) error {
	constant, err := s.data.standardise(ctx, c)
	if constant > 0 {
		s.tell(message{text: fmt.Sprintf("        %d features are the same in all training rows and count for nothing", constant), detail: true})
	}
	return err
}

// prepare brings data and configuration to what training needs: features on one scale, and the plain form of the
// noise model where the data cannot tell rates and nobody has asked for them. It reports whether it did the latter.
func (s *session) prepare(ctx context.Context, c *config) (plain bool, err error) {
	s.tellOneSided()
	if err := s.standardise(ctx, &c.Data); err != nil {
		return false, err
	}
	why := c.settle(s.data)
	if why != "" {
		s.tell(message{topic: "recipe", text: "paper: " + why})
	}
	return why != "", nil
}

// tellOneSided tells which words the training labels tell nothing of, before they are trained on.
func (s *session) tellOneSided() {
	d := s.data
	never, always := oneSided(d.train.Vocabulary.Texts(), d.census.Positive, d.census.Bags)
	if never == nil && always == nil {
		return
	}
	s.log.Info("one-sided labels", "split", d.train.Name, "never", never, "always", always)
	s.tell(message{topic: "labels", text: fmt.Sprintf("of %d words %s", d.train.Vocabulary.Len(), describeOneSided(never, always))})
}

// tellCost tells what a recipe costs before anything starts.
func (s *session) tellCost(c *config, arms ...armName) {
	settings := c.settings()
	if line := settings.cost(arms); line != "" {
		s.tell(message{topic: "recipe", text: line})
	}
}
