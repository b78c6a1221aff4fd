package train

import (
	"slices"
	"time"

	"nmn/group"
	"nmn/kernels/reduce"
	"nmn/kernels/tensor"
	"nmn/kernels/update"
)

// Ranks of one host hold what learns together while they make steps: of the weights and the optimizer's state there is
// one copy, and each rank sees the gradients of all. Each sums and updates a part of every parameter (reduce.Shared
// says how they keep out of one another's way). Other ranks send their gradients, and update all of them.
//
// Outside of a step's update nobody writes to weights or state that are held together, so that whatever reads them
// between steps, a validation or a checkpoint, needs to know nothing of it. Whatever else writes them comes before the
// first step or behind the last, when every rank has its own again: checkpoints that are read, weights that are sent.
// The exchange of weights and averages is divided too.

// divided is the part of an update that this rank makes; without shared there is none, and it makes all.
type divided struct {
	shared   *reduce.Shared
	entries  []update.Entry // this rank's parts of the optimizer's, but for empty ones
	of       []int          // the optimizer's entry of each
	averaged []update.Entry // the same with a rate of 1
}

// begin takes the rates of the optimizer's entries.
func (d *divided) begin(entries []update.Entry) {
	for i, of := range d.of {
		d.entries[i].LR = entries[of].LR
	}
}

// due are the entries that this rank updates.
func (o *Optimizer) due() []update.Entry {
	if o.divided.shared != nil {
		return o.divided.entries
	}
	return o.entries
}

// share has the ranks of a group hold parameters and state together, where they can.
func (o *Optimizer) share(g group.Group) (err error) {
	var learned []reduce.Learned
	for _, e := range o.entries {
		l := reduce.Learned{G: e.G}
		for _, t := range []*tensor.Tensor{e.W, e.M, e.V, e.Average} {
			if t != nil {
				l.Same = append(l.Same, t)
			}
		}
		learned = append(learned, l)
	}
	d := &o.divided
	if d.shared, err = reduce.Share(g, o.backend, learned); err != nil || d.shared == nil {
		return err
	}
	for i, e := range o.entries {
		for _, t := range []**tensor.Tensor{&e.W, &e.G, &e.M, &e.V, &e.Average} {
			if *t, err = d.shared.Own(i, *t); err != nil {
				return err
			}
		}
		if e.G != nil {
			d.entries, d.of = append(d.entries, e), append(d.of, i)
		}
	}
	d.averaged = slices.Clone(d.entries)
	for i := range d.averaged {
		d.averaged[i].LR = 1
	}
	return nil
}

// unshare gives this rank its own parameters and state again.
func (o *Optimizer) unshare() error {
	shared := o.divided.shared
	o.divided = divided{}
	if shared == nil {
		return nil
	}
	return shared.Close()
}

// exchangeTogether swaps weights and averages when no rank reads them.
func (o *Optimizer) exchangeTogether() error {
	if err := o.divided.shared.Wait(); err != nil {
		return err
	}
	if err := o.backend.Exchange(o.divided.averaged); err != nil {
		return err
	}
	return o.divided.shared.Wait()
}

// scaleOfSum is what the sums of gradients are multiplied with where measure divides them by the number of bags.
func (o *Optimizer) scaleOfSum() float32 {
	if bags := o.host.Float32s()[0]; o.config.Accumulate > 1 && bags > 1 {
		return 1 / bags
	}
	return 1
}

// holdTogether has the ranks hold what learns together for the steps of a stage, where they can. All have the same
// weights and state before. Gradients that travel in bfloat16 do travel.
func (t *Trainer) holdTogether() error {
	r := &t.ranks
	if !r.many || t.Wire != group.Float32 {
		return nil
	}
	err := t.optimizer.share(r.group)
	if t.optimizer.divided.shared == nil {
		return err
	}
	t.Net.Moved()
	return joined(err, r.close())
}

// leaveTogether gives this rank what learns as its own, if it was held together.
func (t *Trainer) leaveTogether() error {
	if t.optimizer.divided.shared == nil {
		return nil
	}
	err := t.optimizer.unshare()
	t.Net.Moved()
	return joined(t.ranks.open(t.Net, t.Wire), err)
}

// sumDivided sums this rank's part of the gradients, and computes the norm of all.
func (t *Trainer) sumDivided(began time.Time) error {
	shared := t.optimizer.divided.shared
	err := shared.Ready()
	t.ranks.waited(began)
	if err != nil {
		return err
	}
	t.section("sum")
	if err := shared.Sum(t.optimizer.scaleOfSum()); err != nil {
		return err
	}
	t.results.norm.Float32s()[0] = shared.Norm(t.optimizer.entries)
	return nil
}

// updated waits until all ranks have updated their parts.
func (t *Trainer) updated() error {
	shared := t.optimizer.divided.shared
	if shared == nil {
		return nil
	}
	t.section("wait for other ranks")
	return shared.Wait()
}
