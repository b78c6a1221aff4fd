package measure

import (
	"context"
	"strings"
	"time"

	"nmn/kernels"
	"nmn/kernels/profile"
	"nmn/kernels/tensor"
	"nmn/model"
	"nmn/train"
)

// Operation is one operation of a step.
type Operation struct {
	Layer  string  `json:"layer"`
	Pass   string  `json:"pass"` // forward, data gradient, max pool, ...
	Shape  string  `json:"shape"`
	MS     float64 `json:"ms"`               // median
	Share  float64 `json:"share"`            // of the sum of all
	GFLOP  float64 `json:"gflop,omitempty"`  // of convolutions
	GFLOPS float64 `json:"gflops,omitempty"` // for each second
	Bytes  int     `json:"bytes"`            // of operands
	GBPerS float64 `json:"gb_per_s"`
	// Reached is the share of the device's own rates: of products or of copies, whichever the operation comes nearer to.
	Reached   float64 `json:"reached"`
	Algorithm string  `json:"algorithm,omitempty"`
}

// OperationFigures are measurements of all operations of a step.
type OperationFigures struct {
	NetFigures
	TotalMS float64     `json:"total_ms"` // of the operations, one step
	GFLOPS  float64     `json:"gflops"`   // convolutions, in the time of all operations
	Ops     []Operation `json:"ops"`
	// The speed of the device in one large product and in a copy within its memory, measured after the steps.
	ProductGFLOPS float64 `json:"product_gflops"`
	CopyGBPerS    float64 `json:"copy_gb_per_s"`
	// LeastMS is the time of the step if every operation reached one of these rates.
	LeastMS float64 `json:"least_ms"`
}

// Operations measures each operation within training steps on random pictures.
func Operations(ctx context.Context, backend kernels.Backend, n Net, o Options) (*OperationFigures, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	recorder := profile.New(backend)
	err := o.train(ctx, recorded(recorder, backend), n, watcher{
		begin: func(net *model.Net) error {
			label(recorder, net)
			if o.Warmup == 0 {
				return recorder.Begin()
			}
			return nil
		},
		step: func(e train.StepDone) error {
			if e.Step > o.Warmup {
				if err := recorder.End(); err != nil {
					return err
				}
			}
			if e.Step >= o.Warmup && e.Step < e.Steps {
				return recorder.Begin()
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	f := &OperationFigures{NetFigures: n.figures(backend, o)}
	f.add(recorder.Ops())
	return f, f.compare(backend, o)
}

const (
	// A product or a copy that takes as many milliseconds is large enough to show the rate of the device.
	longEnough = 4
	// No larger one is tried after so long, which includes choosing how to compute it.
	comparing = 3 * time.Second
)

// compare measures the device's own rates, and what share of them each operation reaches. Products and copies grow
// until they take long enough.
func (f *OperationFigures) compare(backend kernels.Backend, o Options) error {
	began := time.Now()
	for size, ms := 256, 0.; ms < longEnough && size <= 8192 && time.Since(began) < comparing; size *= 2 {
		products, err := Products(backend, []int{size}, o)
		if err != nil {
			return err
		}
		ms = products.Products[0].MS
		f.ProductGFLOPS = max(f.ProductGFLOPS, products.Products[0].GFLOPS)
	}
	began = time.Now()
	for mib, ms := 64, 0.; ms < longEnough && mib <= 1024 && time.Since(began) < comparing; mib *= 2 {
		copies, err := Memory(backend, mib, o)
		if err != nil {
			return err
		}
		ms, f.CopyGBPerS = copies.MS, copies.GBPerS
	}
	for i := range f.Ops {
		op := &f.Ops[i]
		op.Reached = max(op.GFLOPS/f.ProductGFLOPS, op.GBPerS/f.CopyGBPerS)
		f.LeastMS += op.Reached * op.MS
	}
	return nil
}

// recorded is a recorder of a backend. On a card it has the memory of the card, so that a net is not limited
// by the memory of the host.
func recorded(r *profile.Recorder, backend kernels.Backend) kernels.Backend {
	if card, ok := backend.(kernels.Card); ok {
		return recordedCard{r, card}
	}
	return r
}

// recordedCard does one thing after the other, so that each operation is timed on its own.
type recordedCard struct {
	*profile.Recorder
	kernels.Card
}

func (recordedCard) Captures() bool                   { return false }
func (recordedCard) NewFeed() (kernels.Feed, error)   { return nil, nil }
func (recordedCard) NewDrain() (kernels.Drain, error) { return nil, nil }

// label names the layers by their parameters: conv1_1 has backbone.conv1_1.weight, layer1.0.conv1
// backbone.layer1.0.conv1.weight.
func label(r *profile.Recorder, net *model.Net) {
	for _, p := range net.Params() {
		for _, t := range []*tensor.Tensor{p.W, p.G, p.Copy} {
			r.Label(t, layerName(p))
		}
	}
}

func layerName(p *model.Param) string {
	layer := strings.TrimSuffix(strings.TrimSuffix(p.Name, ".weight"), ".bias")
	if _, within, ok := strings.Cut(layer, "."); ok {
		return within
	}
	return layer
}

func (f *OperationFigures) add(ops []profile.Op) {
	work := 0.0
	for i := range ops {
		o, took := &ops[i], ops[i].Median()
		f.TotalMS, work = f.TotalMS+milliseconds(took), work+o.FLOP/1e9
		f.Ops = append(f.Ops, Operation{
			Layer: o.Layer, Pass: o.Name, Shape: o.Shape, MS: milliseconds(took),
			GFLOP: o.FLOP / 1e9, GFLOPS: rate(o.FLOP/1e9, took),
			Bytes: o.Bytes, GBPerS: rate(float64(o.Bytes)/1e9, took), Algorithm: o.Algorithm,
		})
	}
	for i := range f.Ops {
		f.Ops[i].Share = f.Ops[i].MS / f.TotalMS
	}
	f.GFLOPS = work / f.TotalMS * 1e3
}
