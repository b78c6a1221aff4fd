package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"nmn/run/bench"
)

// floorFlags are those of the floor of a step.
type floorFlags struct {
	modelOnly, forward bool
	card               string
	bandwidth, tflops  float64
	given              []string // of the flags that go with one kind of figures alone
}

func (b *benchCommand) floorFlags(cmd *cobra.Command) {
	f := &b.floor
	r := under(cmd, "Floor")
	r.bool(&f.modelOnly, "model-only", "run nothing: what a graphics card has to do, and how long it takes at least")
	r.bool(&f.forward, "forward", "with --model-only an evaluation's forward pass alone")
	enum(r, &f.card, "card", "`card` whose rates count (default the one that is measured, else h200)",
		bench.CardNames()...)
	r.float(&f.bandwidth, "bandwidth", "rate of its memory in `TB/s` (default nine tenths of the data sheet's)")
	r.float(&f.tflops, "tflops", "rate of its products in `TFLOP/s` (default the data sheet's, by precision)")
}

// givenAmong lists those of some flags that the command line has.
func givenAmong(cmd *cobra.Command, names ...string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return !cmd.Flags().Changed(name) })
}

func (f *floorFlags) has(name string) bool { return slices.Contains(f.given, name) }

func (b *benchCommand) validateOps() error {
	f := &b.floor
	switch {
	case f.bandwidth < 0 || f.tflops < 0 || !(f.bandwidth <= 1e6 && f.tflops <= 1e9):
		return errors.New("bench: --bandwidth and --tflops are rates above 0, or 0 for those of the card")
	case f.forward && !f.modelOnly:
		return errors.New("bench: --forward is for --model-only: give both, or leave it out")
	case f.modelOnly && (f.has("repeats") || f.has("warmup")):
		return errors.New("bench: --repeats and --warmup are for measurements: leave them out with --model-only")
	case f.modelOnly && b.run.Device != "auto" && b.run.Device != "cuda" && !strings.HasPrefix(b.run.Device, "cuda:"):
		return errors.New("bench: --model-only is of a graphics card: give --device cuda")
	case !f.modelOnly && b.run.Device == "cpu" && (f.has("card") || f.has("bandwidth") || f.has("tflops")):
		return errors.New(
			"bench: --card, --bandwidth and --tflops are of a graphics card: leave them out with --device cpu")
	}
	return b.validateNet()
}

// floorOf is the floor where it was asked for.
func (b *benchCommand) floorOf() (told benchFigures, asked bool, err error) {
	f := &b.floor
	if !f.modelOnly {
		return told, false, nil
	}
	card, err := bench.CardOf(cmp.Or(f.card, bench.CardNames()[0]), f.bandwidth, f.tflops)
	if err != nil {
		return told, true, err
	}
	figures, err := bench.Floor(b.net, bench.FloorOptions{Card: card, Precision: b.run.Precision, Forward: f.forward})
	if err != nil {
		return told, true, err
	}
	return benchFigures{figures, floorText(figures)}, true, nil
}

// cardOf is the card that a measured device is held against: what flags name, else what its name speaks of; nil for
// neither.
func (b *benchCommand) cardOf(device string) (*bench.Card, error) {
	f := &b.floor
	known, ok := bench.CardNamed(device)
	if !ok && !slices.ContainsFunc([]string{"card", "bandwidth", "tflops"}, f.has) {
		return nil, nil
	}
	card, err := bench.CardOf(cmp.Or(f.card, known.Name, bench.CardNames()[0]), f.bandwidth, f.tflops)
	return &card, err
}

// column is one of a table for people.
type column struct {
	title string
	left  bool
	cells []string
}

// tabulated writes columns side by side.
func tabulated(columns ...column) string {
	var b strings.Builder
	rows := len(columns[0].cells)
	for row := -1; row < rows; row++ {
		var line strings.Builder
		for _, c := range columns {
			width := utf8.RuneCountInString(c.title)
			for _, cell := range c.cells {
				width = max(width, utf8.RuneCountInString(cell))
			}
			cell := c.title
			if row >= 0 {
				cell = c.cells[row]
			}
			if c.left {
				width = -width
			}
			fmt.Fprintf(&line, "%*s  ", width, cell)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// floorText is a table with a line for each operation, and one with a line for each part of the step.
func floorText(f *bench.FloorFigures) string {
	operations := []column{{title: "layer", left: true}, {title: "operation", left: true}, {title: "launches"},
		{title: "GB"}, {title: "GFLOP"}, {title: "floor ms"}, {title: "bound", left: true}, {title: "shape", left: true},
		{title: "kernels", left: true}}
	add := func(columns []column, cells ...string) {
		for i := range columns {
			columns[i].cells = append(columns[i].cells, cells[i])
		}
	}
	work := func(w bench.Work) []string {
		return []string{fmt.Sprint(w.Launches), fmt.Sprintf("%.3f", float64(w.Bytes)/1e9), fmt.Sprintf("%.1f", w.GFLOP),
			fmt.Sprintf("%.3f", w.FloorMS)}
	}
	for _, o := range f.Ops {
		cells := append([]string{o.Layer, o.Pass}, work(o.Work)...)
		add(operations, append(cells, o.Bound, o.Shape, strings.Join(o.Kernels, ", "))...)
	}
	parts := []column{{title: "part", left: true}, {title: "launches"}, {title: "GB"}, {title: "GFLOP"},
		{title: "floor ms"}}
	for _, p := range f.Parts {
		if p.Launches > 0 {
			add(parts, append([]string{p.Part}, work(p.Work)...)...)
		}
	}
	add(parts, append([]string{"all"}, work(f.Total)...)...)
	of := map[bool]string{false: "a training step", true: "an evaluation's forward pass"}[f.Forward]
	return fmt.Sprintf("%s\nthe floor of %s, from the code's own plan: nothing has run\n%s\n\n%s\n%s\n"+
		"memory %.0f MiB, %.0f of them scratch of our own; cuDNN's comes on top\n",
		benchedNet(&f.NetFigures), of, f.Card, tabulated(operations...), tabulated(parts...), f.MemoryMiB, f.ScratchMiB)
}
