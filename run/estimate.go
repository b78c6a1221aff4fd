package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"nmn/internal/memory"
	"nmn/kernels"
	"nmn/model"
	"nmn/recipe"
	"nmn/train"
)

// What an estimate without steps goes by.
const (
	shortStep = 10e9        // the work of a step that is made, in FLOP: a second has some of them on any CPU
	shortTime = time.Second // how long they are timed
	// probeFC bounds the fully connected layers of the net whose pass is timed. VGG16's have nine tenths of its
	// parameters and a hundredth of its operations.
	probeFC     = 256
	probePasses = 2 // timed; the fastest counts, the first makes buffers
	// parameterBytes are moved for each parameter of a step: the weight is read twice, and gradient, weight, momentum and
	// average are read and written.
	parameterBytes = 40
	// copiedBytes are copied several times to measure the speed of memory. The first copy touches its pages.
	copiedBytes = 64 << 20
	copies      = 4
)

// Estimator finds how long steps of arms take, and what memory they need. It keeps none of the nets that it makes.
type Estimator struct {
	nets
	ranks            *Ranks
	perFLOP, perByte float64 // in nanoseconds; 0 before they are measured
}

// NewEstimator makes the estimator of a session.
func NewEstimator(s *Session) *Estimator { return &Estimator{nets: s.nets(), ranks: s.Ranks} }

// Workload counts what a training step of an arm computes.
func (e *Estimator) Workload(ctx context.Context, arm train.Arm) (w *Workload, err error) {
	census, err := e.data.Train.Census(ctx)
	if err != nil {
		return nil, err
	}
	net, err := e.blank(arm)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	return newWorkload(&e.config.Train, arm, net, census)
}

// Estimate estimates the steps of an arm with a workload, within seconds whatever the net is. Short steps are made and
// timed. Long ones, such as VGG16's on a CPU, are estimated from their operations and the time of one pass, forward and
// backward, of one blank frame, which is measured once.
func (e *Estimator) Estimate(ctx context.Context, arm train.Arm, w *Workload) (m Measured, err error) {
	if w.FLOP <= shortStep || e.ranks.group.Size() > 1 || !onCPU(e.backend) {
		return e.timeSteps(ctx, arm, MeasureSteps, shortTime)
	}
	full := e.config.Train.Batch(arm.MIL) * e.config.Train.Accumulate
	m.count(&e.config, arm, w.bags, (w.bags+full-1)/full)
	m.Estimated, m.Bags, m.Images, m.Memory = true, min(m.Batch, w.bags), w.Pictures, w.memory
	m.Free, _ = freeOnCPU(e.backend)
	if e.perFLOP == 0 {
		if e.perFLOP, err = probe(ctx, w.net, e.backend); err != nil {
			return m, err
		}
		e.perByte = perByte()
	}
	moved := float64(w.Parameters+w.Noise) * parameterBytes
	m.Step = time.Duration(w.FLOP*e.perFLOP + moved*e.perByte)
	return m, nil
}

// Measure times steps of an arm.
func (e *Estimator) Measure(ctx context.Context, arm train.Arm) (Measured, error) {
	return e.timeSteps(ctx, arm, MeasureSteps, MeasureTime)
}

