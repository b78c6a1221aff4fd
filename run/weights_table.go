package run

import (
	"fmt"
	"strings"

	"nmn/format/weights"
	"nmn/internal/visible"
	"nmn/kernels/tensor"
	"nmn/model"
)

// WeightsTable lists for people what was taken from a file of weights, a line for each layer.
func WeightsTable(name string, file *weights.File, report *model.LoadReport) string {
	var b strings.Builder
	fmt.Fprintf(&b, "weights %s: %s, %d tensors", visible.Line(name), file.Format, len(file.Names()))
	if file.BGR {
		b.WriteString(", BGR turned into RGB")
	}
	b.WriteByte('\n')
	row := func(m model.Match, note string) {
		layer, isWeight := strings.CutSuffix(m.Param, ".weight")
		if !isWeight {
			return
		}
		_, layer, _ = strings.Cut(layer, ".")
		shape := "-"
		if m.Tensor != "" {
			shape = tensor.Format(m.Shape)
		}
		line := fmt.Sprintf("  %-8s %-24s %-14s %-5s%s", layer, visible.Line(strings.TrimSuffix(m.Tensor, ".weight")), shape, m.DType,
			note)
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
