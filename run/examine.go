package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"runtime"
	"strings"

	"nmn/kernels"
	"nmn/loader/dataset"
	"nmn/loader/doctor"
)

// Examination is what there is to know of the data of a run before it begins, with everything that is wrong with it.
type Examination struct {
	Data dataset.Kind `json:"data"`
	*doctor.Report
	Stated string `json:"stated,omitempty"` // how a manifest states its labels, for people
}

// WriteData prints a summary of the data: the report's table, and how a manifest gives its labels.
func (e *Examination) WriteData(out io.Writer) error {
	if err := e.Report.WriteData(out); err != nil || e.Stated == "" {
		return err
	}
	_, err := fmt.Fprintln(out, strings.ReplaceAll(e.Stated, "\n        ", "\n"))
	return err
}

// ExamineOptions say how to look at the data of a run.
type ExamineOptions struct {
	Sample   int // pictures of each split that are decoded, drawn by the seed of the data; 0 for all
	Log      *slog.Logger
	Message  func(Message)          // is called with the device and what the data decides; may be nil
	Found    func([]doctor.Finding) // is called with what labels show, before pictures are read; may be nil
	Progress func(doctor.Progress)  // is called with how far the look at the data is; may be nil
}

// Examine looks at the data of a configuration, and opens what else a run needs. Nothing is trained. Data that cannot
// be opened is a finding, not a failure of the look.
func Examine(ctx context.Context, c *Config, o ExamineOptions) (*Examination, error) {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	opening := doctor.Listen(o.Log.Handler())
	config := *c
	data, err := config.openLeniently(ctx, opening.Logger())
	if interrupted := ctx.Err(); interrupted != nil {
		return nil, interrupted
	}
	found := &Examination{Data: config.Data.Set, Report: &doctor.Report{Findings: []doctor.Finding{}}}
	if err != nil {
		found.Findings = append(found.Findings, failure("unreadable-data", "the data cannot be opened", err))
		return found, nil
	}
	defer func() { _ = data.Close() }() // it was only read
	found.Report, err = doctor.Examine(ctx, splitsOf(data), config.lookAt(data, &o))
	if err != nil {
		return nil, err
	}
	if config.Data.Set == dataset.Manifest {
		found.Stated = data.Labels
	}
	found.Findings = append(found.Findings, opening.Findings(found.Report, config.Data.MaxBadSamples)...)
	if doctor.Count(found.Findings, doctor.Error) == 0 {
		if err := config.opens(ctx, data, &o); err != nil {
			if interrupted := ctx.Err(); interrupted != nil {
				return nil, interrupted
			}
			found.Findings = append(found.Findings, failure("no-run", "a run does not begin", err))
		}
	}
	doctor.Sort(found.Findings)
	return found, nil
}

// failure is the finding that an error stops a run. Its message says itself what to do, but for a driver.
func failure(kind, what string, err error) doctor.Finding {
	line := strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	cure := "as the message says; nmn train would stop with it"
	if errors.Is(err, kernels.ErrNoDriver) || errors.Is(err, kernels.ErrOldDriver) {
		cure = "install NVIDIA's driver 580 or newer, see docs/guide/cuda.md; or let `run.device` be cpu"
	}
	return doctor.Finding{Weight: doctor.Error, Kind: kind, Text: what + ": " + line, Cure: cure}
}

// openLeniently opens the data as a run does that refuses nothing, so that everything can be looked at: what a run
// would refuse is then found there.
func (c *Config) openLeniently(ctx context.Context, log *slog.Logger) (*dataset.Splits, error) {
	lenient := *c
	lenient.Data.MaxBadSamples, lenient.Run.LabelMemory = math.MaxInt32, dataset.HoldAll
	lenient.Data.Features.Missing, lenient.Data.PackedLabels = dataset.MissingMean, true
	data, err := lenient.OpenData(ctx, dataset.Options{Log: log})
	c.Data.ManifestOfClips = lenient.Data.ManifestOfClips
	return data, err
}

func splitsOf(data *dataset.Splits) []doctor.Split {
	splits := []doctor.Split{{Name: "train", Set: data.Train}}
	if data.Validation != nil {
		splits = append(splits, doctor.Split{Name: "validation", Set: data.Validation})
	}
	if data.Test != nil {
		splits = append(splits, doctor.Split{Name: "test", Set: data.Test})
	}
	return splits
}

// lookAt says how the data is looked at, and what the run would bear.
func (c *Config) lookAt(data *dataset.Splits, o *ExamineOptions) doctor.Options {
	workers := c.Run.Workers
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	return doctor.Options{
		Sample: o.Sample, Seed: c.Data.Seed, Workers: workers,
		Orientation: c.Data.Orientation, MaxPixels: c.Data.MaxPixels, MaxBadSamples: c.Data.MaxBadSamples,
		Missing: c.Data.Features.Missing == dataset.MissingMean, Standardise: c.Data.Features.Standardise,
		Named: c.Data.Vocabulary != "" || data.LabelsAreNames, Progress: o.Progress, Found: o.Found,
		JoinLabels: c.Data.Set == dataset.Manifest || c.Data.Set == dataset.Features,
	}
}

// opens opens all that a run needs in addition to its data: device, features of a backbone, noise rates and
// nets. They are checked and not used.
func (c Config) opens(ctx context.Context, data *dataset.Splits, o *ExamineOptions) (err error) {
	if err := c.ValidateLoss(); err != nil {
		return err
	}
	s := newSession(Options{Log: o.Log, Observer: Observer{Message: o.Message}})
	s.Config, s.Data = c, data
	s.Config.Train.BatchSize = cmp.Or(s.Config.Train.BatchSize, 1) // automatic ones are found by steps
	s.Config.Train.BatchSizeMIL = cmp.Or(s.Config.Train.BatchSizeMIL, 1)
	if err := s.openDevice(); err != nil {
		return err
	}
	backend := s.Backend
	defer func() { err = cmp.Or(err, backend.Close()) }()
	if err := s.takeFeatures(ctx, "", true, nil); err != nil { // of a few pictures
		return err
	}
	if err := s.Config.StartNoiseRates(data); err != nil {
		return err
	}
	if _, err := s.settle(ctx); err != nil {
		return err
	}
	if err := s.Fits(); err != nil {
		return err
	}
	if s, err = s.With(ctx, s.Config); err != nil {
		return err
	}
	arms, err := s.Config.PlannedArms()
	if err != nil {
		return err
	}
	nets := s.nets()
	for _, arm := range arms {
		net, err := nets.blank(arm)
		if err == nil {
			err = net.Close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}
