package bench

import (
	"cmp"

	"nmn/kernels/ledger"
	"nmn/kernels/profile"
	"nmn/kernels/tensor"
	"nmn/model"
	"nmn/train"
)

// FloorOptions say what the floor is of.
type FloorOptions struct {
	Card      Card
	Precision tensor.Precision // empty and Auto: bf16
	// Forward leaves the gradients and the update out: what an evaluation does with a batch.
	Forward bool
}

// Work is what some launches have to do, and how long they take at least.
type Work struct {
	Launches int
	Bytes    int // read and written, each byte of an operand once for each launch
	GFLOP    float64
	FloorMS  float64
}

func (w *Work) add(l ledger.Launch, ms float64) {
	w.Launches, w.Bytes, w.GFLOP, w.FloorMS = w.Launches+1, w.Bytes+l.Bytes(), w.GFLOP+l.FLOP/1e9, w.FloorMS+ms
}

// FloorOperation is one operation of a step.
type FloorOperation struct {
	Layer string
	Pass  string
	Shape string
	Work
	Kernels []string

	launches []ledger.Launch
}

// FloorPart sums one part of a step up.
type FloorPart struct {
	Part string
	Work
}

// FloorFigures are the floor of a step, or of an evaluation of a batch.
type FloorFigures struct {
	NetFigures
	Card    Card
	Forward bool
	Total   Work
	Parts   []FloorPart
	Ops     []FloorOperation
	// MemoryMiB is what is held at most, without what cuDNN takes for its plans: PlannedMiB by parameters, buffers and
	// the optimizer's state, ScratchMiB by operations for themselves.
	MemoryMiB  float64
	PlannedMiB float64
	ScratchMiB float64

	held int // MemoryMiB in bytes
}

// Floor writes down what a graphics card does in a step, by the code that trains, and how long that takes at least.
// Nothing is computed, and no card is needed. What moves between host and device, beside the step, is left out.
func Floor(n Net, o FloorOptions) (f *FloorFigures, err error) {
	book, err := ledger.New(o.Precision)
	if err != nil {
		return nil, err
	}
	recorder := profile.New(book)
	net, err := model.New(n.Model(), accounted(recorder, book))
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	label(recorder, net)
	f = &FloorFigures{NetFigures: n.figures(book, Options{}), Card: o.Card, Forward: o.Forward}
	state := 0
	if o.Forward {
		err = evaluated(recorder, net, n)
	} else {
		state, err = stepped(recorder, net, n)
	}
	if err != nil {
		return nil, err
	}
	f.PlannedMiB = mebibytes(uint64(net.Bytes() + state))
	f.held = book.MostBytes()
	f.MemoryMiB, f.ScratchMiB = mebibytes(uint64(f.held)), mebibytes(uint64(book.ScratchBytes()))
	f.sum(recorder.Ops(), book)
	return f, nil
}

// stepped records the gradients of a batch and their update, and returns the memory of the optimizer's state.
func stepped(r *profile.Recorder, net *model.Net, n Net) (state int, err error) {
	plan, err := net.Plan(n.pictures(), n.Batch, true)
	if err != nil {
		return 0, err
	}
	c := train.Paper()
	config := train.OptimizerConfig{UpdateConfig: c.UpdateConfig, WeightDecay: c.WeightDecay, DecayBiases: c.DecayBiases,
		ClipNorm: c.ClipNorm, Accumulate: 1}
	optimizer, err := train.NewOptimizer(net.Backend(), net.Params(), nil, config)
	if err != nil {
		return 0, err
	}
	defer func() { err = cmp.Or(err, optimizer.Close()) }()
	step := model.StepOptions{Scale: 1 / float32(n.Batch), DropoutSeed: 1}
	if err := cmp.Or(net.Prepare(step), r.Begin(), net.Normalize(plan), net.Step(plan, step)); err != nil {
		return 0, err
	}
	norm, err := net.Backend().Alloc(tensor.Float32, 1)
	if err != nil {
		return 0, err
	}
	if _, err := optimizer.Begin(c.LearningRate); err != nil {
		return 0, err
	}
	return optimizer.Bytes() + norm.Bytes(), cmp.Or(optimizer.Measure(norm), optimizer.Update(norm), optimizer.End(), r.End())
}

// evaluated records what an evaluation does with a batch.
func evaluated(r *profile.Recorder, net *model.Net, n Net) error {
	plan, err := net.Plan(n.pictures(), n.Batch, false)
	if err != nil {
		return err
	}
	return cmp.Or(r.Begin(), net.Normalize(plan), net.Forward(plan, true), r.End())
}

// sum adds the launches of all operations up.
func (f *FloorFigures) sum(ops []profile.Op, book *ledger.Ledger) {
	parts := ledger.Parts()
	for _, p := range parts {
		f.Parts = append(f.Parts, FloorPart{Part: p.String()})
	}
	for i := range ops {
		launches := book.Launches(i, i+1)
		if len(launches) == 0 {
			continue // between host and device
		}
		o := FloorOperation{Layer: ops[i].Layer, Pass: ops[i].Name, Shape: ops[i].Shape, launches: launches}
		for _, l := range launches {
			ms, _ := f.Card.floor(l)
			o.add(l, ms)
			f.Total.add(l, ms)
			f.Parts[l.Part].add(l, ms)
			o.Kernels = append(o.Kernels, l.Kernel)
		}
		f.Ops = append(f.Ops, o)
	}
}
