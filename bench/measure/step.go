package measure

import (
	"cmp"
	"context"
	"slices"
	"time"

	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/kernels/update"
	"nmn/model"
	"nmn/ranks"
	"nmn/train"
)

// StepTimes are measurements of the training steps of any net.
type StepTimes struct {
	StepMS        float64 `json:"step_ms"` // median
	StepMinMS     float64 `json:"step_min_ms"`
	StepMaxMS     float64 `json:"step_max_ms"`
	StepCPUMS     float64 `json:"step_cpu_ms,omitempty"` // mean, of all processors; 0 if the system does not report it
	GFLOPS        float64 `json:"gflops"`                // products of the whole step, for each second
	GFLOP         float64 `json:"gflop"`
	PeakMemoryMiB float64 `json:"peak_memory_mib"`   // of the process, while training
	DeviceMiB     float64 `json:"device_memory_mib"` // peak memory of the device
}

// summarize computes what follows from the durations of steps, and returns their median. GFLOP is set.
func (f *StepTimes) summarize(durations []time.Duration) (median time.Duration) {
	slices.Sort(durations)
	median = middle(durations)
	f.StepMS, f.StepMinMS = milliseconds(median), milliseconds(durations[0])
	f.StepMaxMS = milliseconds(durations[len(durations)-1])
	f.GFLOPS = rate(f.GFLOP, median)
	return median
}

// StepFigures are measurements of whole training steps.
type StepFigures struct {
	NetFigures
	StepTimes
	DataWaitMS    float64 `json:"data_wait_ms"` // of the step, median: the part that waits for pictures
	ForwardMS     float64 `json:"forward_ms"`   // without dropout, pixels to loss
	BackwardMS    float64 `json:"backward_ms"`  // what forward and update leave of the step
	UpdateMS      float64 `json:"update_ms"`    // with the norm of the gradient
	ImagesPerS    float64 `json:"images_per_s"`
	AllocsPerStep float64 `json:"allocs_per_step"`
	RankFigures
}

// Step measures whole training steps on random pictures in memory: upload, forward, backward and update. If
// there are several ranks, every rank calls it. A step takes as long as on the slowest rank. Forward and
// update are the times of the rank's own share.
func Step(ctx context.Context, backend kernels.Backend, n Net, o Options) (*StepFigures, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	own, err := o.shared(n)
	if err != nil {
		return nil, err
	}
	f := &StepFigures{NetFigures: n.figures(backend, o)}
	durations, waits := make([]time.Duration, 0, o.Repeats), make([]time.Duration, 0, o.Repeats)
	var before, after uint64 // allocations
	var cpu time.Duration
	err = o.train(ctx, backend, n, watcher{
		step: func(e train.StepDone) error {
			if e.Step > o.Warmup {
				durations, waits = append(durations, e.Duration), append(waits, e.DataWait)
			}
			if after = allocations(); e.Step <= o.Warmup+1 {
				before = after
			}
			if e.Step == o.Warmup {
				cpu = processorTime()
			}
			if e.Step == o.Warmup+o.Repeats {
				cpu = processorTime() - cpu
				f.PeakMemoryMiB = mebibytes(peakMemory())
			}
			return nil
		},
		end: func(net *model.Net, trainer *train.Trainer) error {
			f.DeviceMiB = mebibytes(uint64(trainer.DeviceBytes()))
			if card, ok := backend.(kernels.Card); ok {
				f.DeviceMiB = mebibytes(uint64(card.MostBytes()))
			}
			forward, update, err := o.parts(net, own)
			if err != nil {
				return err
			}
			f.ForwardMS, f.UpdateMS = milliseconds(forward), milliseconds(update)
			if f.RankFigures, err = o.together(net, f.PeakMemoryMiB); err != nil {
				return err
			}
			spent, err := ranks.Every(ranks.Of(o.Group), milliseconds(cpu)/float64(o.Repeats), nil)
			for _, ms := range spent {
				f.StepCPUMS += ms
			}
			return cmp.Or(err, slowest(ranks.Of(o.Group), durations))
		},
	})
	if err != nil {
		return nil, err
	}
	f.AllocsPerStep = float64(after-before) / float64(max(1, o.Repeats-1))
	slices.Sort(waits)
	f.DataWaitMS = milliseconds(middle(waits))
	pictures := float64(n.pictures())
	for _, l := range n.Model().Layers() {
		f.GFLOP += l.TrainFLOP * pictures / 1e9
	}
	f.ImagesPerS = rate(pictures, f.summarize(durations))
	f.BackwardMS = f.StepMS - f.ForwardMS - f.UpdateMS
	return f, nil
}

// parts times the forward pass and the update on their own, on the batch of the steps.
func (o Options) parts(net *model.Net, n Net) (forward, update time.Duration, err error) {
	backend := net.Backend()
	plan, err := net.Plan(n.pictures(), n.Batch, true)
	if err != nil {
		return 0, 0, err
	}
	state := tensor.NewArena(backend)
	defer func() { err = cmp.Or(err, state.Close()) }()
	entries, norm, err := momentum(net, state)
	if err != nil {
		return 0, 0, err
	}
	forward, err = o.medianOf(backend, func() error { return cmp.Or(net.Normalize(plan), net.Forward(plan, true)) })
	if err != nil {
		return 0, 0, err
	}
	update, err = o.medianOf(backend, func() error {
		return cmp.Or(backend.GradNorm(norm, entries), backend.SGD(entries, .9))
	})
	return forward, update, err
}

// momentum is the state of SGD, and a place for the norm of the gradient.
func momentum(net *model.Net, state *tensor.Arena) (entries []update.Entry, norm *tensor.Tensor, err error) {
	for _, p := range net.Params() {
		m, err := state.Alloc(tensor.Float32, p.W.Shape()...)
		if err != nil {
			return nil, nil, err
		}
		entries = append(entries, update.Entry{W: p.W, G: p.G, Copy: p.Copy, M: m, LR: 1e-12, Decay: 5e-4})
	}
	norm, err = state.Alloc(tensor.Float32, 1)
	return entries, norm, err
}
