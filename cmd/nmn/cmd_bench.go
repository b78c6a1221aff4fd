package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
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
	examples          []string
	flags             func(*benchCommand, *cobra.Command) // of its own
	validate          func(*benchCommand) error           // of these
	measure           func(*benchCommand, context.Context, kernels.Backend) (benchFigures, error)
	ranks             bool // if there are several ranks, they measure it together
}

var benchmarks = []benchmark{
	{
		name: "step", short: "Measure whole training steps",
		long: `Measure whole training steps as nmn train makes them, on random pictures in memory: upload, forward,
backward and update. The median of the repeats counts. Forward (without dropout) and update are measured
again on their own; backward is what they leave of the step. Of the captioner, --model s2vt, whole steps are
measured, on random clips with captions as long as those of MSR-VTT. Of several ranks (mpirun) the batch is that of all,
and a step takes as long as on the slowest; how long their gradients take to sum alone is told besides.`,
		examples: []string{"--model scenes --batch 32", "--model s2vt --json",
			"--model vgg16 --batch 4 --size 224 --json", "--model vgg16 --batch 1 --frames 26 --device cuda"},
		flags: (*benchCommand).stepFlags, validate: (*benchCommand).validateStep, measure: (*benchCommand).step,
		ranks: true,
	},
	{
		name: "ops", short: "Measure each operation of a training step",
		long: `Measure each operation within training steps: milliseconds (the median of the repeats), share of
the sum, GFLOP/s of convolutions (every product of the definition counts, those with padding too), GB/s of
operands (each counted once for each time that it must be read or written), and the algorithm. The column
"reached %" compares GFLOP/s with one large matrix product, and GB/s with a copy of memory, measured on the
same device: the larger share counts. It passes 100 for operands that stay in caches.`,
		examples: []string{"--model scenes --batch 32", "--model vgg16 --batch 1 --no-mil --json",
			"--model vgg16 --batch 1 --frames 26 --size 565 --device cuda"},
		flags: (*benchCommand).opsFlags, validate: (*benchCommand).validateNet, measure: (*benchCommand).ops,
	},
	{
		name: "features", short: "Measure how fast features of pictures are extracted",
		long: `Measure the features of a vision transformer with random weights, of random pictures in memory: upload,
forward, and the class token back. The median of the repeats counts.`,
		examples: []string{"--model vit-s14 --batch 16", "--model vit-b16 --batch 8 --json"},
		flags:    (*benchCommand).featureFlags, validate: (*benchCommand).validateFeatures,
		measure: (*benchCommand).extracted,
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
		long: `Measure copies within the memory of the device, bytes read and bytes written counted: the limit
of every operation that does little arithmetic.`,
		examples: []string{"--mib 256", "--device cuda --mib 1024 --json"},
		flags:    (*benchCommand).memoryFlags, validate: (*benchCommand).validateMemory,
		measure: (*benchCommand).memory,
	},
}

func newBench(p *program) *cobra.Command {
	var names []string
	for _, b := range benchmarks {
		names = append(names, b.name)
	}
	names = append(names, "load", "witness")
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure the speed of a training step, of each operation, of loading, or of the machine",
		Long: "Measure the speed of training on this machine, on random pictures, of loading pictures, and of finding\n" +
			"captions that belong to other pictures.",
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
	cmd.AddCommand(newBenchLoad(p), newBenchWitness(p))
	return cmd
}

func newBenchOf(p *program, m benchmark) *cobra.Command {
	b := &benchCommand{net: measure.Net{Arch: run.NetScenes, Batch: 32, Width: 1}, sizes: []int{1024, 2048}, mib: 256,
		features: measure.Transformer{Name: measure.ViTS14, Batch: 16},
		run:      run.DefaultConfig().Run, options: measure.Options{Repeats: 10, Warmup: 2}}
	cmd := &cobra.Command{
		Use: m.name, Short: m.short, Long: m.long,
		Example: "  nmn bench " + m.name + " " + strings.Join(m.examples, "\n  nmn bench "+m.name+" "),
		Args:    refuseArguments,
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := cmp.Or(b.validate(cmd), m.validate(b)); err != nil {
			return usageError{err}
		}
		b.options.Group = p.ranks
		measured, err := b.figures(cmd.Context(), p, m)
		if err != nil || p.follows() {
			return err
		}
		if b.asJSON {
			return writeJSON(p.out, measured.figures)
		}
		_, err = io.WriteString(p.out, measured.text)
		return err
	}
	m.flags(b, cmd)
	if m.ranks {
		ranksFlag(cmd)
	}
	r := under(cmd, "Measurement")
	r.int(&b.options.Repeats, "repeats", "measured `runs`")
	r.int(&b.options.Warmup, "warmup", "`runs` before them")
	r.bool(&b.asJSON, "json", "write JSON")
	run := under(cmd, "Run")
	run.string(&b.run.Device, "device", "`device` that computes: auto, cpu, cuda or cuda:n")
	precisionFlag(run, &b.run)
	convExactFlag(run, &b.run)
	run.int(&b.run.Threads, "threads", "`goroutines` that compute; 0 for one on each processor")
	return cmd
}

// figures measures on the device that was asked for.
func (b *benchCommand) figures(ctx context.Context, p *program, m benchmark) (told benchFigures, err error) {
	backend, err := p.openDevice(&b.run)
	if err != nil {
		return told, err
	}
	defer func() { err = cmp.Or(err, backend.Close()) }()
	b.options.Threads = b.run.Threads
	return m.measure(b, ctx, backend)
}

func (b *benchCommand) validate(cmd *cobra.Command) error {
	const most = 1_000_000 // runs; each leaves a duration in memory
	o := &b.options
	switch {
	case o.Repeats < 1 || o.Repeats > most || o.Warmup < 0 || o.Warmup > most:
		return fmt.Errorf("bench: --repeats is 1 to %d, --warmup 0 to %d", most, most)
	case strings.HasPrefix(b.run.Device, "cuda") && cmd.Flags().Changed("threads"):
		return errors.New("bench: --threads is for the CPU: leave it out with --device cuda")
	}
	return b.run.Validate()
}
