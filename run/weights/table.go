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
func table(name, format string, tensors int, report *model.LoadReport) string {
	var b strings.Builder
	fmt.Fprintf(&b, "weights %s: %s, %d tensors", visible.Line(name), format, tensors)
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
		line := fmt.Sprintf("  %-*s %-24s %-14s %-5s%s", width, layerOf(m),
			visible.Line(strings.TrimSuffix(m.Tensor, ".weight")), shape, m.DType, note)
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

// transformerTable shows people which vision transformer a file holds, how it wants pictures, and what of the file it
// does not take.
func (f *File) transformerTable() string {
	c := &f.Transformer.Config
	var b strings.Builder
	fmt.Fprintf(&b, "weights %s: %s, %d tensors\n", visible.Line(f.File), f.Format, len(f.Tensors))
	heads := fmt.Sprintf("%d heads", c.Heads)
	if c.Heads == 0 {
		heads = "a number of heads that tensors do not say (`net.backbone_heads`)"
	}
	fmt.Fprintf(&b, "  %s, layout %s: %d blocks of width %d, %s, MLP of %d, GELU %s", c.Name(), c.Layout, c.Depth, c.Width,
		heads, c.Hidden, c.GELU)
	for _, part := range []struct {
		has  bool
		name string
	}{{c.LayerScale, "LayerScale"}, {c.PreNorm, "a norm before the blocks"},
		{c.Registers > 0, fmt.Sprintf("%d registers", c.Registers)}, {c.Projection > 0, "a projection"}} {
		if part.has {
			b.WriteString(", " + part.name)
		}
	}
	fmt.Fprintf(&b, "\n  positions  %d×%d patches of %d pixels, made to fit others: %s\n", c.Grid, c.Grid, c.Patch,
		c.Resampling)
	fmt.Fprintf(&b, "  pictures   %s\n", c.Pictures)
	b.WriteString("  features  ")
	for i, l := range c.Layers() {
		width, err := c.LayerWidth(l)
		if err != nil {
			continue // of a layer that this net has there is none
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, " %s %d", l, width)
	}
	b.WriteByte('\n')
	b.WriteString(unusedTensors(f.Transformer.Unused))
	return b.String()
}

// unusedTensors says how many tensors of a file are not taken, and names the first of them.
func unusedTensors(names []string) string {
	if len(names) == 0 {
		return ""
	}
	const most = 6
	shown := strings.Join(names[:min(most, len(names))], ", ")
	if len(names) > most {
		shown += ", ..."
	}
	return fmt.Sprintf("  %d tensors of no use here: %s\n", len(names), visible.Line(shown))
}
