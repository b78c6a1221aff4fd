package runweights

import (
	"fmt"
	"slices"
	"strings"

	"nmn/internal/visible"
	"nmn/kernels/tensor"
	"nmn/model"
)

// table lists for people what was taken from a file of weights, a line for each layer.
func table(name, format string, tensors int, bgr bool, report *model.LoadReport) string {
	var b strings.Builder
	fmt.Fprintf(&b, "weights %s: %s, %d tensors", visible.Line(name), format, tensors)
	if bgr {
		b.WriteString(", BGR turned into RGB")
	}
	if report.Arch != "" {
		b.WriteString(", " + report.Arch)
	}
	if report.Folded {
		b.WriteString(", batch normalisation folded into the convolutions")
	}
	b.WriteByte('\n')
	width := 8
	for _, m := range slices.Concat(report.Taken, report.Missing) {
		width = max(width, len(layerOf(m)))
	}
	row := func(m model.Match, note string) {
		if !strings.HasSuffix(m.Param, ".weight") {
			return
		}
		shape := "-"
		if m.Tensor != "" {
			shape = tensor.Format(m.Shape)
		}
		line := fmt.Sprintf("  %-*s %-24s %-14s %-5s%s", width, layerOf(m), visible.Line(strings.TrimSuffix(m.Tensor,
			".weight")), shape, m.DType, note)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	for _, m := range report.Taken {
		note := ""
		if as := tensor.Format(m.As); as != tensor.Format(m.Shape) {
			note = " as " + as
		}
		row(m, note)
	}
	for _, m := range report.Missing {
		note := " not taken: its classes are others, or unknown (`net.weights_classifier`); starts at random"
		if m.Tensor == "" {
			note = " not in the file: starts at random"
		}
		row(m, note)
	}
	b.WriteString(unusedTensors(report.Unused))
	return b.String()
}

// layerOf is the layer of a parameter, without the part of the net that it is in.
func layerOf(m model.Match) string {
	_, layer, _ := strings.Cut(m.Param, ".")
	return strings.TrimSuffix(strings.TrimSuffix(layer, ".weight"), ".bias")
}
