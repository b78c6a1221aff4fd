package s2vt

import (
	"errors"
	"fmt"
	"slices"

	"nmn/format/safetensors"
	"nmn/kernels/tensor"
	"nmn/model/param"
)

// SetValues copies values to a parameter, row-major.
func (n *Net) SetValues(p *param.Param, values []float32) error {
	return wrapped(p.SetValues(n.backend, values))
}

// Weights lists all parameters for a file. They are read from the device when they are written.
func (n *Net) Weights() []safetensors.Tensor { return param.Tensors(n.backend, n.params) }

// Load sets all parameters from a file, whose names and shapes are checked before anything is set. Numbers
// that are not finite are an error that wraps safetensors.ErrCorrupt.
func (n *Net) Load(f param.Source) error {
	for _, p := range n.params {
		_, shape, err := f.Info(p.File)
		if err != nil {
			return fmt.Errorf("s2vt: %w", err)
		}
		if !slices.Equal(shape, p.Shape) {
			return fmt.Errorf("s2vt: %s is %s in the file and %s in this net: %w",
				p.File, tensor.Format(shape), tensor.Format(p.Shape), tensor.ErrShape)
		}
	}
	for _, p := range n.params {
		if err := p.Read(f, p.File, n.backend, p.W); err != nil {
			if errors.Is(err, param.ErrNumber) {
				err = fmt.Errorf("%w: %w", err, safetensors.ErrCorrupt)
			}
			return wrapped(err)
		}
	}
	return nil
}

// wrapped adds to an error about a parameter that it belongs to a captioner.
func wrapped(err error) error {
	if err != nil {
		return fmt.Errorf("s2vt: %w", err)
	}
	return nil
}
