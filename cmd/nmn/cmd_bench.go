package main

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"nmn/bench/measure"
	"nmn/internal/setting"
	"nmn/kernels"
	"nmn/run"
)

// benchmark is one of the commands under nmn bench.
type benchmark struct {
	name, short, long string
	details           string
	examples          []string
	flags             func(*benchCommand, *cobra.Command)       // of its own
	validate          func(*benchCommand, *cobra.Command) error // of these
	// measure returns figures for JSON, and a text.
	measure func(*benchCommand, context.Context, kernels.Backend) (any, string, error)
	ranks   bool // if there are several ranks, they measure it together
}

var benchmarks = []benchmark{
	{
		name: "step", short: "Measure training steps, or the features of transformers",
		long: `Measure whole training steps on random pictures in memory, as the median of the repeats. With
--model s2vt, measure steps of the captioner; with a vision transformer, features of pictures.`,
		details: `A step has upload, forward, backward and update. Forward (without dropout) and update are measured
again separately; backward is the rest of the step. Steps of the captioner have random clips with
captions as long as in MSR-VTT. A transformer has random weights; upload, forward and download of
the class token count. With several ranks (mpirun) the batch is split; the time shown is the
slowest rank's, plus the gradient sum alone.`,
		examples: []string{"--model scenes --batch 32", "--model vit-s14 --batch 16 --json",
			"--model vgg16 --batch 1 --frames 26 --device cuda"},
		flags: (*benchCommand).stepFlags, validate: (*benchCommand).validateStep, measure: (*benchCommand).step,
		ranks: true,
	},
	{
		name: "ops", short: "Measure each operation of a training step",
		long: `Measure each operation of a training step: time, share of the step, GFLOP/s, GB/s and algorithm.
Times are medians of the repeats.`,
		details: `GFLOP/s count every product in the definition of a convolution, including padding. GB/s count an
operand each time that it must be read or written. The column "reached %" compares GFLOP/s with a
large matrix product of the same type and GB/s with a copy of memory, measured on the same device,
and shows the larger share. It exceeds 100 for operands that stay in caches.`,
		examples: []string{"--model scenes --batch 32", "--model vgg16 --batch 1 --no-mil --json",
			"--model vgg16 --batch 1 --frames 26 --size 565 --device cuda"},
		flags: (*benchCommand).opsFlags, validate: (*benchCommand).validateNet, measure: (*benchCommand).ops,
	},
	{
		name: "machine", short: "Measure products of matrices and copies of memory",
		long: `Measure products of two square matrices as 1×1 convolutions, and copies within the memory of the
device, counting bytes read and written. Operations can reach these rates.`,
		examples: []string{"--sizes 1024,2048", "--device cuda --sizes 4096,8192 --mib 1024 --json"},
		flags:    (*benchCommand).machineFlags, validate: (*benchCommand).validateMachine,
		measure: (*benchCommand).machine,
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
		Short: "Measure the speed of training, loading and the machine",
		Long:  "Measure the speed of training on random pictures, and of loading pictures, on this machine.",
		Example: `  nmn bench step --model scenes --batch 32
  nmn bench ops --model vgg16 --batch 1 --width 0.25 --json`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usagef("bench: choose what to measure: %s", setting.Alternatives(names))
		},
	}
	for _, b := range benchmarks {
		cmd.AddCommand(newBenchOf(p, b))
	}
	cmd.AddCommand(newBenchLoad(p))
	return cmd
}

func newBenchOf(p *program, m benchmark) *cobra.Command {
	b := &benchCommand{net: measure.Net{Arch: run.NetScenes, Batch: 32, Width: 1}, sizes: []int{1024, 2048}, mib: 256,
		run: run.DefaultConfig().Run, options: measure.Options{Repeats: 10, Warmup: 2}}
	cmd := &cobra.Command{
		Use: m.name, Short: m.short, Long: m.long, Annotations: details(m.details),
		Example: "  nmn bench " + m.name + " " + strings.Join(m.examples, "\n  nmn bench "+m.name+" "),
		Args:    refuseArguments,
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := cmp.Or(b.validate(cmd), m.validate(b, cmd)); err != nil {
			return usageError{err}
		}
		return b.print(cmd.Context(), p, m)
	}
	m.flags(b, cmd)
	if m.ranks {
		ranksFlag(cmd)
	}
	r := under(cmd, "Measurement")
	r.int(&b.options.Repeats, "repeats", "measure this many `runs`", "[1,1000000]")
	r.int(&b.options.Warmup, "warmup", "run this many unmeasured `runs` first", "[0,1000000]")
	r.bool(&b.asJSON, "json", "print JSON")
	run := under(cmd, "Run")
	deviceFlags(run, &b.run.Device, &b.run.Threads)
	precisionFlag(run, &b.run)
	return cmd
}

// print measures on the device of --device and prints the figures.
func (b *benchCommand) print(ctx context.Context, p *program, m benchmark) (err error) {
	backend, err := p.openDevice(&b.run, b.learnsNothing())
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, backend.Close()) }()
	b.options.Group, b.options.Threads = p.ranks, b.run.Threads
	figures, text, err := m.measure(b, ctx, backend)
	if err != nil || p.follows() {
		return err
	}
	return p.print(b.asJSON, figures, "%s", text)
}

func (b *benchCommand) validate(cmd *cobra.Command) error {
	if strings.HasPrefix(b.run.Device, "cuda") && cmd.Flags().Changed("threads") {
		return errors.New("bench: --threads is for the CPU: leave it out with --device cuda")
	}
	return b.run.Validate()
}
