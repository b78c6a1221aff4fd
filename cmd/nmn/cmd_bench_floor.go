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

// floorFlags name the card whose floor is printed with what was measured.
type floorFlags struct {
	card              string
	bandwidth, tflops float64
	given             []string // which of them the command line has
}

func (b *benchCommand) floorFlags(cmd *cobra.Command) {
	f := &b.floor
	r := under(cmd, "Floor")
	enum(r, &f.card, "card", "`card` whose rates count (default the one that is measured)",
		bench.CardNames()...)
	r.float(&f.bandwidth, "bandwidth", "rate of its memory in `TB/s` (default nine tenths of the data sheet's)")
	r.float(&f.tflops, "tflops", "rate of its products in `TFLOP/s` (default the data sheet's, by precision)")
}

// givenAmong lists those of some flags that the command line has.
func givenAmong(cmd *cobra.Command, names ...string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return !cmd.Flags().Changed(name) })
}

func (b *benchCommand) validateOps() error {
	f := &b.floor
	switch {
	case f.bandwidth < 0 || f.tflops < 0 || !(f.bandwidth <= 1e6 && f.tflops <= 1e9):
		return errors.New("bench: --bandwidth and --tflops are rates above 0, or 0 for those of the card")
	case b.run.Device == "cpu" && len(f.given) > 0:
		return errors.New(
			"bench: --card, --bandwidth and --tflops are of a graphics card: leave them out with --device cpu")
	}
	return b.validateNet()
}

// cardOf is the card that a measured device is held against: what flags name, else what its name speaks of; nil for
// neither.
func (b *benchCommand) cardOf(device string) (*bench.Card, error) {
	f := &b.floor
	known, ok := bench.CardNamed(device)
	if !ok && len(f.given) == 0 {
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
