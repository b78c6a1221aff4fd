package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"nmn/bench/measure"
	"nmn/kernels"
)

func (b *benchCommand) step(ctx context.Context, backend kernels.Backend) (any, string, error) {
	switch {
	case b.learnsNothing():
		return b.features(backend)
	case b.net.Arch == netS2VT:
		return b.captionStep(ctx, backend)
	}
	f, err := measure.Step(ctx, backend, b.net, b.options)
	if err != nil {
		return nil, "", err
	}
	return f, fmt.Sprintf("%s\n%s"+
		"step      %9.2f ms (%.2f to %.2f)\nforward   %9.2f ms\nbackward  %9.2f ms\nupdate    %9.2f ms\n"+
		"%.1f images/s, %.1f GFLOP/s, peak memory %.0f MiB, %.0f MiB of the device, %.1f allocations a step\n",
		benchedNet(&f.NetFigures), ranksText(&f.RankFigures), f.StepMS, f.StepMinMS, f.StepMaxMS, f.ForwardMS, f.BackwardMS,
		f.UpdateMS, f.ImagesPerS, f.GFLOPS, f.PeakMemoryMiB, f.DeviceMiB, f.AllocsPerStep), nil
}

// ranksText returns the figures of several ranks, or an empty string for one.
func ranksText(f *measure.RankFigures) string {
	if f.Ranks == 0 {
		return ""
	}
	return fmt.Sprintf("%d ranks, %.1f MB of gradients, summed alone in %.2f ms; peak memory %.0f MiB each\n",
		f.Ranks, float64(f.GradientBytes)/1e6, f.SumsMS, f.RankMemoryMiB)
}

func (b *benchCommand) captionStep(ctx context.Context, backend kernels.Backend) (any, string, error) {
	f, err := measure.CaptionStep(ctx, backend, b.captioner(), b.options)
	if err != nil {
		return nil, "", err
	}
	return f, fmt.Sprintf(
		"%s, %d captions of %d words in all, %d frames of %d features, %d cells, vocabulary of %d, on %s\n"+
			"step      %9.2f ms (%.2f to %.2f)\n%.1f captions/s, %.1f GFLOP/s, peak memory %.0f MiB, %.0f MiB of the device\n",
		f.Model, f.Batch, f.WordsSaid, f.Frames, f.Features, f.Hidden, f.Vocabulary, f.Device,
		f.StepMS, f.StepMinMS, f.StepMaxMS, f.CaptionsPerS, f.GFLOPS, f.PeakMemoryMiB, f.DeviceMiB), nil
}

func (b *benchCommand) ops(ctx context.Context, backend kernels.Backend) (any, string, error) {
	f, err := measure.Operations(ctx, backend, b.net, b.options)
	if err != nil {
		return nil, "", err
	}
	return f, operationsText(f), nil
}

func (b *benchCommand) features(backend kernels.Backend) (any, string, error) {
	f, err := measure.Features(backend, b.transformer(), b.options)
	if err != nil {
		return nil, "", err
	}
	return f, fmt.Sprintf("%s, %d pixels, %d pictures at a time, on %s\n"+
		"a picture %9.2f ms\n%.1f images/s, peak memory %.0f MiB, %.0f MiB of the device\n",
		f.Model, f.Size, f.Batch, f.Device, f.ImageMS, f.ImagesPerS, f.PeakMemoryMiB, f.DeviceMiB), nil
}

func (b *benchCommand) machine(_ context.Context, backend kernels.Backend) (any, string, error) {
	f, err := measure.Machine(backend, b.sizes, b.mib, b.options)
	if err != nil {
		return nil, "", err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n", f.Device)
	if len(f.Products) > 0 {
		fmt.Fprintf(&text, "\n%-6s  %9s  %9s  %s\n", "size", "ms", "GFLOP/s", "algorithm")
	}
	for _, g := range f.Products {
		fmt.Fprintf(&text, "%-6d  %9.3f  %9.1f  %s\n", g.Size, g.MS, g.GFLOPS, g.Algorithm)
	}
	if c := f.Copy; c != nil {
		fmt.Fprintf(&text, "\ncopied %d MiB in %.3f ms: %.1f GB/s read and written\n", b.mib, c.MS, c.GBPerS)
	}
	return f, text.String(), nil
}

func benchedNet(f *measure.NetFigures) string {
	bags := fmt.Sprintf("%d pictures", f.Batch)
	if f.Frames > 1 {
		bags = fmt.Sprintf("%d clips of %d frames", f.Batch, f.Frames)
	}
	with := map[bool]string{true: "with", false: "without"}
	return fmt.Sprintf("%s, %d pixels, width %g, %s, %s MIL, %s noise model, on %s",
		f.Model, f.Size, f.Width, bags, with[f.MIL], with[f.NMN], f.Device)
}

func operationsText(f *measure.OperationFigures) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n\n", benchedNet(&f.NetFigures))
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
