package main

import (
	"fmt"
	"runtime"
	"strings"

	"nmn/kernels"
	"nmn/kernels/conv"
	"nmn/kernels/tensor"
	"nmn/model"
	"nmn/rng"
)

// opFigures are one operation of one layer.
type opFigures struct {
	Layer  string  `json:"layer"`
	Pass   string  `json:"pass"` // forward, data_gradient, filter_gradient
	Shape  string  `json:"shape"`
	MS     float64 `json:"ms"` // median
	GFLOP  float64 `json:"gflop"`
	GFLOPS float64 `json:"gflops"`
	Share  float64 `json:"share"` // of the sum of all
}

// opsFigures are what nmn bench ops tells.
type opsFigures struct {
	Model      string      `json:"model"`
	Size       int         `json:"size"`
	Width      float64     `json:"width"`
	Batch      int         `json:"batch"`
	Device     string      `json:"device"`
	Processors int         `json:"processors"`
	Repeats    int         `json:"repeats"`
	TotalMS    float64     `json:"total_ms"`
	GFLOPS     float64     `json:"gflops"`
	Ops        []opFigures `json:"ops"`
	Build      build       `json:"build"`
}

// ops measures the convolutions, which are nearly all of a step.
func (b *benchCommand) ops(p *program, backend kernels.Backend) error {
	c := b.net()
	f := opsFigures{Model: string(b.model), Size: c.Size, Width: b.width, Batch: b.batch, Device: backend.Name(),
		Processors: runtime.GOMAXPROCS(0), Repeats: b.repeats, Build: thisBuild()}
	for _, l := range c.Layers() {
		passes, err := b.layer(backend, l)
		if err != nil {
			return fmt.Errorf("bench: layer %s: %w", l.Name, err)
		}
		f.Ops = append(f.Ops, passes...)
	}
	work := 0.0
	for _, o := range f.Ops {
		f.TotalMS += o.MS
		work += o.GFLOP
	}
	for i := range f.Ops {
		f.Ops[i].Share = f.Ops[i].MS / f.TotalMS
	}
	f.GFLOPS = work / f.TotalMS * 1e3
	return f.write(p, b.asJSON)
}

// layer measures the passes of one convolution.
func (b *benchCommand) layer(backend kernels.Backend, l model.LayerShape) (all []opFigures, err error) {
	arena := tensor.NewArena(backend)
	defer func() { err = firstError(err, arena.Close()) }()
	stream := rng.New(1)
	random := func(shape ...int) *tensor.Tensor {
		if err != nil {
			return nil
		}
		var t *tensor.Tensor
		if t, err = arena.Alloc(tensor.Float32, shape...); err == nil {
			err = fillRandom(backend, t, &stream)
		}
		return t
	}
	x, y := random(b.batch, l.H, l.W, l.C), random(b.batch, l.OutH, l.OutW, l.K)
	dx, dy := random(b.batch, l.H, l.W, l.C), random(b.batch, l.OutH, l.OutW, l.K)
	w, dw, bias := random(l.K, l.R, l.S, l.C), random(l.K, l.R, l.S, l.C), random(l.K)
	if err != nil {
		return nil, err
	}
	params := conv.Params{Pad: l.Pad}
	passes := []struct {
		name string
		f    func() error
	}{
		{"forward", func() error { return backend.Conv(y, x, w, bias, conv.Params{Pad: l.Pad, ReLU: l.Name != "fc8"}) }},
		{"filter_gradient", func() error { return backend.ConvGradFilter(dw, x, dy, params) }},
		{"data_gradient", func() error { return backend.ConvGradData(dx, dy, w, x, params) }},
	}
	if !l.NeedsDataGradient {
		passes = passes[:2]
	}
	for _, pass := range passes {
		durations, err := b.times(func() error { return firstError(pass.f(), backend.Sync()) })
		if err != nil {
			return nil, err
		}
		o := opFigures{Layer: l.Name, Pass: pass.name, Shape: shapeOf(b.batch, l), MS: milliseconds(median(durations)), GFLOP: l.ForwardFLOP * float64(b.batch) / 1e9}
		o.GFLOPS = o.GFLOP / o.MS * 1e3
		all = append(all, o)
	}
	return all, nil
}

func shapeOf(batch int, l model.LayerShape) string {
	return tensor.Format([]int{batch, l.H, l.W, l.C}) + " * " + tensor.Format([]int{l.K, l.R, l.S, l.C})
}

func (f *opsFigures) write(p *program, asJSON bool) error {
	if asJSON {
		return writeJSON(p.out, f)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d pixels, width %g, %d pictures, on %s\n\n", f.Model, f.Size, f.Width, f.Batch, f.Device)
	fmt.Fprintf(&b, "%-8s  %-15s  %9s  %9s  %7s  %s\n", "layer", "pass", "ms", "GFLOP/s", "share %", "input * filter")
	for _, o := range f.Ops {
		fmt.Fprintf(&b, "%-8s  %-15s  %9.3f  %9.1f  %7.1f  %s\n", o.Layer, o.Pass, o.MS, o.GFLOPS, 100*o.Share, o.Shape)
	}
	fmt.Fprintf(&b, "\nall: %.2f ms, %.1f GFLOP/s\n", f.TotalMS, f.GFLOPS)
	_, err := p.out.Write([]byte(b.String()))
	return err
}
