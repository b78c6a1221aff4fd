package train

import (
	"errors"

	"nmn/kernels"
	"nmn/ranks"
)

// device holds what a stage keeps on the net's device in addition to the net.
type device struct {
	optimizer *Optimizer
	results   *results
	feed      *feed
	replays   *replays
	passes    passes
	ranks     rankState
	profiler  kernels.Card // nil for none
}

// section names the following work for a profiler.
func (d *device) section(name string) {
	if d.profiler != nil {
		d.profiler.Section(name)
	}
}

// open allocates all of it, for batches of at most this number of bags.
func (t *Trainer) open(bags int) error {
	d, backend := &t.device, t.Net.Backend()
	d.replays = newReplays(backend)
	d.profiler, _ = backend.(kernels.Card)
	d.ranks.group = ranks.Of(t.Group)
	d.ranks.many = d.ranks.group.Size() > 1
	d.passes = passes{gradients: t.enqueueGradients, lower: t.enqueueLower, measure: t.enqueueMeasure,
		update: t.enqueueUpdate, done: d.ranks.layerDone}
	var err error
	if d.optimizer, err = optimizerOf(t.Net, t.Config); err != nil {
		return err
	}
	if d.results, err = newResults(backend, t.Config.Accumulate, bags); err == nil {
		d.feed, err = newFeed(backend)
	}
	if err == nil {
		err = d.ranks.open(t.Net, t.Wire)
	}
	if err != nil {
		return joined(err, d.close())
	}
	return nil
}

func (d *device) close() error {
	errs := []error{d.replays.close(), d.ranks.close()}
	if d.feed != nil {
		errs = append(errs, d.feed.close())
	}
	if d.results != nil {
		errs = append(errs, d.results.close())
	}
	return errors.Join(append(errs, d.optimizer.Close())...)
}
