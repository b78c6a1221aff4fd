package bench

import (
	"context"
	"slices"
	"strings"

	"nmn/kernels"
	"nmn/kernels/profile"
	"nmn/kernels/tensor"
	"nmn/model"
	"nmn/train"
)

// Operation is one operation of a step.
type Operation struct {
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
	FloorMS   float64 `json:"floor_ms,omitempty"` // how long a card takes at least; 0 where that is not known
}

// OperationFigures are those of all operations of a step.
type OperationFigures struct {
	NetFigures
	TotalMS float64     `json:"total_ms"` // of the operations, one step
	GFLOPS  float64     `json:"gflops"`   // convolutions, in the time of all operations
	Ops     []Operation `json:"ops"`
	Card    *Card       `json:"card,omitempty"`     // that the floor is of; nil for none
	FloorMS float64     `json:"floor_ms,omitempty"` // of the operations that have one
}

// Operations measures each operation within training steps on random pictures.
func Operations(ctx context.Context, backend kernels.Backend, n Net, o Options) (*OperationFigures, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	recorder := profile.New(backend)
	err := o.train(ctx, accounted(recorder, backend), n, watcher{
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
	return f, nil
}

// accounted is a recorder that knows the memory of its backend where that does, so that a net on a card is not held
// against the memory of the host.
func accounted(r *profile.Recorder, backend kernels.Backend) kernels.Backend {
	accountant, ok := backend.(kernels.Accountant)
	if !ok {
		return r
	}
	return struct {
		*profile.Recorder
		kernels.Accountant
	}{r, accountant}
}

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

// Against puts the floor of each operation on a card beside its time. Operations that the code's plan does not have, as
// what moves between host and device, have none.
func (f *OperationFigures) Against(n Net, card Card) error {
	floor, err := Floor(n, FloorOptions{Card: card, Precision: tensor.Precision(f.Precision)})
	if err != nil {
		return err
	}
	f.Card, f.FloorMS = &card, 0
	next := 0 // of the plan, which has the operations in the same order
	for i := range f.Ops {
		o := &f.Ops[i]
		found := slices.IndexFunc(floor.Ops[next:], func(p FloorOperation) bool {
			return p.Layer == o.Layer && p.Pass == o.Pass && p.Shape == o.Shape
		})
		if found < 0 {
			continue
		}
		next += found
		o.FloorMS = floor.Ops[next].FloorMS
		f.FloorMS += o.FloorMS
		next++
	}
	return nil
}
