package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"nmn/bench/measure"
	"nmn/kernels"
)

func (b *benchCommand) step(ctx context.Context, backend kernels.Backend) (any, error) {
	switch {
	case b.learnsNothing():
		return measure.Features(backend, b.transformer(), b.options)
	case b.net.Arch == netS2VT:
		return measure.CaptionStep(ctx, backend, b.captioner(), b.options)
	}
	return measure.Step(ctx, backend, b.net, b.options)
}

func (b *benchCommand) ops(ctx context.Context, backend kernels.Backend) (any, error) {
	return measure.Operations(ctx, backend, b.net, b.options)
}

func (b *benchCommand) machine(_ context.Context, backend kernels.Backend) (any, error) {
	return measure.Machine(backend, b.sizes, b.mib, b.options)
}

// printFigures prints figures as JSON, operations as a table, or other figures a line each.
func (p *program) printFigures(asJSON bool, figures any) error {
	if operations, ok := figures.(*measure.OperationFigures); ok && !asJSON {
		_, err := p.out.Write([]byte(operationsText(operations)))
		return err
	}
	if asJSON {
		return writeJSON(p.out, figures)
	}
	data, err := json.MarshalIndent(figures, "", " ")
	if err != nil {
		return err
	}
	var text strings.Builder
	for line := range strings.Lines(string(data)) {
		name, value, found := strings.Cut(strings.Trim(line, " ,\n"), ": ")
		if !found || value == "{" || value == "[" {
			continue
		}
		if x, err := strconv.ParseFloat(value, 64); err == nil && strings.Contains(value, ".") {
			value = fmt.Sprintf("%.4g", x)
		}
		fmt.Fprintf(&text, "%-18s %s\n", strings.Trim(name, `"`), strings.Trim(value, `"`))
	}
	_, err = p.out.Write([]byte(text.String()))
	return err
}

func operationsText(f *measure.OperationFigures) string {
	var text strings.Builder
	with := map[bool]string{true: "with", false: "without"}
	fmt.Fprintf(&text, "%s, %d pixels, width %g, %d times %d pictures, %s MIL, %s noise model, on %s\n\n", f.Model, f.Size,
		f.Width, f.Batch, max(f.Frames, 1), with[f.MIL], with[f.NMN], f.Device)
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.TabIndent)
	fmt.Fprintln(w, "layer\toperation\tms\tshare %\tGFLOP/s\tGB/s\treached %\tshape\talgorithm")
	for _, o := range f.Ops {
		gflops := ""
		if o.GFLOP > 0 {
			gflops = fmt.Sprintf("%.1f", o.GFLOPS)
		}
		fmt.Fprintf(w, "%s\t%s\t%.3f\t%.1f\t%s\t%.1f\t%.0f\t%s\t%s\n", o.Layer, o.Pass, o.MS, 100*o.Share, gflops, o.GBPerS,
			100*o.Reached, o.Shape, o.Algorithm)
	}
	w.Flush()
	fmt.Fprintf(&text, "\nall: %.2f ms, %.1f GFLOP/s\nthe device: ", f.TotalMS, f.GFLOPS)
	for _, factors := range slices.Sorted(maps.Keys(f.ProductGFLOPS)) {
		fmt.Fprintf(&text, "%.1f GFLOP/s in a large product of %s, ", f.ProductGFLOPS[factors], factors)
	}
	fmt.Fprintf(&text, "%.1f GB/s in a copy; at these rates all would take %.2f ms\n", f.CopyGBPerS, f.LeastMS)
	return text.String()
}
