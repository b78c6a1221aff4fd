package s2vt

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"nmn/format/safetensors"
	"nmn/kernels/tensor"
)

// Values copies a tensor of the net from the device.
func (n *Net) Values(t *tensor.Tensor) ([]float32, error) {
	values := make([]float32, t.Len())
	return values, n.backend.Download(tensor.HostArray(tensor.Float32, values), t)
}

// SetValues copies values to a parameter, row-major.
func (n *Net) SetValues(p *Param, values []float32) error {
	if len(values) != p.W.Len() {
		return fmt.Errorf("s2vt: %d values for %s with %d elements", len(values), p.Name, p.W.Len())
	}
	return n.backend.Upload(p.W, tensor.HostArray(tensor.Float32, values))
}

// Weights lists all parameters for a file. They are read from the device when they are written.
func (n *Net) Weights() []safetensors.Tensor {
	all := make([]safetensors.Tensor, len(n.all))
	for i, p := range n.all {
		all[i] = n.File(p.Name, p.W)
	}
	return all
}

// File is a float32 tensor of the net's device for a file, under a name: a parameter, or state of an
// optimizer beside it. It is read from the device when it is written, a MiB at a time.
func (n *Net) File(name string, t *tensor.Tensor) safetensors.Tensor {
	return safetensors.Tensor{Name: name, DType: safetensors.F32, Shape: t.Shape(), Data: func(w io.Writer) error {
		return n.pieces(t, func(piece *tensor.Tensor, values []float32, bytes []byte) error {
			if err := n.backend.Download(tensor.HostArray(tensor.Float32, values), piece); err != nil {
				return fmt.Errorf("s2vt: cannot read %s: %w", name, err)
			}
			bytes = bytes[:0]
			for _, v := range values {
				bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(v))
			}
			_, err := w.Write(bytes)
			return err
		})
	}}
}

// Source are the named tensors of a file. A *safetensors.File is one.
type Source interface {
	Info(name string) (safetensors.DType, []int, error)
	Elements(name string) (func(dst []float32) error, error)
}

// Load sets all parameters from a file, whose names and shapes are checked before anything is set.
func (n *Net) Load(f Source) error {
	for _, p := range n.all {
		if err := n.Check(f, p.Name, p.W); err != nil {
			return err
		}
	}
	for _, p := range n.all {
		if err := n.Read(f, p.Name, p.W); err != nil {
			return err
		}
	}
	return nil
}

// Check tells whether a file has a tensor of a name in the shape of one on the device.
func (n *Net) Check(f Source, name string, t *tensor.Tensor) error {
	_, shape, err := f.Info(name)
	if err != nil {
		return fmt.Errorf("s2vt: %w", err)
	}
	if !slices.Equal(shape, t.Shape()) {
		return fmt.Errorf("s2vt: %s is %s in the file and %s in this net: %w", name, tensor.Format(shape), tensor.Format(t.Shape()), tensor.ErrShape)
	}
	return nil
}

// Read sets a tensor on the net's device from a file, as File has written it. Numbers that are not finite
// are an error that wraps safetensors.ErrCorrupt.
func (n *Net) Read(f Source, name string, t *tensor.Tensor) error {
	next, err := f.Elements(name)
	if err != nil {
		return fmt.Errorf("s2vt: cannot read %s: %w", name, err)
	}
	at := 0
	return n.pieces(t, func(piece *tensor.Tensor, values []float32, _ []byte) error {
		if err := next(values); err != nil {
			return fmt.Errorf("s2vt: cannot read %s: %w", name, err)
		}
		for i, v := range values {
			if v-v != 0 { // infinite or NaN
				return fmt.Errorf("s2vt: element %d of %s is %v: the file is damaged or its training diverged: %w", at+i, name, v, safetensors.ErrCorrupt)
			}
		}
		at += len(values)
		return n.backend.Upload(piece, tensor.HostArray(tensor.Float32, values))
	})
}

// pieces calls f for one part of a tensor after the other, with room for its numbers and for their bytes.
func (n *Net) pieces(t *tensor.Tensor, f func(piece *tensor.Tensor, values []float32, bytes []byte) error) error {
	const piece = 1 << 18
	flat, err := t.Reshape(t.Len())
	if err != nil {
		return err
	}
	values, bytes := make([]float32, min(piece, t.Len())), make([]byte, 0, 4*min(piece, t.Len()))
	for lo := 0; lo < t.Len(); lo += piece {
		hi := min(lo+piece, t.Len())
		part, err := flat.Rows(lo, hi)
		if err == nil {
			err = f(part, values[:hi-lo], bytes)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
