package model

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"nmn/format/safetensors"

	dense "gorgonia.org/tensor"
)

// Weights lists all parameters for a weight file, under torchvision's names and in its layouts where
// it has them, so that a net with the depths of VGG16 loads in PyTorch. The data is read from the
// device when it is written, one parameter at a time.
func (n *Net) Weights() []safetensors.Tensor {
	tensors := make([]safetensors.Tensor, len(n.all))
	for i, p := range n.all {
		tensors[i] = safetensors.Tensor{Name: p.File, DType: safetensors.F32, Shape: p.fileShape,
			Data: func(w io.Writer) error { return n.WriteParam(w, p) }}
	}
	return append(tensors, n.standard.tensors()...)
}

// WriteParam writes a parameter as files have it, in little-endian float32. It is taken from the device in
// blocks of rows.
func (n *Net) WriteParam(w io.Writer, p *Param) error {
	rows, block := p.W.Dim(0), p.block()
	row, held := p.FileLen()/rows, p.W.Len()/rows
	values, ordered, buffer := make([]float32, block*held), make([]float32, block*row), make([]byte, 0, 4*block*row)
	for lo := 0; lo < rows; lo += block {
		hi := min(lo+block, rows)
		view, err := p.W.Rows(lo, hi)
		if err != nil {
			return err
		}
		if err := n.downloadInto(values[:(hi-lo)*held], view); err != nil {
			return fmt.Errorf("model: cannot read %s: %w", p.Name, err)
		}
		piece := ordered[:(hi-lo)*row]
		p.Encode(piece, values[:(hi-lo)*held])
		buffer = buffer[:0]
		for _, v := range piece {
			buffer = binary.LittleEndian.AppendUint32(buffer, math.Float32bits(v))
		}
		if _, err := w.Write(buffer); err != nil {
			return err
		}
	}
	return nil
}

// Values copies a parameter to the host, in the order of the device (filters KRSC), without the channels
// that files lack.
func (n *Net) Values(p *Param) ([]float32, error) {
	values, err := n.download(p.W)
	if err != nil {
		return nil, err
	}
	return p.stripped(values), nil
}

// SetValues copies a parameter from the host, in the order of Values.
func (n *Net) SetValues(p *Param, values []float32) error {
	if len(values) != p.FileLen() {
		return fmt.Errorf("model: %d values for %s with %d elements", len(values), p.Name, p.FileLen())
	}
	return n.set(p, p.padded(values))
}

// Host makes a host array for the contents of a device tensor of floats.
func Host(shape ...int) *dense.Dense {
	return dense.New(dense.Of(dense.Float32), dense.WithShape(shape...))
}
