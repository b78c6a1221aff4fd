package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"nmn/internal/setting"
	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/loader/dataset"
	"nmn/ranks"
	"nmn/train"
)

// Session is a device with the data of a configuration, on which arms are trained and models evaluated. It is for one
// goroutine at a time.
type Session struct {
	Config  Config          // as it was completed, with the precision of the device
	Backend kernels.Backend // the device
	Data    *dataset.Splits
	Log     *slog.Logger
	Observe Observer

	// Backbone is the net that produced the features; nil if the data are no such features. FeatureTime is the estimated
	// time to compute the features of all pictures, if the session was opened to estimate it; else 0.
	Backbone    *train.Backbone
	FeatureTime time.Duration
	Ranks       *Ranks

	prepared bool
	restart  bool // Options.Restart
	forward  bool // Options.FeaturesAlone

	// The sessions that With returns share these.
	weights *WeightLoader
	alike   *lookAlikes
}

// Options are what a session of classifiers needs in addition to a configuration.
type Options = OptionsOf[train.Observer]

// OptionsOf are what a session needs in addition to a configuration; an O observes its steps.
type OptionsOf[O any] struct {
	Log      *slog.Logger // nil for nowhere
	Observer ObserverOf[O]
	// Group are the ranks that train together; nil for this process alone. All ranks make the same calls, and see the same
	// run folder.
	Group ranks.Group
	// Features is a folder that keeps the features that a backbone takes of pictures; empty for none. Those that it has
	// are not computed again. RunDir is the folder of the run or of the experiment that is to be written: it keeps them in
	// its FeaturesFolder, and one with another run is refused before any are taken.
	Features, RunDir string
	// Finished is the folder of a finished run whose data are read again, with the features that it keeps; empty for none.
	Finished string
	Restart  bool // has Train remove the run in the folder before it begins
	// SampleFeatures times a backbone on a few pictures, and goes on with features that mean nothing. Pictures that cannot
	// be used are not looked for.
	SampleFeatures bool
	// FeaturesAlone is set if the session extracts features with a backbone and trains nothing. The CPU computes them in
	// bf16 too.
	FeaturesAlone bool
	// FeaturesTaken is called with the number of pictures that a backbone has processed, and of all; may be nil.
	FeaturesTaken func(done, of int)
}

// newSession makes a session without device and data.
func newSession(o Options) *Session {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	s := &Session{restart: o.Restart, Log: o.Log, Observe: o.Observer, forward: o.FeaturesAlone, alike: &lookAlikes{},
		Ranks: &Ranks{group: ranks.Of(o.Group), log: o.Log}}
	s.weights = &WeightLoader{Log: o.Log, Notify: s.Notify}
	return s
}

func (s *Session) nets() nets {
	return nets{config: s.Config, data: s.Data, backend: s.Backend, weights: s.weights}
}

// openDevice opens the device of the configuration, notes its precision there, and reports which device it is.
func (s *Session) openDevice() error {
	asked := s.Config.Run.Precision
	features := s.forward || s.Config.Net.Backbone != "" // nets on features are float32 in every precision
	backend, note, err := OpenDevice(&s.Config.Run, s.Ranks.group.Local(), features, s.Log)
	if err != nil {
		return err
	}
	if asked == tensor.Auto {
		s.Config.note("run.precision", "the fastest that the device has")
	}
	s.Backend = backend
	s.Notify(DeviceMessage(backend, note))
	return nil
}

// Notify passes a message to the session's observer.
func (s *Session) Notify(m Message) { s.Observe.Notify(m) }

// OpenDevice opens the device of a configuration and sets the precision there to that of the device. note says why
// it is not another one, or is empty. local is the number of this process on its host. features is set for nets that do
// not learn, which the CPU also computes in bf16.
func OpenDevice(r *Resources, local int, features bool, log *slog.Logger) (backend kernels.Backend, note string,
	err error) {
	backend, note, err = kernels.Open(kernels.Config{Device: r.Device, Local: local, Threads: r.Threads,
		Precision: r.Precision, Features: features,
		ConvExact: r.ConvExact, SyncLaunches: r.SyncLaunches, NoGraphs: r.NoGraphs, NVTX: r.NVTX, Logger: log})
	switch {
	case errors.Is(err, kernels.ErrUnsupported):
		return nil, "", err
	case err != nil:
		return nil, "", &setting.Error{Key: "run.device", Reason: err}
	}
	r.Precision = backend.Precision()
	log.Info("device", "name", backend.Name(), "precision", r.Precision, "note", note)
	return backend, note, nil
}

// DeviceMessage says which device is used and, if there is a note, why another one is not. In a program that was built
// for graphics cards the note is not a mere detail: its user has a card, and needs to be warned that it idles.
func DeviceMessage(backend kernels.Backend, note string) Message {
	if note == "" {
		return Message{Topic: "device", Text: backend.Name(), Detail: true}
	}
	return Message{Topic: "device", Text: fmt.Sprintf("%s (%s)", backend.Name(), note), Detail: !kernels.HasCUDA}
}

// Close closes device and data.
func (s *Session) Close() error {
	var err error
	if s.Data != nil {
		err = s.Data.Close()
	}
	if s.Backend != nil {
		err = cmp.Or(err, s.Backend.Close())
	}
	return err
}

// With returns a session with another configuration, on the same data and device. If that learns the frames of videos
// one by one, each frame is a training bag, and the other splits are scored by their frames.
func (s *Session) With(ctx context.Context, c Config) (*Session, error) {
	data, err := s.Data.ByFrame(ctx, c.ByFrame())
	if err != nil {
		return nil, err
	}
	other := *s
	other.Config, other.Data = c, data
	return &other, nil
}
