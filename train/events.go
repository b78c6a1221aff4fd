package train

import (
	"time"

	"nmn/eval"
	"nmn/loader"
)

// ObserverOf receives the events of training as types of the caller's choice. Every function may be nil. Each
// is called from the goroutine of Run and delays it.
type ObserverOf[Step, Epoch, Evaluation any] struct {
	Step      func(Step)
	Epoch     func(Epoch)
	Evaluated func(Evaluation)
	Saved     func(Saved)
	Unsaved   func(Unsaved)
	Bad       func(BadSamples)
	// Scored is called after each batch of a validation of a classifier, with its bags: a validation may take hours.
	Scored func(bags int)
}

// Observer receives the events of a stage of a classifier.
type Observer = ObserverOf[StepDone, EpochDone, Evaluated]

// Progress holds the fields common to every step, of a classifier or a captioner.
type Progress struct {
	Epoch, Step  int     // from 1
	Steps        int     // of the whole training
	Loss         float64 // mean over bags or captions, nats, before the update
	LearningRate float64
	GradNorm     float64 // before clipping
	// DataWait is the part of Duration that the step waited for data.
	DataWait, Duration time.Duration
	DeviceBytes        int
	// Log is set on the logging interval and for the first and the last step.
	Log bool
}

// Due reports whether a step should be logged: one in every, the first and the last. A short training logs more often,
// so that its curve has points.
func (p *Progress) Due(every int) bool {
	if p.Steps > 0 {
		every = min(every, max(1, p.Steps/leastLogged))
	}
	return p.Step%every == 0 || p.Step == 1 || p.Step == p.Steps
}

// leastLogged is the minimum number of logged steps, of a run with that number of steps or more.
const leastLogged = 50

// StepDone is one update of the parameters. Its loss is summed over classes.
type StepDone struct {
	Progress
	Bags, Images int // of this step, of all ranks; an image is a frame
	RankTimes
}

// RankTimes are the times of the ranks in a step. All are 0 with a single rank.
type RankTimes struct {
	Ranks int
	// Wait is how long this rank waited for others, and MostWait the longest wait of any rank. DataWait
	// belongs to this rank, MostDataWait is the longest of any.
	Wait, MostWait, MostDataWait time.Duration
	Slowest                      int // the rank that waited least: the others waited for it
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
	Scores      *Scores // of the validation set; Result is computed from them
	// Best is set if the checkpoint of this step is the best so far. Value is its measure BestBy.
	Best     bool
	Value    float64
	Duration time.Duration
}

// Saved is a checkpoint on disk.
type Saved struct {
	Epoch, Step int
	Path        string
	Best        bool // it was also kept as the best
	Bytes       int64
	Duration    time.Duration
}

// Unsaved reports a checkpoint that did not fit on the disk. Training continues without it for now.
type Unsaved struct {
	Epoch, Step int
	Err         error
}

// BadSamples reports bags that could not be read and were left out.
type BadSamples struct {
	New   []loader.BadSample // since the last of these events
	Count int                // different bags of training and validation in the stage so far, of this process
}

// Observers receive every event, one after another.
type Observers[Step, Epoch, Evaluation any] []ObserverOf[Step, Epoch, Evaluation]

type observers = Observers[StepDone, EpochDone, Evaluated]

// Step reports an update to all of them.
func (all Observers[S, E, V]) Step(e S) {
	for i := range all {
		notify(all[i].Step, e)
	}
}

// Epoch reports the end of an epoch to all of them.
func (all Observers[S, E, V]) Epoch(e E) {
	for i := range all {
		notify(all[i].Epoch, e)
	}
}

// Evaluated reports a validation to all of them.
func (all Observers[S, E, V]) Evaluated(e V) {
	for i := range all {
		notify(all[i].Evaluated, e)
	}
}

// Saved reports a checkpoint to all of them.
func (all Observers[S, E, V]) Saved(e Saved) {
	for i := range all {
		notify(all[i].Saved, e)
	}
}

// Unsaved reports a checkpoint that found no room to all of them.
func (all Observers[S, E, V]) Unsaved(e Unsaved) {
	for i := range all {
		notify(all[i].Unsaved, e)
	}
}

// Bad reports bags that were left out to all of them.
func (all Observers[S, E, V]) Bad(e BadSamples) {
	for i := range all {
		notify(all[i].Bad, e)
	}
}

// Scored reports a batch of a validation to all of them.
func (all Observers[S, E, V]) Scored(bags int) {
	for i := range all {
		notify(all[i].Scored, bags)
	}
}

func notify[Event any](f func(Event), e Event) {
	if f != nil {
		f(e)
	}
}
