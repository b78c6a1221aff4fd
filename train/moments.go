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

// Resume takes the state from a checkpoint that was saved after this number of updates. It checks that the state is
// complete, then load reads the parameters, and then Resume reads the state.
func (o *Optimizer) Resume(f *safetensors.File, updates int, load func() error) error {
	if err := o.checkMoments(f); err != nil {
		return err
	}
	if err := load(); err != nil {
		return err
	}
	return o.loadMoments(f, updates)
}

// Moments lists the state for a checkpoint, in the layout of the parameters' files.
func (o *Optimizer) Moments() (all []safetensors.Tensor) {
	_ = o.each(func(p *param.Param, name string, state *tensor.Tensor) error { // nothing can fail
		all = append(all, p.Tensor(o.backend, name, state))
		return nil
	})
	return all
}

// checkMoments checks that a checkpoint holds the complete state before any of it is read. The error wraps
// ErrCorrupt or ErrOtherModel.
func (o *Optimizer) checkMoments(f *safetensors.File) error {
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

// loadMoments reads the state of a checkpoint that was saved after this number of updates. If there are
// averages, the parameters read so far are the averages, and loadMoments reads the raw parameters. Numbers
// that no optimizer produces are an error that wraps ErrCorrupt.
func (o *Optimizer) loadMoments(f *safetensors.File, updates int) error {
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

// each calls f for every moment with its name in checkpoints, and for the raw weights that checkpoints with
// averages also hold.
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
