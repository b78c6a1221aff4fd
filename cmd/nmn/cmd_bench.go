package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
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

// netS2VT is the captioner of nmn caption. It is measured here, not configured.
const netS2VT run.NetName = measure.CaptionerName

type benchCommand struct {
	net        measure.Net // also for s2vt; its Classes are the features of a frame
	vocabulary int
	noMIL      bool
	noNMN      bool
	sizes      []int
	mib        int
	run        run.Resources
	options    measure.Options
	asJSON     bool
}

func (b *benchCommand) opsFlags(cmd *cobra.Command) { b.netFlags(cmd, benchNets()...) }

// stepFlags declares the flags of nmn bench step.
func (b *benchCommand) stepFlags(cmd *cobra.Command) {
	r := b.netFlags(cmd, slices.Concat(benchNets(), []run.NetName{netS2VT}, measure.Transformers())...)
	r.int(&b.vocabulary, "vocab-size", "give s2vt a vocabulary of this many `words` (default 23647)", "[0,]")
}

func benchNets() []run.NetName {
	return append([]run.NetName{run.NetVGG16, run.NetScenes}, run.ResNetNames()...)
}

func (b *benchCommand) netFlags(cmd *cobra.Command, nets ...run.NetName) group {
	r := under(cmd, "Network")
	enum(r, &b.net.Arch, "model", "measure this `net`", nets...)
	r.int(&b.net.Batch, "batch", "put this many `pictures`, clips or captions in a batch", "[1,]")
	r.int(&b.net.Frames, "frames", "use clips of this many `frames` (default 1; 26 for s2vt)", "[0,]")
	r.int(&b.net.Size, "size", "set height and width of the input in `pixels`", "[0,]")
	r.float(&b.net.Width, "width", "multiply the channels of hidden layers by this `factor`", "(0,16]")
	r.int(&b.net.Classes, "classes", "set the number of `classes`, or of features for s2vt", "[0,]")
	r.bool(&b.noMIL, "no-mil", "leave out instances")
	r.bool(&b.noNMN, "no-nmn", "leave out the noise model")
	return r
}

func (b *benchCommand) machineFlags(cmd *cobra.Command) {
	r := under(cmd, "Measurement")
	numbers(r, &b.sizes, "sizes", "multiply matrices of these `sizes`, as n,...", strconv.Atoi)
	r.int(&b.mib, "mib", "copy this many `MiB`, several times the size of the caches; 0 for no copy", "[0,65536]")
}

// learnsNothing reports whether the net is pretrained, and only its features are measured.
func (b *benchCommand) learnsNothing() bool {
	return slices.Contains(measure.Transformers(), b.net.Arch)
}

func (b *benchCommand) validateStep(cmd *cobra.Command) error {
	n, why := &b.net, "is not for --model "+string(b.net.Arch)
	switch {
	case b.learnsNothing():
		return cmp.Or(refuse(cmd, why, "frames", "width", "classes", "no-mil", "no-nmn", "vocab-size"),
			b.transformer().Validate())
	case n.Arch == netS2VT:
		return cmp.Or(refuse(cmd, why, "no-mil", "no-nmn", "size"), b.captioner().Model().Validate())
	}
	return cmp.Or(refuse(cmd, why, "vocab-size"), b.validateNet(cmd))
}

func (b *benchCommand) validateNet(*cobra.Command) error {
	n := &b.net
	n.Frames, n.MIL, n.Noise = cmp.Or(n.Frames, 1), !b.noMIL, !b.noNMN
	if n.Frames > 1 && b.noMIL {
		return fmt.Errorf("bench: --frames %d needs instances: leave out --no-mil", n.Frames)
	}
	return n.Model().Validate()
}

func (b *benchCommand) captioner() measure.Captioner {
	n := &b.net
	return measure.Captioner{Batch: n.Batch, Frames: n.Frames, Features: n.Classes, Vocabulary: b.vocabulary,
		Width: n.Width}
}

func (b *benchCommand) transformer() measure.Transformer {
	return measure.Transformer{Name: b.net.Arch, Batch: b.net.Batch, Size: b.net.Size}
}

func (b *benchCommand) validateMachine(*cobra.Command) error {
	const most = 1 << 15 // three matrices of 4 GiB
	switch {
	case len(b.sizes) == 0 && b.mib == 0:
		return errors.New("bench: give numbers in --sizes, or --mib of at least 1")
	case len(b.sizes) > 0 && (slices.Min(b.sizes) < 1 || slices.Max(b.sizes) > most):
		return fmt.Errorf("bench: --sizes is %v, want numbers from 1 to %d", b.sizes, most)
	}
	return nil
}
