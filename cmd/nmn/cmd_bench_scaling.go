package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nmn/run/bench"
)

// scalingFlags are those of a model of many cards.
type scalingFlags struct {
	network   string
	gigabits  float64
	hostCards int
	stepMS    float64
	wire      string
	cards     []int
}

// What gradients travel as.
const (
	wireFP32 = "fp32"
	wireBF16 = "bf16"
)

func (b *benchCommand) scalingFlags(cmd *cobra.Command) {
	b.netFlags(cmd, benchNets()...)
	f := &b.scaling
	f.network, f.wire, f.cards = bench.FabricNames()[0], wireFP32, []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}
	r := under(cmd, "Cards")
	enum(r, &b.floor.card, "card", "`card` whose rates count (default h200)", bench.CardNames()...)
	r.float(&f.stepMS, "step-ms", "`milliseconds` of one card's step (default the floor)")
	r.ints(&f.cards, "cards", "`numbers` of cards, separated by commas")
	r.int(&f.hostCards, "host-cards", "`cards` of a host, on NVLink (default 8)")
	n := under(cmd, "Network")
	enum(n, &f.network, "network", "what joins `hosts`", bench.FabricNames()...)
	n.float(&f.gigabits, "net-gbits", "rate of all adapters of a host in `Gb/s` (default that of the network)")
	enum(n, &f.wire, "wire", "gradients travel as `numbers`", wireFP32, wireBF16)
}

func (b *benchCommand) validateScaling() error {
	const most = 1 << 20 // cards
	f := &b.scaling
	switch {
	case len(f.cards) == 0 || slices.Min(f.cards) < 1 || slices.Max(f.cards) > most:
		return fmt.Errorf("bench: --cards is %v, want one or more numbers from 1 to %d", f.cards, most)
	case f.hostCards < 0 || f.hostCards > most:
		return fmt.Errorf("bench: --host-cards is %d, want 1 to %d", f.hostCards, most)
	case !(f.stepMS >= 0 && f.stepMS <= 1e9) || !(f.gigabits >= 0 && f.gigabits <= 1e9):
		return errors.New("bench: --step-ms and --net-gbits are above 0, or 0 for those of the model")
	}
	return b.validateNet()
}

// scaled models the step; nothing else is ever asked for.
func (b *benchCommand) scaled() (told benchFigures, asked bool, err error) {
	f := &b.scaling
	card, err := bench.CardOf(cmp.Or(b.floor.card, bench.CardNames()[0]), 0, 0)
	if err != nil {
		return told, true, err
	}
	fabric, err := bench.FabricOf(f.network, f.hostCards, f.gigabits)
	if err != nil {
		return told, true, err
	}
	figures, err := bench.Scaling(b.net, bench.ScalingOptions{Card: card, Precision: b.run.Precision, Fabric: fabric,
		HalfWire: f.wire == wireBF16, StepMS: f.stepMS, Cards: f.cards})
	if err != nil {
		return told, true, err
	}
	return benchFigures{figures, scalingText(figures)}, true, nil
}

// scalingText is a table with a line for each bucket, and one with a line for each number of cards.
func scalingText(f *bench.ScalingFigures) string {
	buckets := []column{{title: "bucket", left: true}, {title: "MB"}, {title: "ready ms"}}
	for _, b := range f.Buckets {
		for i, cell := range []string{strings.Join(b.Layers, " "), fmt.Sprintf("%.1f", float64(b.Bytes)/1e6),
			fmt.Sprintf("%.2f", b.ReadyMS)} {
			buckets[i].cells = append(buckets[i].cells, cell)
		}
	}
	cards := []column{{title: "cards"}, {title: "sums ms"}, {title: "step ms, behind"}, {title: "beside"},
		{title: "efficiency, behind"}, {title: "beside"}, {title: "pictures/s"}}
	for _, s := range f.Scaled {
		for i, cell := range []string{fmt.Sprint(s.Cards), fmt.Sprintf("%.2f", s.AllReduceMS),
			fmt.Sprintf("%.2f", s.StepMS), fmt.Sprintf("%.2f", s.OverlappedMS), fmt.Sprintf("%.2f", s.Unhidden),
			fmt.Sprintf("%.2f", s.Efficiency), fmt.Sprintf("%.0f", s.PicturesPerS)} {
			cards[i].cells = append(cards[i].cells, cell)
		}
	}
	return fmt.Sprintf("%s\na model of many cards, each with a batch of its own: nothing has run\n%s\n%s\n"+
		"one card's step %.2f ms, its floor %.2f ms, its backward pass ends at %.2f ms; %.1f MB of gradients in %s\n\n"+
		"%s\n%s", benchedNet(&f.NetFigures), f.Card, f.Fabric, f.StepMS, f.FloorMS, f.BackwardMS,
		float64(f.GradientBytes)/1e6, f.Wire, tabulated(buckets...), tabulated(cards...))
}
