package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	dense "gorgonia.org/tensor"

	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/kernels/update"
	"nmn/model"
	"nmn/rng"
)

// stepFigures are what nmn bench step tells.
type stepFigures struct {
	Model         string  `json:"model"`
	Size          int     `json:"size"`
	Width         float64 `json:"width"`
	Batch         int     `json:"batch"`
	MIL           bool    `json:"mil"`
	NMN           bool    `json:"nmn"`
	Device        string  `json:"device"`
	Threads       int     `json:"threads"` // 0: one for each processor
	Processors    int     `json:"processors"`
	Repeats       int     `json:"repeats"`
	StepMS        float64 `json:"step_ms"` // median
	StepMinMS     float64 `json:"step_min_ms"`
	ForwardMS     float64 `json:"forward_ms"`
	BackwardMS    float64 `json:"backward_ms"` // with the loss and its gradients
	UpdateMS      float64 `json:"update_ms"`
	ImagesPerS    float64 `json:"images_per_s"`
	GFLOPS        float64 `json:"gflops"` // convolutions of the whole step, for each second
	GFLOP         float64 `json:"gflop"`
	PeakMemoryMiB float64 `json:"peak_memory_mib"` // of the process
	DeviceMiB     float64 `json:"device_memory_mib"`
	AllocsPerStep float64 `json:"allocs_per_step"`
	Build         build   `json:"build"`
}

// stepBench is a net with a random batch and the state of SGD.
type stepBench struct {
	net     *model.Net
	plan    *model.Plan
	state   *tensor.Arena
	entries []update.Entry
}

func newStepBench(backend kernels.Backend, c model.Config, batch int) (s *stepBench, err error) {
	net, err := model.New(c, backend)
	if err != nil {
		return nil, err
	}
	s = &stepBench{net: net, state: tensor.NewArena(backend)}
	if err := s.fill(backend, batch); err != nil {
		return nil, firstError(err, s.close())
	}
	return s, nil
}

func (s *stepBench) fill(backend kernels.Backend, batch int) error {
	err := s.net.Init(model.PaperInit(1))
	if err != nil {
		return err
	}
	if s.plan, err = s.net.Plan(batch, batch, true); err != nil {
		return err
	}
	stream := rng.New(1)
	pixels := make([]uint8, s.plan.Pixels.Len())
	for i := range pixels {
		pixels[i] = uint8(stream.Uint32())
	}
	labels := make([]float32, s.plan.Labels.Len())
	for i := range labels {
		labels[i] = float32(stream.Uint32() >> 31)
	}
	side := int32(s.net.Config().Size)
	sizes, offsets := make([]int32, 2*batch), make([]int32, batch+1)
	for i := range batch {
		sizes[2*i], sizes[2*i+1], offsets[i+1] = side, side, int32(i+1)
	}
	for _, up := range []struct {
		to   *tensor.Tensor
		from any
	}{{s.plan.Pixels, pixels}, {s.plan.Labels, labels}, {s.plan.Sizes, sizes}, {s.plan.Offsets, offsets}} {
		if err := backend.Upload(up.to, dense.New(dense.WithShape(up.to.Len()), dense.WithBacking(up.from))); err != nil {
			return err
		}
	}
	for _, p := range s.net.Params() {
		momentum, err := s.state.Alloc(tensor.Float32, p.W.Shape()...)
		if err != nil {
			return err
		}
		// So small a rate that the weights stay what they are.
		s.entries = append(s.entries, update.Entry{W: p.W, G: p.G, M: momentum, LR: 1e-12, Decay: 5e-4})
	}
	return nil
}

func (s *stepBench) close() error { return firstError(s.state.Close(), s.net.Close()) }

func (s *stepBench) forward() error {
	return firstError(s.net.Normalize(s.plan), s.net.Forward(s.plan, true), s.net.Backend().Sync())
}

func (s *stepBench) gradients() error {
	return firstError(s.net.Normalize(s.plan), s.net.Step(s.plan, model.StepOptions{Scale: 1 / float32(s.plan.Bags)}), s.net.Backend().Sync())
}

func (s *stepBench) update() error {
	return firstError(s.net.Backend().SGD(s.entries, .9), s.net.Backend().Sync())
}

func (s *stepBench) step() error { return firstError(s.gradients(), s.update()) }

func (b *benchCommand) step(p *program, backend kernels.Backend) (err error) {
	c := b.net()
	s, err := newStepBench(backend, c, b.batch)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, s.close()) }()
	var medians [3]time.Duration
	for i, f := range []func() error{s.forward, s.gradients, s.update} {
		all, err := b.times(f)
		if err != nil {
			return err
		}
		medians[i] = median(all)
	}
	before := allocations()
	whole, err := b.times(s.step)
	if err != nil {
		return err
	}
	allocated := float64(allocations()-before) / float64(b.repeats+b.warmup)
	f := stepFigures{
		Model: string(b.model), Size: c.Size, Width: b.width, Batch: b.batch, MIL: c.MIL, NMN: c.Noise != model.NoNoise,
		Device: backend.Name(), Threads: b.run.Threads, Processors: runtime.GOMAXPROCS(0), Repeats: b.repeats,
		StepMS: milliseconds(median(whole)), StepMinMS: milliseconds(whole[0]), ForwardMS: milliseconds(medians[0]),
		BackwardMS: milliseconds(medians[1] - medians[0]), UpdateMS: milliseconds(medians[2]),
		ImagesPerS: float64(b.batch) / median(whole).Seconds(), PeakMemoryMiB: float64(peakMemory()) / (1 << 20),
		DeviceMiB: float64(s.net.Bytes()+s.state.Bytes()) / (1 << 20), AllocsPerStep: allocated, Build: thisBuild(),
	}
	for _, l := range c.Layers() {
		f.GFLOP += l.TrainFLOP * float64(b.batch) / 1e9
	}
	f.GFLOPS = f.GFLOP / median(whole).Seconds()
	return f.write(p, b.asJSON)
}

func (f *stepFigures) write(p *program, asJSON bool) error {
	if asJSON {
		return writeJSON(p.out, f)
	}
	with := map[bool]string{true: "with", false: "without"}
	_, err := fmt.Fprintf(p.out, "%s, %d pixels, width %g, %d pictures, %s MIL, %s noise model, on %s\n"+
		"step      %9.2f ms (least %.2f)\nforward   %9.2f ms\nbackward  %9.2f ms\nupdate    %9.2f ms\n"+
		"%.1f images/s, %.1f GFLOP/s, peak memory %.0f MiB, %.1f allocations a step\n",
		f.Model, f.Size, f.Width, f.Batch, with[f.MIL], with[f.NMN], f.Device, f.StepMS, f.StepMinMS, f.ForwardMS, f.BackwardMS, f.UpdateMS,
		f.ImagesPerS, f.GFLOPS, f.PeakMemoryMiB, f.AllocsPerStep)
	return err
}

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
