package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"nmn/bench/measure"
	"nmn/run"
)

// netS2VT is the captioner of nmn caption. It is measured here, not configured.
const netS2VT run.NetName = measure.CaptionerName

// benchCommand are the flags of nmn bench.
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

// opsFlags declares the flags of nmn bench ops.
func (b *benchCommand) opsFlags(cmd *cobra.Command) { b.netFlags(cmd, benchNets()...) }

// stepFlags declares the flags of nmn bench step.
func (b *benchCommand) stepFlags(cmd *cobra.Command) {
	r := b.netFlags(cmd, slices.Concat(benchNets(), []run.NetName{netS2VT}, measure.Transformers())...)
	r.int(&b.vocabulary, "vocab-size", "give s2vt a vocabulary of this many `words` (default 23647)", "[0,]")
}

// benchNets returns the classifiers to measure.
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

// validateStep refuses flags of other nets.
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
