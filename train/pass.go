package train

import (
	"cmp"
	"errors"
	"fmt"

	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/loader"
	"nmn/model"

	dense "gorgonia.org/tensor"
)

// outputs lists the tensors of a batch that the host reads after its forward pass. They are float32 tensors
// of the batch's plan, or computed after it. For one plan it must always list the same tensors, because
// recorded work does not call it again.
type outputs func(*model.Plan) ([]*tensor.Tensor, error)

// pass runs batches forward through a net, without dropout or labels, and copies the tensors that outputs
// lists to the host. If the device uploads and downloads while it computes, two batches may be under way.
// Work of a recurring shape is recorded and replayed, as in a training step. Training shares the net's
// buffers. A pass adds room for the results of a batch and for the upload of the next one.
type pass struct {
	net      *model.Net
	outputs  outputs
	feed     *feed
	full     bool          // the device has no memory for a second batch: batches wait for their turn
	drain    kernels.Drain // nil if each batch is waited for
	graphs   *kernels.GraphCache[work]
	profiler kernels.Card // nil for none
	arena    *tensor.Arena
	room     *tensor.Tensor // of the results of a batch
	known    map[*model.Plan]*passResults
	plan     *model.Plan  // at hand
	enqueue  func() error // made once: a closure for each batch would allocate

	begun  []*passResults // of the batches that were begun and not finished, the oldest first
	values [][]float32
}

// passResults holds the results of one shape of batch, next to each other, so that one download brings all.
type passResults struct {
	all  *tensor.Tensor
	each []*tensor.Tensor // views of all
	host *dense.Dense     // used if there is no drain
}

// newPass makes a pass over one or several batches. A pass over one batch has nothing to overlap with, and so
// allocates only room for results on the device.
func newPass(net *model.Net, outputs outputs, several bool) (*pass, error) {
	backend := net.Backend()
	p := &pass{net: net, outputs: outputs, feed: &feed{backend: backend},
		graphs: kernels.NewGraphCache[work](backend, maxGraphs), arena: tensor.NewArena(backend),
		known: map[*model.Plan]*passResults{}}
	p.enqueue = p.enqueueScores
	p.profiler, _ = backend.(kernels.Card)
	if several {
		if err := p.open(backend); err != nil {
			return nil, errors.Join(err, p.close())
		}
	}
	p.feed.scoring = true
	return p, nil
}

// open makes what overlapping batches need.
func (p *pass) open(backend kernels.Backend) (err error) {
	fed, err := newFeed(backend)
	if err != nil {
		return err
	}
	p.feed = fed
	if card, ok := backend.(kernels.Card); ok {
		p.drain, err = card.NewDrain()
	}
	return err
}

// begin enqueues the work on a batch. With a drain, its results may be waited for after the next begin.
func (p *pass) begin(batch *loader.Batch) error {
	err := p.start(batch)
	if err != nil {
		return fmt.Errorf("scores of samples %s: %w", listed(batch.IDs), err)
	}
	return nil
}

// section names the following work for a profiler.
func (p *pass) section(name string) {
	if p.profiler != nil {
		p.profiler.Section(name)
	}
}

func (p *pass) start(batch *loader.Batch) (err error) {
	defer p.section("")
	p.section("take the batch")
	if p.feed.ahead() && !p.full { // before the plan: if the plan must grow, it waits for the earlier batch
		err := p.feed.stage(batch)
		if p.full = errors.Is(err, kernels.ErrOutOfMemory); err != nil && !p.full {
			return err
		}
	}
	if p.plan, err = p.net.Plan(batch.T, batch.N, false); err != nil {
		return err
	}
	if p.full {
		err = p.feed.upload(p.plan, batch)
	} else {
		err = p.feed.take(p.plan, batch)
	}
	if err != nil {
		return err
	}
	p.section("scores")
	if err := p.graphs.Do(work{plan: p.plan, scores: true}, p.enqueue); err != nil {
		return err
	}
	r := p.known[p.plan]
	if p.drain != nil {
		err = p.drain.Begin(r.all)
	}
	if err == nil {
		p.begun = append(p.begun, r)
	}
	return err
}

// enqueueScores goes from the input of the plan at hand to its results.
func (p *pass) enqueueScores() error {
	if err := cmp.Or(p.net.Normalize(p.plan), p.net.Forward(p.plan, false)); err != nil {
		return err
	}
	list, err := p.outputs(p.plan)
	if err != nil {
		return err
	}
	r, ok := p.known[p.plan]
	if !ok {
		if r, err = p.place(list); err != nil {
			return err
		}
		p.known[p.plan] = r
	}
	for i, t := range list {
		if err := p.net.Backend().Copy(r.each[i], t); err != nil {
			return err
		}
	}
	return nil
}

// place makes room for the results of a shape of batch. Room that has become too small stays, for graphs name it.
func (p *pass) place(list []*tensor.Tensor) (*passResults, error) {
	total := 0
	for _, t := range list {
		total += t.Len()
	}
	if p.room == nil || p.room.Len() < total {
		room, err := p.arena.Alloc(tensor.Float32, total)
		if err != nil {
			return nil, fmt.Errorf("training: cannot hold the results of a batch: %w", err)
		}
		p.room = room
	}
	r := &passResults{}
	var err error
	if r.all, err = p.room.Rows(0, total); err != nil {
		return nil, err
	}
	at := 0
	for _, t := range list {
		view, err := p.room.Rows(at, at+t.Len())
		if err != nil {
			return nil, err
		}
		r.each, at = append(r.each, view), at+t.Len()
	}
	if p.drain == nil {
		r.host = model.Host(total)
	}
	return r, nil
}

// finish waits for the results of the oldest batch that was begun. They hold until the next begin.
func (p *pass) finish(batch *loader.Batch) ([][]float32, error) {
	r := p.begun[0]
	p.begun = append(p.begun[:0], p.begun[1:]...)
	all, err := p.wait(r)
	if err != nil {
		return nil, fmt.Errorf("scores of samples %s: %w", listed(batch.IDs), err)
	}
	p.values = p.values[:0]
	for _, view := range r.each {
		p.values = append(p.values, all[:view.Len()])
		all = all[view.Len():]
	}
	return p.values, nil
}

func (p *pass) wait(r *passResults) ([]float32, error) {
	defer p.section("")
	p.section("wait")
	if p.drain != nil {
		return p.drain.Next()
	}
	if err := p.net.Backend().Download(r.host, r.all); err != nil {
		return nil, err
	}
	return r.host.Float32s(), nil
}

func (p *pass) overlaps() bool { return p.drain != nil }

// close waits for work under way and frees the pass's memory.
func (p *pass) close() error {
	var errs []error
	if p.drain != nil {
		errs = append(errs, p.drain.Close())
	}
	return errors.Join(append(errs, p.feed.close(), p.graphs.Close(), p.arena.Close())...)
}
