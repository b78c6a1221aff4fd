package train

import (
	"time"

	"nmn/eval"
	"nmn/loader"
)

// Observer is told what happens while a stage runs. Every function may be nil, is called from the
// goroutine of Run, and delays it.
type Observer struct {
	Step      func(StepDone)
	Epoch     func(EpochDone)
	Evaluated func(Evaluated)
	Saved     func(Saved)
	Bad       func(BadSamples)
}

// StepDone is one update of the parameters.
type StepDone struct {
	Epoch, Step  int     // from 1
	Steps        int     // of the whole stage
	Loss         float64 // mean over bags of the sum over classes, nats, before the update
	LearningRate float64
	GradNorm     float64 // before clipping
	Bags, Images int     // of this step; an image is a frame
	// DataWait is the part of Duration that the step waited for the loader.
	DataWait, Duration time.Duration
	DeviceBytes        int
	// Log tells that the step falls on Config.LogSteps.
	Log bool
}

// ImagesPerSecond is the speed of the step.
func (s StepDone) ImagesPerSecond() float64 {
	if s.Duration <= 0 {
		return 0
	}
	return float64(s.Images) / s.Duration.Seconds()
}

// EpochDone is the end of an epoch.
type EpochDone struct {
	Epoch, Step        int
	Loss               float64       // mean over the bags of the epoch, each at its own step
	Bags, Images       int           // of the epoch
	BadSamples         int           // left out by this process so far
	DataWait, Duration time.Duration // of this process's part of the epoch
}

// Evaluated is a validation.
type Evaluated struct {
	Epoch, Step int
	Result      *eval.Result
	Scores      *Scores // of the validation set, that Result is of
	// Best tells that the checkpoint of this step joins the best, Value is its measure BestBy.
	Best     bool
	Value    float64
	Duration time.Duration
}

// Saved is a checkpoint on disk.
type Saved struct {
	Epoch, Step int
	Path        string
	Best        bool // it was also kept as one of the best
	Bytes       int64
	Duration    time.Duration
}

// BadSamples tells that bags could not be read and were left out.
type BadSamples struct {
	New   []loader.BadSample // since the last of these events
	Count int                // different bags of training and validation in the stage so far, of this process
}

// observers tells all of them.
type observers []Observer

func (all observers) step(e StepDone) {
	for i := range all {
		if f := all[i].Step; f != nil {
			f(e)
		}
	}
}

func (all observers) epoch(e EpochDone) {
	for i := range all {
		if f := all[i].Epoch; f != nil {
			f(e)
		}
	}
}

func (all observers) evaluated(e Evaluated) {
	for i := range all {
		if f := all[i].Evaluated; f != nil {
			f(e)
		}
	}
}

func (all observers) saved(e Saved) {
	for i := range all {
		if f := all[i].Saved; f != nil {
			f(e)
		}
	}
}

func (all observers) bad(e BadSamples) {
	for i := range all {
		if f := all[i].Bad; f != nil {
			f(e)
		}
	}
}
