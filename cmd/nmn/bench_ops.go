package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"nmn/kernels"
	"nmn/kernels/profile"
	"nmn/kernels/tensor"
	"nmn/model"
	"nmn/train"
)

// opFigures are one operation of a step.
type opFigures struct {
	Layer     string  `json:"layer"`
	Pass      string  `json:"pass"` // forward, data gradient, max pool, ...
	Shape     string  `json:"shape"`
	MS        float64 `json:"ms"`               // median
	Share     float64 `json:"share"`            // of the sum of all
	GFLOP     float64 `json:"gflop,omitempty"`  // of convolutions
	GFLOPS    float64 `json:"gflops,omitempty"` // for each second
	Bytes     int     `json:"bytes"`            // of operands
	GBPerS    float64 `json:"gb_per_s"`
	Algorithm string  `json:"algorithm,omitempty"`
}

// opsFigures are what nmn bench ops tells.
type opsFigures struct {
	netFigures
	TotalMS float64     `json:"total_ms"` // of the operations, one step
	GFLOPS  float64     `json:"gflops"`   // convolutions, in the time of all operations
	Ops     []opFigures `json:"ops"`
}

// ops records the measured steps of a trainer.
func (b *benchCommand) ops(cmd *cobra.Command, p *program, backend kernels.Backend) error {
	recorder := profile.New(backend)
	err := b.steps(cmd.Context(), recorder, watcher{
		begin: func(net *model.Net) error {
			label(recorder, net)
			if b.warmup == 0 {
				return recorder.Begin()
			}
			return nil
		},
		step: func(e train.StepDone) error {
			if e.Step > b.warmup {
				if err := recorder.End(); err != nil {
					return err
				}
			}
			if e.Step >= b.warmup && e.Step < e.Steps {
				return recorder.Begin()
			}
			return nil
		},
	})
	if err != nil {
		return err
	}
	f := opsFigures{netFigures: b.describe(backend)}
	f.add(recorder.Ops())
	return f.write(p, b.asJSON)
}

// label names the layers by their parameters: conv1_1 has backbone.conv1_1.weight.
func label(r *profile.Recorder, net *model.Net) {
	for _, p := range net.Params() {
		layer := strings.TrimSuffix(strings.TrimSuffix(p.Name, ".weight"), ".bias")
		layer = layer[strings.LastIndexByte(layer, '.')+1:]
		for _, t := range []*tensor.Tensor{p.W, p.G, p.Copy} {
			r.Label(t, layer)
		}
	}
}

func (f *opsFigures) add(ops []profile.Op) {
	work := 0.0
	for i := range ops {
		o, took := &ops[i], ops[i].Median()
		f.TotalMS, work = f.TotalMS+milliseconds(took), work+o.FLOP/1e9
		f.Ops = append(f.Ops, opFigures{Layer: o.Layer, Pass: o.Name, Shape: o.Shape, MS: milliseconds(took), GFLOP: o.FLOP / 1e9,
			GFLOPS: rate(o.FLOP/1e9, took), Bytes: o.Bytes, GBPerS: rate(float64(o.Bytes)/1e9, took), Algorithm: o.Algorithm})
	}
	for i := range f.Ops {
		f.Ops[i].Share = f.Ops[i].MS / f.TotalMS
	}
	f.GFLOPS = work / f.TotalMS * 1e3
}

func (f *opsFigures) write(p *program, asJSON bool) error {
	if asJSON {
		return writeJSON(p.out, f)
	}
	passes, shapes := len("operation"), len("shape") // widths of their columns
	for _, o := range f.Ops {
		passes, shapes = max(passes, len(o.Pass)), max(shapes, utf8.RuneCountInString(o.Shape))
	}
	var b strings.Builder
	line := func(layer, pass, ms, share, gflops, gb, shape, algorithm string) {
		text := fmt.Sprintf("%-8s  %-*s  %9s  %7s  %8s  %7s  %-*s  %s", layer, passes, pass, ms, share, gflops, gb, shapes, shape, algorithm)
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	fmt.Fprintf(&b, "%v\n\n", &f.netFigures)
	line("layer", "operation", "ms", "share %", "GFLOP/s", "GB/s", "shape", "algorithm")
	for _, o := range f.Ops {
		gflops := ""
		if o.GFLOP > 0 {
			gflops = fmt.Sprintf("%.1f", o.GFLOPS)
		}
		line(o.Layer, o.Pass, fmt.Sprintf("%.3f", o.MS), fmt.Sprintf("%.1f", 100*o.Share), gflops, fmt.Sprintf("%.1f", o.GBPerS), o.Shape, o.Algorithm)
	}
	fmt.Fprintf(&b, "\nall: %.2f ms, %.1f GFLOP/s\n", f.TotalMS, f.GFLOPS)
	_, err := p.out.Write([]byte(b.String()))
	return err
}
