package model

import (
	"fmt"
	"io"

	"nmn/format/safetensors"
	"nmn/model/param"

	dense "gorgonia.org/tensor"
)

// Weights lists all parameters for a weight file, under torchvision's names and layouts if it has them, so
// that a net with the depths of VGG16 loads in PyTorch. The data is read from the device when it is written,
// one parameter at a time.
func (n *Net) Weights() []safetensors.Tensor {
	return append(param.Tensors(n.backend, n.all), n.standard.tensors()...)
}

// WriteParam writes a parameter as files have it, in little-endian float32. It is taken from the device in
// blocks of rows.
func (n *Net) WriteParam(w io.Writer, p *Param) error { return wrapped(p.Write(w, n.backend, p.W)) }

// Values copies a parameter to the host, in the order of the device (filters KRSC), without the channels
// that files lack.
func (n *Net) Values(p *Param) ([]float32, error) { return p.Values(n.backend) }

// SetValues copies a parameter from the host, in the order of Values.
func (n *Net) SetValues(p *Param, values []float32) error {
	return wrapped(p.SetValues(n.backend, values))
}

// wrapped adds to an error about a parameter that it belongs to a net.
func wrapped(err error) error {
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
	return nil
}

// Host makes a host array for the contents of a device tensor of floats.
func Host(shape ...int) *dense.Dense {
	return dense.New(dense.Of(dense.Float32), dense.WithShape(shape...))
}
