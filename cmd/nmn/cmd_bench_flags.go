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

// netS2VT is the captioner, which nmn caption trains: it is measured here, not configured.
const netS2VT run.NetName = measure.CaptionerName

// benchCommand are the flags of nmn bench.
type benchCommand struct {
	net        measure.Net // of s2vt too, whose Classes are the features of a frame
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

// benchFigures are what a benchmark has measured.
type benchFigures struct {
	figures any    // as JSON has them
	text    string // for people
}

// opsFlags and stepFlags are flags of benchmarks of a net.
func (b *benchCommand) opsFlags(cmd *cobra.Command) { b.netFlags(cmd, benchNets()...) }

func (b *benchCommand) stepFlags(cmd *cobra.Command) {
	r := b.netFlags(cmd, append(benchNets(), netS2VT)...)
	r.int(&b.vocabulary, "vocab-size", "`words` that s2vt can say (default 23647)")
}

// benchNets are the classifiers that are measured.
func benchNets() []run.NetName {
	return append([]run.NetName{run.NetVGG16, run.NetScenes}, run.ResNetNames()...)
}

func (b *benchCommand) netFlags(cmd *cobra.Command, nets ...run.NetName) group {
	r := under(cmd, "Network")
	enum(r, &b.net.Arch, "model", "`network`", nets...)
	r.int(&b.net.Batch, "batch", "`bags` of a step, or captions")
	r.int(&b.net.Frames, "frames", "`pictures` of each bag, 26 for a video (default 1; 26 for s2vt)")
	r.int(&b.net.Size, "size", "height and width of the input in `pixels` (default that of the network)")
	r.float(&b.net.Width, "width", "`factor` on the channels of all hidden layers")
	r.int(&b.net.Classes, "classes",
		"`classes` (default 36 for scenes, 1000 for others on pictures; for s2vt features of a frame, 1087)")
	r.bool(&b.noMIL, "no-mil", "without instances")
	r.bool(&b.noNMN, "no-nmn", "without noise model")
	return r
}

func (b *benchCommand) featureFlags(cmd *cobra.Command) {
	r := under(cmd, "Network")
	enum(r, &b.features.Name, "model", "`network`", measure.TransformerNames()...)
	r.int(&b.features.Batch, "batch", "`pictures` at a time")
	r.int(&b.features.Size, "size", "height and width of the input in `pixels` (default 224)")
}

func (b *benchCommand) gemmFlags(cmd *cobra.Command) {
	under(cmd, "Measurement").ints(&b.sizes, "sizes", "rows and columns of the matrices, separated by commas")
}

func (b *benchCommand) memoryFlags(cmd *cobra.Command) {
	under(cmd, "Measurement").int(&b.mib, "mib", "size of a copy in `MiB`: several times that of the caches")
}

func (b *benchCommand) validateStep() error {
	switch {
	case b.net.Arch == netS2VT:
		return b.validateCaptioner()
	case b.vocabulary != 0:
		return fmt.Errorf("bench: --vocab-size is for --model s2vt, %s says no words: leave it out", b.net.Arch)
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
		return fmt.Errorf("bench: --frames %d makes bags of instances, --no-mil has none: give one of them", n.Frames)
	case !(n.Width > 0 && n.Width <= 16):
		return fmt.Errorf("bench: --width is %g, want more than 0 and at most 16", n.Width)
	}
	return n.Model().Validate()
}

// validateCaptioner refuses flags of nets that see pictures.
func (b *benchCommand) validateCaptioner() error {
	n := &b.net
	switch {
	case b.noMIL || b.noNMN || n.Size != 0:
		return errors.New(
			"bench: --no-mil, --no-nmn and --size are not for --model s2vt, which sees features: leave them out")
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
