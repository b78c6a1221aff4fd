package captioning

import "time"

// Observer is told what happens while a captioner learns. Every function may be nil, is called from the
// goroutine of Run, and delays it.
type Observer struct {
	Step      func(StepDone)
	Epoch     func(EpochDone)
	Validated func(Validated)
	Saved     func(Saved)
}

// StepDone is one update of the parameters.
type StepDone struct {
	Epoch, Step     int     // from 1
	Steps           int     // of the whole training
	Loss            float64 // mean over captions of the sum over their words, EOS among them, nats, before the update
	LearningRate    float64
	GradNorm        float64 // before clipping
	Captions, Words int     // of this step; EOS is a word
	// DataWait is the part of Duration that the step waited for features.
	DataWait, Duration time.Duration
	DeviceBytes        int
	// Log tells that the step falls on Config.LogSteps, or is the first or the last.
	Log bool
}

// WordLoss is the loss for each word, nats.
func (s StepDone) WordLoss() float64 { return s.Loss * float64(s.Captions) / float64(max(s.Words, 1)) }

// EpochDone is the end of an epoch.
type EpochDone struct {
	Epoch, Step     int
	Loss            float64 // mean over the captions of the epoch, each at its own step
	WordLoss        float64 // the same for each word
	Captions, Words int
	Duration        time.Duration // of this process's part of the epoch
}

// Validated is a validation.
type Validated struct {
	Epoch, Step int
	CIDEr       float64 // what Options.Validate has returned
	Best        bool    // no validation before it was as good
	Stale       int     // validations since the best one
	Duration    time.Duration
}

// Saved is a checkpoint on disk.
type Saved struct {
	Epoch, Step int
	Path        string
	Best        bool // it is also the best
	Bytes       int64
	Duration    time.Duration
}

// observers tells all of them.
type observers []Observer

func (all observers) step(e StepDone) {
	for _, o := range all {
		if o.Step != nil {
			o.Step(e)
		}
	}
}

func (all observers) epoch(e EpochDone) {
	for _, o := range all {
		if o.Epoch != nil {
			o.Epoch(e)
		}
	}
}

func (all observers) validated(e Validated) {
	for _, o := range all {
		if o.Validated != nil {
			o.Validated(e)
		}
	}
}

func (all observers) saved(e Saved) {
	for _, o := range all {
		if o.Saved != nil {
			o.Saved(e)
		}
	}
}
