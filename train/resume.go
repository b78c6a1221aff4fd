package train

import (
	"fmt"
	"math"
	"slices"

	"nmn/kernels/tensor"
	"nmn/model"
)

// Resume goes back to a checkpoint of the same stage: weights, optimizer, position and the table of
// the best. It must be called before Run. The checkpoint must be of the same model, words, data,
// stage, seed and settings; the limits and intervals of Config may differ, so that a stage can be made
// longer. The error wraps ErrOtherModel, ErrOtherRun or ErrCorrupt; after one that does not, the net
// may have been changed in part.
func (t *Trainer) Resume(path string) error {
	return withCheckpoint(path, func(c *checkpointFile) error {
		if err := c.sameRun(t.Options, t.identity); err != nil {
			return err
		}
		if batches := t.loader.Batches(); c.Position.Batch > batches {
			return fmt.Errorf("its position is batch %d of an epoch of %d: %w", c.Position.Batch, batches, ErrCorrupt)
		}
		if err := t.optimizer.check(c); err != nil {
			return err
		}
		if _, err := t.Net.Load(c.file, nil); err != nil {
			return err
		}
		if err := t.optimizer.load(c); err != nil {
			return err
		}
		if err := t.resumeOnline(c); err != nil {
			return err
		}
		t.at, t.saved, t.optimizer.updates = c.Position, c.Position, c.Updates
		return t.keeper.restore(c.Best, t.at.Step)
	})
}

// check looks for all moments before any is read.
func (o *optimizer) check(c *checkpointFile) error {
	return o.each(func(p *model.Param, name string, _ *tensor.Tensor) error {
		if !c.file.Has(name) {
			return fmt.Errorf("it has no tensor %s: it was trained with other layers frozen or is damaged: %w", name, ErrCorrupt)
		}
		_, shape, err := c.file.Info(name)
		if err != nil {
			return err
		}
		if !slices.Equal(shape, p.FileShape()) {
			return fmt.Errorf("its tensor %s is %v, this model needs %v: %w", name, shape, p.FileShape(), ErrOtherModel)
		}
		return nil
	})
}

func (o *optimizer) load(c *checkpointFile) error {
	return o.each(func(p *model.Param, name string, state *tensor.Tensor) error {
		values, _, err := c.file.Float32(name)
		if err != nil {
			return err
		}
		for i, v := range values {
			if !finite(float64(v)) || name[:len(secondPrefix)] == secondPrefix && math.Signbit(float64(v)) && v != 0 {
				return fmt.Errorf("element %d of %s is %v: %w", i, name, v, ErrCorrupt)
			}
		}
		ordered := make([]float32, state.Len())
		p.Decode(ordered, values)
		return o.backend.Upload(state, hostOver(ordered))
	})
}

// each calls f for every moment with its name in checkpoints.
func (o *optimizer) each(f func(p *model.Param, name string, state *tensor.Tensor) error) error {
	for i, p := range o.params {
		if err := f(p, momentPrefix+p.File, o.entries[i].M); err != nil {
			return err
		}
		if o.entries[i].V == nil {
			continue
		}
		if err := f(p, secondPrefix+p.File, o.entries[i].V); err != nil {
			return err
		}
	}
	return nil
}
