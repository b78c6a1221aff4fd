package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nmn/internal/setting"
	"nmn/kernels"
	"nmn/model"
	"nmn/run"
)

// benchCommand are the flags of nmn bench.
type benchCommand struct {
	model      run.NetName
	batch      int
	frames     int
	size       int
	width      float64
	classes    int
	vocabulary int
	noMIL      bool
	noNMN      bool
	sizes      []int
	mib        int
	run        run.Resources
	repeats    int
	warmup     int
	asJSON     bool
}

// benchmark is one of the commands under nmn bench.
type benchmark struct {
	name, short, long string
	examples          []string
	flags             func(*benchCommand, *cobra.Command) // of its own
	validate          func(*benchCommand) error           // of these
	measure           func(*benchCommand, *cobra.Command, *program, kernels.Backend) error
}

var benchmarks = []benchmark{
	{
		name: "step", short: "Measure whole training steps",
		long: `Measure whole training steps as nmn train makes them, on random pictures in memory: upload, forward,
backward and update. The median of the repeats counts. Forward (without dropout) and update are measured
again on their own; backward is what they leave of the step. Of the captioner, --model s2vt, whole steps are
measured, on random clips with captions as long as those of MSR-VTT.`,
		examples: []string{"--model scenes --batch 32", "--model s2vt --json", "--model vgg16 --batch 4 --size 224 --json", "--model vgg16 --batch 1 --frames 26 --device cuda"},
		flags:    (*benchCommand).stepFlags, validate: (*benchCommand).validateStep, measure: (*benchCommand).step,
	},
	{
		name: "ops", short: "Measure each operation of a training step",
		long: `Measure each operation within training steps: milliseconds (the median of the repeats), share of
the sum, GFLOP/s of convolutions (every product of the definition counts, those with padding too), GB/s of
operands (each counted once for each time that it must be read or written), and the algorithm. A graphics
card takes the time itself.`,
		examples: []string{"--model scenes --batch 32", "--model vgg16 --batch 1 --no-mil --json"},
		flags:    (*benchCommand).opsFlags, validate: (*benchCommand).validateNet, measure: (*benchCommand).ops,
	},
	{
		name: "gemm", short: "Measure the product of two square matrices",
		long: `Measure the product of two square matrices, as a 1×1 convolution: the rate that the largest
layers can reach.`,
		examples: []string{"--sizes 1024,2048", "--device cuda --sizes 4096,8192 --json"},
		flags:    (*benchCommand).gemmFlags, validate: (*benchCommand).validateGEMM, measure: (*benchCommand).gemm,
	},
	{
		name: "memory", short: "Measure how fast the device copies memory",
		long: `Measure copies within the memory of the device, bytes read and bytes written counted: the floor
of every operation that does little arithmetic.`,
		examples: []string{"--mib 256", "--device cuda --mib 1024 --json"},
		flags:    (*benchCommand).memoryFlags, validate: (*benchCommand).validateMemory, measure: (*benchCommand).memory,
	},
}

func newBench(p *program) *cobra.Command {
	var names []string
	for _, b := range benchmarks {
		names = append(names, b.name)
	}
	names = append(names, "load")
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure the speed of a training step, of each operation, of loading, or of the machine",
		Long:  "Measure the speed of training on this machine, on random pictures, and of loading pictures.",
		Example: `  nmn bench step --model scenes --batch 32
  nmn bench ops --model vgg16 --batch 1 --width 0.25 --json`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usagef("bench: say what to measure: %s", setting.Alternatives(names))
		},
	}
	for _, b := range benchmarks {
		cmd.AddCommand(newBenchOf(p, b))
	}
	cmd.AddCommand(newBenchLoad(p))
	return cmd
}

func newBenchOf(p *program, m benchmark) *cobra.Command {
	b := &benchCommand{model: run.NetScenes, batch: 32, width: 1, sizes: []int{1024, 2048}, mib: 256,
		run: run.DefaultConfig().Run, repeats: 10, warmup: 2}
	cmd := &cobra.Command{
		Use: m.name, Short: m.short, Long: m.long,
		Example: "  nmn bench " + m.name + " " + strings.Join(m.examples, "\n  nmn bench "+m.name+" "),
		Args:    refuseArguments,
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		if err := cmp.Or(b.validate(cmd), m.validate(b)); err != nil {
			return usageError{err}
		}
		backend, err := p.openDevice(&b.run)
		if err != nil {
			return err
		}
		defer func() { err = cmp.Or(err, backend.Close()) }()
		return m.measure(b, cmd, p, backend)
	}
	m.flags(b, cmd)
	r := under(cmd, "Measurement")
	r.int(&b.repeats, "repeats", "measured `runs`")
	r.int(&b.warmup, "warmup", "`runs` before them")
	r.bool(&b.asJSON, "json", "write JSON")
	run := under(cmd, "Run")
	run.string(&b.run.Device, "device", "`device` that computes: auto, cpu, cuda or cuda:n")
	precisionFlag(run, &b.run)
	convExactFlag(run, &b.run)
	run.int(&b.run.Threads, "threads", "`goroutines` that compute; 0 for one on each processor")
	return cmd
}

