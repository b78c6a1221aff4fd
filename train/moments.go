package train

import (
	"errors"
	"fmt"
	"slices"

	"nmn/format/safetensors"
	"nmn/kernels/tensor"
	"nmn/model/param"
)

// Prefixes of an optimizer's state in checkpoints, before the name of the parameter in files.
const (
	momentPrefix = "optimizer.m." // first moments, or momentum
	secondPrefix = "optimizer.v." // second moments
)

// Moments lists the state for a checkpoint, in the layout of the parameters' files.
func (o *Optimizer) Moments() (all []safetensors.Tensor) {
	_ = o.each(func(p *param.Param, name string, state *tensor.Tensor) error { // nothing can fail
		all = append(all, p.Tensor(o.backend, name, state))
		return nil
	})
	return all
}

// CheckMoments looks for all of the state in a checkpoint before any is read. The error wraps ErrCorrupt or
// ErrOtherModel.
func (o *Optimizer) CheckMoments(f *safetensors.File) error {
	return o.each(func(p *param.Param, name string, _ *tensor.Tensor) error {
		if !f.Has(name) {
			return fmt.Errorf("it has no tensor %s: it was trained with other layers frozen or is damaged: %w",
				name, ErrCorrupt)
		}
		_, shape, err := f.Info(name)
		if err != nil {
			return err
		}
		if !slices.Equal(shape, p.Shape) {
			return fmt.Errorf("its tensor %s is %v, this model needs %v: %w", name, shape, p.Shape, ErrOtherModel)
		}
		return nil
	})
}

// LoadMoments reads the state of a checkpoint that was saved after so many updates. Numbers that no optimizer
// makes are an error that wraps ErrCorrupt.
func (o *Optimizer) LoadMoments(f *safetensors.File, updates int) error {
	o.updates = updates
	return o.each(func(p *param.Param, name string, state *tensor.Tensor) error {
		read := p.Read
		if name[:len(secondPrefix)] == secondPrefix {
			read = p.ReadSquares
		}
		err := read(f, name, o.backend, state)
		if errors.Is(err, param.ErrNumber) {
			err = fmt.Errorf("%w: %w", err, ErrCorrupt)
		}
		return err
	})
}

// each calls f for every moment with its name in checkpoints.
func (o *Optimizer) each(f func(p *param.Param, name string, state *tensor.Tensor) error) error {
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