// timeSteps times at most the given number of steps of a fresh net, for about as long as the limit.
func (e *Estimator) timeSteps(ctx context.Context, arm train.Arm, steps int, limit time.Duration) (m Measured,
	err error) {
	net, err := e.fresh(arm)
	if err != nil {
		return m, err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	settings := e.config.Train
	settings.MaxSteps, settings.EvaluateEpochs, settings.EvaluateSteps, settings.Patience = steps, 0, 0, 0
	inner, enough := context.WithCancel(ctx)
	defer enough()
	watch := newStopwatch(time.Now, limit)
	trainer, err := train.New(train.Options{
		Config: settings, Stage: arm.Stage, Net: net, Data: e.data.Train, Loader: e.config.Loader(),
		Observers: []train.Observer{{Step: func(e train.StepDone) {
			if watch.see(e) {
				enough()
			}
		}}},
		Group: e.ranks.group, Wire: e.config.Run.wire(),
	})
	if err != nil {
		return m, err
	}
	defer func() { err = cmp.Or(err, trainer.Close()) }()
	_, err = trainer.Run(inner)
	switch {
	case err != nil && !errors.Is(err, train.ErrInterrupted):
		return m, err
	case ctx.Err() == nil: // what has ended the steps is that this rank has seen enough, or another one has
		err = nil
	}
	if err := e.ranks.agree(Interrupted(err)); err != nil { // the rank whose context has ended
		return m, err
	}
	m.Step, m.Bags, m.Images = watch.best.Duration, watch.best.Bags, watch.best.Images
	if m, err = fromRank0(e.ranks, m); err != nil { // every rank has a clock of its own
		return m, err
	}
	m.Memory = trainer.DeviceBytes()
	if free, known := freeOnCPU(e.backend); known {
		m.Free = free + int64(m.Memory) // which is taken at this moment
	}
	m.count(&e.config, arm, e.data.Train.Len(), trainer.StepsPerEpoch())
	return m, nil
}

func onCPU(b kernels.Backend) bool { return deviceKind(b.Name()) == "cpu" }

// freeOnCPU is the free memory, if the device is a CPU and it is known.
func freeOnCPU(b kernels.Backend) (free int64, known bool) {
	if !onCPU(b) {
		return 0, false
	}
	return memory.Free()
}

// probe is how many nanoseconds an operation takes in the pass of one blank frame through a net of a configuration, but
// for fully connected layers that have few operations for their memory.
func probe(ctx context.Context, c model.Config, backend kernels.Backend) (perFLOP float64, err error) {
	c.Noise, c.FC6, c.FC7 = model.NoNoise, min(c.FC6, probeFC), min(c.FC7, probeFC)
	net, err := model.New(c, backend)
	if err != nil {
		return 0, err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	plan, err := net.Plan(1, 1, true)
	if err != nil {
		return 0, err
	}
	var flop float64
	for _, l := range net.Layers() {
		flop += l.TrainFLOP
	}
	for range probePasses {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		began := time.Now()
		if err := cmp.Or(net.Normalize(plan), net.Step(plan, model.StepOptions{Scale: 1, WithoutNoise: true}),
			backend.Sync()); err != nil {
			return 0, err
		}
		took := float64(time.Since(began)) / flop
		if perFLOP == 0 || took < perFLOP {
			perFLOP = took
		}
	}
	return perFLOP, nil
}

// perByte is how many nanoseconds it takes to move a byte of memory, in the fastest of a few copies.
func perByte() float64 {
	from, to := make([]byte, copiedBytes), make([]byte, copiedBytes)
	fastest := time.Hour
	for range copies {
		began := time.Now()
		copy(to, from)
		fastest = min(fastest, time.Since(began))
	}
	return float64(fastest) / (2 * copiedBytes)
}

// PlannedArms are the arms that a run trains, in their order: stage 1, and the arm on top of it.
func (c *Config) PlannedArms() ([]train.Arm, error) {
	arm, err := c.Arm.ForTraining(c.Net.MIL)
	if err != nil {
		return nil, err
	}
	if arm.Stage == 1 {
		return []train.Arm{arm}, nil
	}
	return []train.Arm{arm.First(), arm}, nil
}

// MeasureSteps is how many steps are timed at most, and MeasureTime how long. The first of the steps also makes
// buffers, and other programs may disturb some, so the fastest of those with a full batch counts. Where one takes
// long, there is no second.
const (
	MeasureSteps = 12
	MeasureTime  = 15 * time.Second
)

// Measured is what timed steps have shown.
type Measured struct {
	Memory int           // bytes on the device
	Free   int64         // bytes of memory for them, where that is the CPU's and known; else 0
	Step   time.Duration // of the fastest of those with the most bags
	Bags   int           // of that step: fewer than Batch where the data have no full batch
	Images int           // of that step; an image is a frame
	Batch  int           // bags of a full step
	Mean   float64       // bags of a step of an epoch: the last one of an epoch may have fewer
	Steps  int           // of the stage
	// Estimated reports that no step was made: Step is estimated from operations and from the measured time
	// of the pass of one frame.
	Estimated bool
}

// Needs says how much memory the steps take on the device, and of how much, where that is known.
func (m *Measured) Needs() string { return needs(m.Memory, m.Free) }

func needs(used int, free int64) string {
	needed := fmt.Sprintf("%.0f MiB", float64(used)/(1<<20))
	if free == 0 {
		return needed
	}
	return fmt.Sprintf("%s of %.0f MiB that are free", needed, float64(free)/(1<<20))
}

// Full reports whether a full batch was timed.
func (m *Measured) Full() bool { return m.Bags >= m.Batch }

// Total is the time of all steps of the stage: each bag takes the same share of a step.
func (m *Measured) Total() time.Duration {
	return time.Duration(float64(m.Step) * float64(m.Steps) * m.Mean / float64(max(m.Bags, 1)))
}

// stopwatch finds the fastest of the steps with the most bags: the last one of an epoch may have a single one, and is
// done in no time.
type stopwatch struct {
	now   func() time.Time
	until time.Time // when it has seen enough
	best  train.StepDone
}

func newStopwatch(now func() time.Time, limit time.Duration) *stopwatch {
	return &stopwatch{now: now, until: now().Add(limit)}
}

// see takes a step, and reports whether it has seen enough.
func (w *stopwatch) see(e train.StepDone) (enough bool) {
	if e.Bags > w.best.Bags || e.Bags == w.best.Bags && e.Duration < w.best.Duration {
		w.best = e
	}
	return w.now().After(w.until)
}

// count notes how many steps the stage of an arm has, and of how many of the bags, if an epoch has that many.
func (m *Measured) count(c *Config, arm train.Arm, bags, perEpoch int) {
	stage := c.Train
	if c.Arm.Rival() {
		stage = recipe.BothStages(stage)
	}
	m.Batch = stage.Batch(arm.MIL) * stage.Accumulate
	m.Mean = float64(bags) / float64(max(perEpoch, 1))
	m.Steps = train.Limits{Epochs: stage.Epochs(arm.Stage), Steps: stage.MaxSteps}.Total(perEpoch)
}
