package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

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
	features   measure.Transformer
	noMIL      bool
	noNMN      bool
	sizes      []int
	mib        int
	run        run.Resources
	options    measure.Options
	asJSON     bool
}

// benchFigures are the measurements of a benchmark.
type benchFigures struct {
	figures any    // for JSON
	text    string // for the terminal
}

// opsFlags declares the flags of nmn bench ops.
func (b *benchCommand) opsFlags(cmd *cobra.Command) { b.netFlags(cmd, benchNets()...) }

// stepFlags declares the flags of nmn bench step.
func (b *benchCommand) stepFlags(cmd *cobra.Command) {
	r := b.netFlags(cmd, append(benchNets(), netS2VT)...)
	r.int(&b.vocabulary, "vocab-size", "give s2vt a vocabulary of this many `words` (default 23647)")
}

// benchNets returns the classifiers to measure.
func benchNets() []run.NetName {
	return append([]run.NetName{run.NetVGG16, run.NetScenes}, run.ResNetNames()...)
}

func (b *benchCommand) netFlags(cmd *cobra.Command, nets ...run.NetName) group {
	r := under(cmd, "Network")
	enum(r, &b.net.Arch, "model", "measure this `net`", nets...)
	r.int(&b.net.Batch, "batch", "put this many `pictures`, clips or captions in a batch")
	r.int(&b.net.Frames, "frames", "use clips of this many `frames` (default 1; 26 for s2vt)")
	r.int(&b.net.Size, "size", "set height and width of the input in `pixels`")
	r.float(&b.net.Width, "width", "multiply the channels of hidden layers by this `factor`")
	r.int(&b.net.Classes, "classes",
		"set the number of `classes`, or of features for s2vt")
	r.bool(&b.noMIL, "no-mil", "leave out instances")
	r.bool(&b.noNMN, "no-nmn", "leave out the noise model")
	return r
}

func (b *benchCommand) featureFlags(cmd *cobra.Command) {
	r := under(cmd, "Network")
	enum(r, &b.features.Name, "model", "measure this `net`", measure.TransformerNames()...)
	r.int(&b.features.Batch, "batch", "compute this many `pictures` at once")
	r.int(&b.features.Size, "size", "set height and width of the input in `pixels` (default 224)")
}

func (b *benchCommand) gemmFlags(cmd *cobra.Command) {
	under(cmd, "Measurement").ints(&b.sizes, "sizes", "multiply matrices of these `sizes`, as n,...")
}

func (b *benchCommand) memoryFlags(cmd *cobra.Command) {
	under(cmd, "Measurement").int(&b.mib, "mib", "copy this many `MiB`, several times the size of the caches")
}

func (b *benchCommand) validateStep() error {
	switch {
	case b.net.Arch == netS2VT:
		return b.validateCaptioner()
	case b.vocabulary != 0:
		return fmt.Errorf("bench: --vocab-size is for --model s2vt, not for %s: leave it out", b.net.Arch)
	}
	return b.validateNet()
}

func (b *benchCommand) validateNet() error {
	n := &b.net
	n.Frames, n.MIL, n.Noise = cmp.Or(n.Frames, 1), !b.noMIL, !b.noNMN
	switch {
	case n.Batch < 1 || n.Size < 0 || n.Classes < 0:
		return errors.New("bench: --batch is at least 1, --size and --classes at least 0")
	case n.Frames < 1:
		return fmt.Errorf("bench: --frames is %d, want at least 1", n.Frames)
	case n.Frames > 1 && b.noMIL:
		return fmt.Errorf("bench: --frames %d needs instances: leave out --no-mil", n.Frames)
	case !(n.Width > 0 && n.Width <= 16):
		return fmt.Errorf("bench: --width is %g, want more than 0 and at most 16", n.Width)
	}
	return n.Model().Validate()
}

// validateCaptioner refuses flags of nets on pictures.
func (b *benchCommand) validateCaptioner() error {
	n := &b.net
	switch {
	case b.noMIL || b.noNMN || n.Size != 0:
		return errors.New(
			"bench: --no-mil, --no-nmn and --size are not for --model s2vt, which takes features: leave them out")
	case n.Batch < 1 || n.Frames < 0 || n.Classes < 0 || b.vocabulary < 0:
		return errors.New("bench: --batch is at least 1, --frames, --classes and --vocab-size at least 0")
	case !(n.Width > 0 && n.Width <= 16):
		return fmt.Errorf("bench: --width is %g, want more than 0 and at most 16", n.Width)
	}
	return b.captioner().Model().Validate()
}

func (b *benchCommand) captioner() measure.Captioner {
	n := &b.net
	return measure.Captioner{Batch: n.Batch, Frames: n.Frames, Features: n.Classes, Vocabulary: b.vocabulary,
		Width: n.Width}
}

func (b *benchCommand) validateFeatures() error {
	const most = 1 << 12
	if f := &b.features; f.Batch < 1 || f.Batch > most || f.Size < 0 || f.Size > most {
		return fmt.Errorf("bench: --batch is 1 to %d, --size 0 to %d", most, most)
	}
	return b.features.Validate()
}

func (b *benchCommand) validateGEMM() error {
	const most = 1 << 15 // three matrices of 4 GiB
	if len(b.sizes) == 0 || slices.Min(b.sizes) < 1 || slices.Max(b.sizes) > most {
		return fmt.Errorf("bench: --sizes is %v, want one or more numbers from 1 to %d", b.sizes, most)
	}
	return nil
}

func (b *benchCommand) validateMemory() error {
	const most = 1 << 16 // 64 GiB
	if b.mib < 1 || b.mib > most {
		return fmt.Errorf("bench: --mib is %d, want 1 to %d", b.mib, most)
	}
	return nil
}
