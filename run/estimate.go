package run

import (
	"cmp"
	"context"
	"strings"
	"time"

	"nmn/model"
	"nmn/ranks"
	"nmn/train"
)

// What an estimate without steps goes by.
const (
	// shortStep is the work of a step that is made, in FLOP: a second has some of them on any CPU.
	shortStep = 10e9
	// shortTime is how long they are timed.
	shortTime = time.Second
	// probeFC bounds the fully connected layers of the net whose pass is timed. VGG16's have nine tenths of its
	// parameters and a hundredth of its operations.
	probeFC = 256
	// probePasses are timed, and the fastest counts. The first makes buffers.
	probePasses = 2
	// parameterBytes are moved for each parameter of a step: the weight is read twice, and gradient, weight, momentum and
	// average are read and written.
	parameterBytes = 40
	// copiedBytes are copied several times to measure the speed of memory. The first copy touches its
	// pages.
	copiedBytes = 64 << 20
	copies      = 4
)

// Estimator estimates how long steps of the arms of a session take, within seconds whatever the net is. Short
// steps are made and timed. Long ones, such as VGG16's on a CPU, are estimated from their operations and the
// time of one pass, forward and backward, of one blank frame, which is measured once.
type Estimator struct {
	session          *Session
	perFLOP, perByte float64 // in nanoseconds; 0 before they are measured
}

// NewEstimator makes the estimator of a session.
func NewEstimator(s *Session) *Estimator { return &Estimator{session: s} }

// Estimate estimates the steps of an arm with a workload. net is the one of [Session.BlankNet].
func (e *Estimator) Estimate(ctx context.Context, arm train.Arm, w *Workload, net *model.Net) (m Measured, err error) {
	s := e.session
	if w.FLOP <= shortStep || ranks.Of(s.ranks).Size() > 1 || !strings.HasPrefix(s.Backend.Name(), "cpu") {
		fresh, err := s.FreshNet(arm)
		if err != nil {
			return m, err
		}
		defer func() { err = cmp.Or(err, fresh.Close()) }()
		return s.measureNet(ctx, arm, fresh, MeasureSteps, shortTime)
	}
	census, err := s.Data.Train.Census(ctx)
	if err != nil {
		return m, err
	}
	batch := s.Config.Train.Batch(arm.MIL)
	perEpoch := (census.Bags + batch*s.Config.Train.Accumulate - 1) / (batch * s.Config.Train.Accumulate)
	s.countSteps(&m, arm, perEpoch)
	m.Estimated, m.Bags, m.Images = true, min(m.Batch, census.Bags), w.Pictures
	m.Memory = net.Bytes() + s.Config.Train.StateBytes(net) + s.stepBytes(net, min(batch, census.Bags), census.Longest)
	if free, known := s.freeOnCPU(); known {
		m.Free = free
	}
	if e.perFLOP == 0 {
		if e.perFLOP, err = s.probe(ctx, net.Config()); err != nil {
			return m, err
		}
		e.perByte = perByte()
	}
	moved := float64(w.Parameters+w.Noise) * parameterBytes
	m.Step = time.Duration(w.FLOP*e.perFLOP + moved*e.perByte)
	return m, nil
}

// probe is how many nanoseconds an operation takes in the pass of one blank frame through a net of a configuration, but
// for fully connected layers that have few operations for their memory.
func (s *Session) probe(ctx context.Context, c model.Config) (perFLOP float64, err error) {
	c.Noise, c.FC6, c.FC7 = model.NoNoise, min(c.FC6, probeFC), min(c.FC7, probeFC)
	net, err := model.New(c, s.Backend)
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
			s.Backend.Sync()); err != nil {
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
