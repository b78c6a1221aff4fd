package measure

import (
	"context"
	"slices"
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
	Layer   string  `json:"layer"`
	Pass    string  `json:"pass"` // forward, data gradient, max pool, ...
	Shape   string  `json:"shape"`
	MS      float64 `json:"ms"`               // median
	Share   float64 `json:"share"`            // of the sum of all
	GFLOP   float64 `json:"gflop,omitempty"`  // of convolutions
	GFLOPS  float64 `json:"gflops,omitempty"` // for each second
	Bytes   int     `json:"bytes"`            // of operands
	GBPerS  float64 `json:"gb_per_s"`
	Factors string  `json:"factors,omitempty"` // the type of the numbers that are multiplied; empty without GFLOP
	// Reached is the share of the device's own rates: of products of such numbers or of copies, whichever the operation
	// comes nearer to.
	Reached   float64 `json:"reached"`
	Algorithm string  `json:"algorithm,omitempty"`
}

// OperationFigures are measurements of all operations of a step.
type OperationFigures struct {
	NetFigures
	TotalMS float64     `json:"total_ms"` // of the operations, one step
	GFLOPS  float64     `json:"gflops"`   // convolutions, in the time of all operations
	Ops     []Operation `json:"ops"`
	// The speed of the device in a large product, for each type of factors in the step, and in a copy within its
	// memory, measured after the steps.
	ProductGFLOPS map[string]float64 `json:"product_gflops"`
	CopyGBPerS    float64            `json:"copy_gb_per_s"`
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
	if err := f.measureRates(backend, o); err != nil {
		return nil, err
	}
	f.compare()
	return f, nil
}

const (
	// A product or a copy that takes as many milliseconds is large enough to show the rate of the device.
	longEnough = 4
	// No larger one is tried after so long, which includes choosing how to compute it.
	comparing = 3 * time.Second
)

// measureRates measures the device's own rates. Products and copies grow until they take long enough.
func (f *OperationFigures) measureRates(backend kernels.Backend, o Options) error {
	f.ProductGFLOPS = map[string]float64{}
	for _, dtype := range []tensor.DType{tensor.Float32, tensor.BFloat16} {
		name := dtype.String()
		if !slices.ContainsFunc(f.Ops, func(op Operation) bool { return op.Factors == name }) {
			continue
		}
		began := time.Now()
		for size, ms := 256, 0.; ms < longEnough && size <= 8192 && time.Since(began) < comparing; size *= 2 {
			product, err := o.product(backend, size, dtype)
			if err != nil {
				return err
			}
			ms = product.MS
			f.ProductGFLOPS[name] = max(f.ProductGFLOPS[name], product.GFLOPS)
		}
	}
	began := time.Now()
	for mib, ms := 64, 0.; ms < longEnough && mib <= 1024 && time.Since(began) < comparing; mib *= 2 {
		copies, err := o.copied(backend, mib)
		if err != nil {
			return err
		}
		ms, f.CopyGBPerS = copies.MS, copies.GBPerS
	}
	return nil
}

// compare computes the share of the device's rates that each operation reaches.
func (f *OperationFigures) compare() {
	for i := range f.Ops {
		op := &f.Ops[i]
		op.Reached = op.GBPerS / f.CopyGBPerS
		if op.Factors != "" {
			op.Reached = max(op.Reached, op.GFLOPS/f.ProductGFLOPS[op.Factors])
		}
		f.LeastMS += op.Reached * op.MS
	}
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
		op := Operation{
			Layer: o.Layer, Pass: o.Name, Shape: o.Shape, MS: milliseconds(took),
			GFLOP: o.FLOP / 1e9, GFLOPS: rate(o.FLOP/1e9, took),
			Bytes: o.Bytes, GBPerS: rate(float64(o.Bytes)/1e9, took), Algorithm: o.Algorithm,
		}
		if o.FLOP > 0 {
			op.Factors = o.Factors.String()
		}
		f.Ops = append(f.Ops, op)
	}
	for i := range f.Ops {
		f.Ops[i].Share = f.Ops[i].MS / f.TotalMS
	}
	f.GFLOPS = work / f.TotalMS * 1e3
}
