package train

import (
	"errors"
	"fmt"
	"slices"
	"strings"

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

// LoadMoments reads the state of a checkpoint that was saved after so many updates. Where there are averages, they are
// what the parameters were read as, and the parameters themselves are read now. Numbers that no optimizer
// makes are an error that wraps ErrCorrupt.
func (o *Optimizer) LoadMoments(f *safetensors.File, updates int) error {
	o.updates = updates
	if err := o.loadAverages(f); err != nil {
		return err
	}
	return o.each(func(p *param.Param, name string, state *tensor.Tensor) error {
		read := p.Read
		switch {
		case strings.HasPrefix(name, rawPrefix):
			return nil // read with the averages
		case strings.HasPrefix(name, secondPrefix):
			read = p.ReadSquares
		}
		return corrupt(read(f, name, o.backend, state))
	})
}

// corrupt adds ErrCorrupt to an error about a number that no training makes.
func corrupt(err error) error {
	if errors.Is(err, param.ErrNumber) {
		return fmt.Errorf("%w: %w", err, ErrCorrupt)
	}
	return err
}

// each calls f for every moment with its name in checkpoints, and for the weights that these hold beside their
// averages.
func (o *Optimizer) each(f func(p *param.Param, name string, state *tensor.Tensor) error) error {
	for i, p := range o.params {
		if err := f(p, momentPrefix+p.File, o.entries[i].M); err != nil {
			return err
		}
		if v := o.entries[i].V; v != nil {
			if err := f(p, secondPrefix+p.File, v); err != nil {
				return err
			}
		}
		if o.entries[i].Average != nil {
			if err := f(p, rawPrefix+p.File, p.W); err != nil {
				return err
			}
		}
	}
	return nil
}
