package param

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"nmn/format/safetensors"
	"nmn/kernels/tensor"
)

// ErrNumber is wrapped when a number of a file is infinite or NaN, or has the wrong sign.
var ErrNumber = errors.New("the file is damaged or its training diverged")

// Source are the named tensors of a file. A *safetensors.File is one.
type Source interface {
	Names() []string
	// Info returns the type and the shape of a tensor.
	Info(name string) (safetensors.DType, []int, error)
	// Elements starts reading a tensor. Each call of the returned function gives the next len(dst) elements,
	// row-major, as float32.
	Elements(name string) (func(dst []float32) error, error)
}

// Tensor is a float32 tensor in the shape of W for a file, under a name: W itself, or optimizer state. It is
// read from the device when it is written.
func (p *Param) Tensor(d tensor.Device, name string, t *tensor.Tensor) safetensors.Tensor {
	return safetensors.Tensor{
		Name:  name,
		DType: safetensors.F32,
		Shape: p.Shape,
		Data:  func(w io.Writer) error { return p.Write(w, d, t) },
	}
}

// Tensors lists parameters for a weight file.
func Tensors(d tensor.Device, params []*Param) []safetensors.Tensor {
	all := make([]safetensors.Tensor, len(params))
	for i, p := range params {
		all[i] = p.Tensor(d, p.File, p.W)
	}
	return all
}

// Write writes a tensor in the shape of W as files have it, in little-endian float32. It is taken from the
// device in blocks of rows.
func (p *Param) Write(w io.Writer, d tensor.Device, t *tensor.Tensor) error {
	return p.blocks(t, func(b block) error {
		if err := d.Download(tensor.HostArray(tensor.Float32, b.held), b.rows); err != nil {
			return fmt.Errorf("cannot read %s: %w", p.Name, err)
		}
		p.Encode(b.filed, b.held)
		bytes := b.bytes
		for _, v := range b.filed {
			bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(v))
		}
		_, err := w.Write(bytes)
		return err
	})
}

// Read sets a tensor in the shape of W from a tensor of a file, as Write has written it. If the tensor is W,
// its copy is set too. Numbers that are not finite are an error that wraps ErrNumber.
func (p *Param) Read(f Source, name string, d tensor.Device, t *tensor.Tensor) error {
	return p.read(f, name, d, t, -math.MaxFloat32)
}

// ReadSquares is Read for means of squares, as Adam keeps them: a number below 0 is such an error too.
func (p *Param) ReadSquares(f Source, name string, d tensor.Device, t *tensor.Tensor) error {
	return p.read(f, name, d, t, 0)
}

func (p *Param) read(f Source, name string, d tensor.Device, t *tensor.Tensor, least float32) error {
	next, err := f.Elements(name)
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", name, err)
	}
	return p.blocks(t, func(b block) error {
		if err := next(b.filed); err != nil {
			return fmt.Errorf("cannot read %s: %w", name, err)
		}
		for i, v := range b.filed {
			if v-v != 0 || v < least { // v-v is 0 unless v is infinite or NaN
				return fmt.Errorf("element %d of %s is %v: %w", b.first*len(b.filed)/b.rows.Dim(0)+i, name,
					v, ErrNumber)
			}
		}
		p.Decode(b.held, b.filed)
		if err := p.set(d, t, b); err != nil {
			return fmt.Errorf("cannot set %s: %w", name, err)
		}
		return nil
	})
}

// set uploads a block of rows. For rows of W it also sets the rows of the copy.
func (p *Param) set(d tensor.Device, t *tensor.Tensor, b block) error {
	if err := d.Upload(b.rows, tensor.HostArray(tensor.Float32, b.held)); err != nil || t != p.W || p.Copy == nil {
		return err
	}
	rows, err := p.Copy.Rows(b.first, b.first+b.rows.Dim(0))
	if err != nil {
		return err
	}
	return d.Upload(rows, tensor.HostArray(p.Copy.DType(), b.held))
}

// Values copies W to the host, in the order of the device (filters KRSC), without the channels that files lack.
func (p *Param) Values(d tensor.Device) ([]float32, error) {
	values := make([]float32, p.W.Len())
	if err := d.Download(tensor.HostArray(tensor.Float32, values), p.W); err != nil {
		return nil, err
	}
	return p.Stripped(values), nil
}

// SetValues copies W and its copy from the host, in the order of Values.
func (p *Param) SetValues(d tensor.Device, values []float32) error {
	if len(values) != p.FileLen() {
		return fmt.Errorf("%d values for %s with %d elements", len(values), p.Name, p.FileLen())
	}
	values = p.Padded(values)
	if err := d.Upload(p.W, tensor.HostArray(tensor.Float32, values)); err != nil || p.Copy == nil {
		return err
	}
	return d.Upload(p.Copy, tensor.HostArray(p.Copy.DType(), values))
}

// block is a part of a tensor on its way between device and file.
type block struct {
	first       int            // row
	rows        *tensor.Tensor // on the device
	held, filed []float32      // room for its numbers, as memory has them and as files do
	bytes       []byte         // room for the bytes of filed
}

// blockLen is how many numbers go between host and device at once. It is about a MiB, because a parameter may
// be hundreds of MiB.
const blockLen = 1 << 18

// blocks calls f for one block of rows after the other.
func (p *Param) blocks(t *tensor.Tensor, f func(block) error) error {
	rows := t.Dim(0)
	size := min(max(1, blockLen*rows/t.Len()), rows)
	held, filed := t.Len()/rows, p.FileLen()/rows
	room := block{
		held:  make([]float32, size*held),
		filed: make([]float32, size*filed),
		bytes: make([]byte, 0, 4*size*filed),
	}
	for first := 0; first < rows; first += size {
		last := min(first+size, rows)
		part, err := t.Rows(first, last)
		if err == nil {
			err = f(block{first: first, rows: part, held: room.held[:(last-first)*held], filed: room.filed[:(last-first)*filed],
				bytes: room.bytes})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
