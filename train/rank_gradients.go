package train

import (
	"time"

	"nmn/loader"
	"nmn/model"
)

// lastRead is the last batch with bags of this rank; -1 for none.
func lastRead(batches []*loader.Batch) int {
	last := len(batches) - 1
	for last >= 0 && batches[last].N == 0 {
		last--
	}
	return last
}

// reduce sums the gradients of all ranks and computes their norm. A rank without bags adds zeros.
func (t *Trainer) reduce(nothing bool) error {
	r := &t.ranks
	if !r.many {
		return nil
	}
	t.section("wait for other ranks")
	began := time.Now()
	if nothing {
		if err := t.Net.ClearGradients(); err != nil {
			return err
		}
	}
	err := r.beginTo(r.buckets)
	if err == nil {
		err = r.reducer.Wait()
	}
	r.waited(began)
	if err != nil {
		return err
	}
	return t.replays.do(work{norm: true}, t.passes.measure)
}

// gradientsTogether computes the gradients of the last batch of a step while it sums the gradients of all
// ranks. Each bucket begins when the pass completes it. A sum of several ranks cannot be recorded. On a
// device that records, the pass is therefore recorded in two parts, and buckets begin after each.
func (t *Trainer) gradientsTogether(w work) error {
	p := &t.passes
	if !t.replays.records() {
		p.options.Done = p.done
		return t.enqueueGradients()
	}
	w.part, p.options.Part = model.UpperPart, model.UpperPart
	if err := t.replays.do(w, p.gradients); err != nil {
		return err
	}
	if err := t.ranks.beginTo(t.ranks.upper); err != nil || t.ranks.upper == t.ranks.buckets {
		return err
	}
	w.part, p.options.Part = model.LowerPart, model.LowerPart
	return t.replays.do(w, p.lower)
}