// opsFlags and stepFlags are those of benchmarks of a net.
func (b *benchCommand) opsFlags(cmd *cobra.Command) {
	b.netFlags(cmd, run.NetVGG16, run.NetScenes)
}

func (b *benchCommand) stepFlags(cmd *cobra.Command) {
	r := b.netFlags(cmd, run.NetVGG16, run.NetScenes, netS2VT)
	r.int(&b.vocabulary, "vocab-size", "`words` that s2vt can say (default 23647)")
}

func (b *benchCommand) netFlags(cmd *cobra.Command, nets ...run.NetName) group {
	r := under(cmd, "Network")
	enum(r, &b.model, "model", "`network`", nets...)
	r.int(&b.batch, "batch", "`bags` of a step, or captions")
	r.int(&b.frames, "frames", "`pictures` of each bag, 26 for a video (default 1; 26 for s2vt)")
	r.int(&b.size, "size", "height and width of the input in `pixels` (default that of the network)")
	r.float(&b.width, "width", "`factor` on the channels of all hidden layers")
	r.int(&b.classes, "classes", "`classes` (default 36 for scenes, 1000 for vgg16; for s2vt features of a frame, 1087)")
	r.bool(&b.noMIL, "no-mil", "without instances")
	r.bool(&b.noNMN, "no-nmn", "without noise model")
	return r
}

func (b *benchCommand) validateStep() error {
	switch {
	case b.model == netS2VT:
		return b.validateCaptioner()
	case b.vocabulary != 0:
		return fmt.Errorf("bench: --vocab-size is for --model s2vt, %s says no words: leave it out", b.model)
	}
	return b.validateNet()
}

func (b *benchCommand) validate(cmd *cobra.Command) error {
	const most = 1_000_000 // runs; each leaves a duration in memory
	switch {
	case b.repeats < 1 || b.repeats > most || b.warmup < 0 || b.warmup > most:
		return fmt.Errorf("bench: --repeats is 1 to %d, --warmup 0 to %d", most, most)
	case strings.HasPrefix(b.run.Device, "cuda") && cmd.Flags().Changed("threads"):
		return errors.New("bench: --threads is for the CPU: leave it out with --device cuda")
	}
	return b.run.Validate()
}

func (b *benchCommand) validateNet() error {
	b.frames = cmp.Or(b.frames, 1)
	switch {
	case b.batch < 1 || b.size < 0 || b.classes < 0:
		return errors.New("bench: --batch is at least 1, --size and --classes at least 0")
	case b.frames < 1:
		return fmt.Errorf("bench: --frames is %d, want at least 1", b.frames)
	case b.frames > 1 && b.noMIL:
		return fmt.Errorf("bench: --frames %d makes bags of instances, --no-mil has none: give one of them", b.frames)
	case !(b.width > 0 && b.width <= 16):
		return fmt.Errorf("bench: --width is %g, want more than 0 and at most 16", b.width)
	}
	return b.net().Validate()
}

// net is the network that is measured, with a feature-dependent noise model unless told otherwise.
func (b *benchCommand) net() model.Config {
	classes := b.classes
	if classes == 0 {
		classes = map[run.NetName]int{run.NetScenes: 36, run.NetVGG16: 1000}[b.model]
	}
	noise := model.FeatureDependent
	if b.noNMN {
		noise = model.NoNoise
	}
	n := run.NetConfig{Arch: b.model, MIL: !b.noMIL, Width: b.width, InputSize: b.size, Dropout: -1, NoisePool: "mean"}
	return n.Model(classes, 0, noise)
}

// median runs f, which enqueues work, and returns how long the middle one of the measured runs took. A
// graphics card takes the time itself, so that the host's calls are not counted.
func (b *benchCommand) median(backend kernels.Backend, f func() error) (time.Duration, error) {
	durations := make([]time.Duration, 0, b.repeats)
	clock, _ := backend.(kernels.Clock)
	for i := range b.warmup + b.repeats {
		took, err := timed(backend, clock, f)
		if err != nil {
			return 0, err
		}
		if i >= b.warmup {
			durations = append(durations, took)
		}
	}
	slices.Sort(durations)
	return median(durations), nil
}

// timed is how long the device works on what f enqueues.
func timed(backend kernels.Backend, clock kernels.Clock, f func() error) (time.Duration, error) {
	if clock == nil {
		began := time.Now()
		err := cmp.Or(f(), backend.Sync())
		return time.Since(began), err
	}
	for _, call := range []func() error{func() error { return clock.Mark(0) }, f, func() error { return clock.Mark(1) }, backend.Sync} {
		if err := call(); err != nil {
			return 0, err
		}
	}
	return clock.Between(0, 1)
}

func median(sorted []time.Duration) time.Duration { return sorted[len(sorted)/2] }

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1e3 }

// rate is work for each second, 0 where no time was seen.
func rate(work float64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return work / d.Seconds()
}
