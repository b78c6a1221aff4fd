package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/model"
	"nmn/rng"
)

// benchCommand are the flags of nmn bench.
type benchCommand struct {
	model   netName
	batch   int
	size    int
	width   float64
	classes int
	noMIL   bool
	noNMN   bool
	run     runConfig
	repeats int
	warmup  int
	asJSON  bool
}

func newBench(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure the speed of a training step, or of each operation",
		Long:  "Measure the speed of training on this machine, on random pictures without a loader.",
		Example: `  nmn bench step --model scenes --batch 32
  nmn bench ops --model vgg16 --batch 1 --width 0.25 --json`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usagef("bench: say what to measure: %s step or %s ops", cmd.CommandPath(), cmd.CommandPath())
		},
	}
	cmd.AddCommand(
		newBenchOf(p, "step", "Measure whole training steps",
			`Measure whole training steps: forward, backward and update. The median of the repeats
counts.`, (*benchCommand).step),
		newBenchOf(p, "ops", "Measure each operation of a training step",
			`Measure each layer's forward pass and gradients on their own: milliseconds, GFLOP/s, and
the share of the sum.`, (*benchCommand).ops))
	return cmd
}

func newBenchOf(p *program, name, short, long string, measure func(*benchCommand, *program, kernels.Backend) error) *cobra.Command {
	b := &benchCommand{model: netScenes, batch: 32, width: 1, run: defaultConfig().Run, repeats: 10, warmup: 2}
	cmd := &cobra.Command{
		Use: name, Short: short, Long: long,
		Example: "  nmn bench " + name + " --model scenes --batch 32\n  nmn bench " + name + " --model vgg16 --batch 1 --no-mil --json",
		Args:    refuseArguments,
		RunE: func(*cobra.Command, []string) (err error) {
			if err := b.validate(); err != nil {
				return usageError{err}
			}
			backend, err := openDevice(p, &b.run)
			if err != nil {
				return err
			}
			defer func() { err = firstError(err, backend.Close()) }()
			return measure(b, p, backend)
		},
	}
	r := under(cmd, "Network")
	enum(r, &b.model, "model", "`network`", netVGG16, netScenes)
	r.int(&b.batch, "batch", "`pictures` of a step")
	r.int(&b.size, "size", "height and width of the input in `pixels` (default that of the network)")
	r.float(&b.width, "width", "`factor` on the channels of all hidden layers")
	r.int(&b.classes, "classes", "`classes` (default 36 for scenes, 1000 for vgg16)")
	r.bool(&b.noMIL, "no-mil", "without instances")
	r.bool(&b.noNMN, "no-nmn", "without noise model")
	m := under(cmd, "Measurement")
	m.int(&b.repeats, "repeats", "measured `runs`")
	m.int(&b.warmup, "warmup", "`runs` before them")
	m.bool(&b.asJSON, "json", "write JSON")
	run := under(cmd, "Run")
	run.string(&b.run.Device, "device", "`device` that computes: auto, cpu, cuda or cuda:n")
	run.int(&b.run.Threads, "threads", "`goroutines` that compute; 0 for one on each processor")
	return cmd
}

func (b *benchCommand) validate() error {
	const most = 1_000_000 // runs; each leaves a duration in memory
	switch {
	case b.batch < 1 || b.size < 0 || b.classes < 0:
		return errors.New("bench: --batch is at least 1, --size and --classes at least 0")
	case b.repeats < 1 || b.repeats > most || b.warmup < 0 || b.warmup > most:
		return fmt.Errorf("bench: --repeats is 1 to %d, --warmup 0 to %d", most, most)
	}
	if !(b.width > 0 && b.width <= 16) {
		return fmt.Errorf("bench: --width is %g, want more than 0 and at most 16", b.width)
	}
	return firstError(b.run.validate(), b.net().Validate())
}

// net is the network that is measured, with a feature-dependent noise model unless told otherwise.
func (b *benchCommand) net() model.Config {
	classes := b.classes
	if classes == 0 {
		classes = map[netName]int{netScenes: 36, netVGG16: 1000}[b.model]
	}
	noise := model.FeatureDependent
	if b.noNMN {
		noise = model.NoNoise
	}
	n := netConfig{Arch: b.model, MIL: !b.noMIL, Width: b.width, InputSize: b.size, Dropout: -1, NoisePool: "mean"}
	return n.model(classes, noise)
}

// times runs f and returns the durations of the measured runs, ascending.
func (b *benchCommand) times(f func() error) ([]time.Duration, error) {
	durations := make([]time.Duration, 0, b.repeats)
	for i := range b.warmup + b.repeats {
		began := time.Now()
		if err := f(); err != nil {
			return nil, err
		}
		if i >= b.warmup {
			durations = append(durations, time.Since(began))
		}
	}
	slices.Sort(durations)
	return durations, nil
}

func median(sorted []time.Duration) time.Duration { return sorted[len(sorted)/2] }

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1e3 }

// fillRandom puts numbers from -1 to 1 into a tensor of floats.
func fillRandom(device tensor.Device, t *tensor.Tensor, stream *rng.Stream) error {
	host := model.Host(t.Len())
	for i, values := 0, host.Float32s(); i < len(values); i++ {
		values[i] = float32(stream.Uniform(-1, 1))
	}
	return device.Upload(t, host)
}
