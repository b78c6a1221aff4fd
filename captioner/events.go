package captioner

import (
	"time"

	"nmn/captioner/metrics"
	"nmn/train"
)

// Observer receives the events of a captioner that learns.
type Observer = train.ObserverOf[StepDone, EpochDone, Evaluated]

type observers = train.Observers[StepDone, EpochDone, Evaluated]

// StepDone is one update of the parameters. Its loss is the mean over captions of the sum over their words, EOS
// among them.
type StepDone struct {
	train.Progress
	Captions, Words int // of this step; EOS is a word
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

// Evaluated is a validation.
type Evaluated struct {
	Epoch, Step int
	Scores      metrics.Scores // what Options.Validate has returned
	Best        bool           // no validation before it was as good
	Stale       int            // validations since the best one
	Duration    time.Duration
}
