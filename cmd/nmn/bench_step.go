package main

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/kernels/update"
	"nmn/model"
	"nmn/run"
	"nmn/train"
)

// netFigures tell what a benchmark of a net has measured.
type netFigures struct {
	Model      string    `json:"model"`
	Size       int       `json:"size"`
	Width      float64   `json:"width"`
	Batch      int       `json:"batch"`  // bags
	Frames     int       `json:"frames"` // pictures of a bag
	MIL        bool      `json:"mil"`
	NMN        bool      `json:"nmn"`
	Device     string    `json:"device"`
	Precision  string    `json:"precision"`
	Threads    int       `json:"threads"` // 0: one for each processor
	Processors int       `json:"processors"`
	Repeats    int       `json:"repeats"`
	Build      run.Build `json:"build"`
}

func (b *benchCommand) describe(backend kernels.Backend) netFigures {
	c := b.net()
	return netFigures{
		Model: string(b.model), Size: c.Size, Width: b.width, Batch: b.batch, Frames: b.frames, MIL: c.MIL, NMN: c.Noise != model.NoNoise,
		Device: backend.Name(), Precision: string(backend.Precision()), Threads: b.run.Threads, Processors: runtime.GOMAXPROCS(0), Repeats: b.repeats, Build: run.ThisBuild(),
	}
}

// String is the first line for people.
func (f *netFigures) String() string {
	bags := fmt.Sprintf("%d pictures", f.Batch)
	if f.Frames > 1 {
		bags = fmt.Sprintf("%d bags of %d frames", f.Batch, f.Frames)
	}
	with := map[bool]string{true: "with", false: "without"}
	return fmt.Sprintf("%s, %d pixels, width %g, %s, %s MIL, %s noise model, on %s",
		f.Model, f.Size, f.Width, bags, with[f.MIL], with[f.NMN], f.Device)
}

// stepFigures are what nmn bench step tells.
type stepFigures struct {
	netFigures
	StepMS        float64 `json:"step_ms"` // median
	StepMinMS     float64 `json:"step_min_ms"`
	StepMaxMS     float64 `json:"step_max_ms"`
	DataWaitMS    float64 `json:"data_wait_ms"` // of the step, median: the part that waits for pictures
	ForwardMS     float64 `json:"forward_ms"`   // without dropout, pixels to loss
	BackwardMS    float64 `json:"backward_ms"`  // what forward and update leave of the step
	UpdateMS      float64 `json:"update_ms"`    // with the norm of the gradient
	ImagesPerS    float64 `json:"images_per_s"`
	GFLOPS        float64 `json:"gflops"` // convolutions of the whole step, for each second
	GFLOP         float64 `json:"gflop"`
	PeakMemoryMiB float64 `json:"peak_memory_mib"`   // of the process, while training
	DeviceMiB     float64 `json:"device_memory_mib"` // likewise, of the device
	AllocsPerStep float64 `json:"allocs_per_step"`
}

func (b *benchCommand) step(cmd *cobra.Command, p *program, backend kernels.Backend) error {
	if b.model == netS2VT {
		return b.captionStep(cmd.Context(), p, backend)
	}
	f := stepFigures{netFigures: b.describe(backend)}
	durations, waits := make([]time.Duration, 0, b.repeats), make([]time.Duration, 0, b.repeats)
	var before, after uint64 // allocations
	err := b.steps(cmd.Context(), backend, watcher{
		step: func(e train.StepDone) error {
			if e.Step > b.warmup {
				durations, waits = append(durations, e.Duration), append(waits, e.DataWait)
			}
			if after = allocations(); e.Step <= b.warmup+1 {
				before = after
			}
			return nil
		},
		end: func(net *model.Net, trainer *train.Trainer) error {
			f.PeakMemoryMiB, f.DeviceMiB = mib(peakMemory()), mib(uint64(trainer.DeviceBytes()))
			if accountant, ok := backend.(kernels.Accountant); ok {
				f.DeviceMiB = mib(uint64(accountant.MostBytes()))
			}
			forward, update, err := b.parts(net)
			f.ForwardMS, f.UpdateMS = milliseconds(forward), milliseconds(update)
			return err
		},
	})
	if err != nil {
		return err
	}
	f.AllocsPerStep = float64(after-before) / float64(max(1, b.repeats-1))
	slices.Sort(waits)
	f.DataWaitMS = milliseconds(median(waits))
	f.summarize(b, durations)
	return f.write(p, b.asJSON)
}

// summarize computes what follows from the steps' durations.
func (f *stepFigures) summarize(b *benchCommand, durations []time.Duration) {
	slices.Sort(durations)
	middle, pictures := median(durations), float64(b.batch*b.frames)
	f.StepMS, f.StepMinMS, f.StepMaxMS = milliseconds(middle), milliseconds(durations[0]), milliseconds(durations[len(durations)-1])
	f.BackwardMS = f.StepMS - f.ForwardMS - f.UpdateMS
	for _, l := range b.net().Layers() {
		f.GFLOP += l.TrainFLOP * pictures / 1e9
	}
	f.GFLOPS, f.ImagesPerS = rate(f.GFLOP, middle), rate(pictures, middle)
}

// parts times the forward pass and the update on their own, on the batch of the steps.
func (b *benchCommand) parts(net *model.Net) (forward, update time.Duration, err error) {
	backend := net.Backend()
	plan, err := net.Plan(b.batch*b.frames, b.batch, true)
	if err != nil {
		return 0, 0, err
	}
	state := tensor.NewArena(backend)
	defer func() { err = cmp.Or(err, state.Close()) }()
	entries, norm, err := momentum(net, state)
	if err != nil {
		return 0, 0, err
	}
	forward, err = b.median(backend, func() error { return cmp.Or(net.Normalize(plan), net.Forward(plan, true)) })
	if err != nil {
		return 0, 0, err
	}
	update, err = b.median(backend, func() error { return cmp.Or(backend.GradNorm(norm, entries), backend.SGD(entries, .9)) })
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

func (f *stepFigures) write(p *program, asJSON bool) error {
	if asJSON {
		return writeJSON(p.out, f)
	}
	_, err := fmt.Fprintf(p.out, "%v\n"+
		"step      %9.2f ms (%.2f to %.2f)\nforward   %9.2f ms\nbackward  %9.2f ms\nupdate    %9.2f ms\n"+
		"%.1f images/s, %.1f GFLOP/s, peak memory %.0f MiB, %.0f MiB of the device, %.1f allocations a step\n",
		&f.netFigures, f.StepMS, f.StepMinMS, f.StepMaxMS, f.ForwardMS, f.BackwardMS, f.UpdateMS,
		f.ImagesPerS, f.GFLOPS, f.PeakMemoryMiB, f.DeviceMiB, f.AllocsPerStep)
	return err
}

func mib(bytes uint64) float64 { return float64(bytes) / (1 << 20) }

func allocations() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// peakMemory is the largest resident size of the process in bytes where the system tells it, as Linux
// does, else the memory that Go has taken.
func peakMemory() uint64 {
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		for line := range strings.Lines(string(status)) {
			fields := strings.Fields(line)
			if len(fields) == 3 && fields[0] == "VmHWM:" {
				if kib, err := strconv.ParseUint(fields[1], 10, 54); err == nil {
					return kib << 10
				}
			}
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys
}
