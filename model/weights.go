package model

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"nmn/safetensors"

	dense "gorgonia.org/tensor"
)

// ErrOtherModel is wrapped when a weight file does not belong to a network of this configuration.
var ErrOtherModel = errors.New("the weights are of another model")

// Weights lists all parameters for a weight file, under torchvision's names and in its layouts where
// it has them, so that a net with the depths of VGG16 loads in PyTorch. The data is read from the
// device when it is written, one parameter at a time.
func (n *Net) Weights() []safetensors.Tensor {
	tensors := make([]safetensors.Tensor, len(n.all))
	for i, p := range n.all {
		tensors[i] = safetensors.Tensor{Name: p.File, DType: safetensors.F32, Shape: p.fileShape,
			Data: func(w io.Writer) error { return n.writeParam(w, p) }}
	}
	return append(tensors, n.standard.tensors()...)
}

func (n *Net) writeParam(w io.Writer, p *Param) error {
	values, err := n.download(p.W)
	if err != nil {
		return fmt.Errorf("model: cannot read %s: %w", p.Name, err)
	}
	ordered := make([]float32, p.FileLen())
	p.Encode(ordered, values)
	const piece = 16 << 10
	buffer := make([]byte, 0, 4*piece)
	for chunk := range slices.Chunk(ordered, piece) {
		buffer = buffer[:0]
		for _, v := range chunk {
			buffer = binary.LittleEndian.AppendUint32(buffer, math.Float32bits(v))
		}
		if _, err := w.Write(buffer); err != nil {
			return err
		}
	}
	return nil
}

// LoadReport tells what Load found. Names are those of the file.
type LoadReport struct {
	Taken   []string // parameters that were set
	Missing []string // optional parameters that the file lacks or has in another shape: left as they were
	Unused  []string // tensors of the file that are no parameter
}

// Load sets parameters from a weight file. Every parameter must be there in its shape, except those
// that optional accepts (nil: none), and the standard of features where the net has one. Not-finite weights are an error. On an error some parameters may
// have been set.
func (n *Net) Load(f *safetensors.File, optional func(*Param) bool) (LoadReport, error) {
	var report LoadReport
	known := map[string]bool{meanName: true, scaleName: true}
	if err := n.loadStandard(f); err != nil {
		return report, err
	}
	for _, p := range n.all {
		known[p.File] = true
		err := n.loadParam(f, p)
		switch {
		case err == nil:
			report.Taken = append(report.Taken, p.File)
		case errors.Is(err, ErrOtherModel) && optional != nil && optional(p):
			report.Missing = append(report.Missing, p.File)
		default:
			return report, err
		}
	}
	for _, name := range f.Names() {
		if !known[name] {
			report.Unused = append(report.Unused, name)
		}
	}
	return report, nil
}

func (n *Net) loadParam(f *safetensors.File, p *Param) error {
	if !f.Has(p.File) {
		return fmt.Errorf("model: the file has no %s (%s here): %w", p.File, p.Name, ErrOtherModel)
	}
	dtype, shape, err := f.Info(p.File)
	if err != nil {
		return err
	}
	if !p.fits(shape) {
		return fmt.Errorf("model: %s is %v in the file and %v in this network: %w", p.File, shape, p.fileShape, ErrOtherModel)
	}
	values, _, err := f.Float32(p.File)
	if err != nil {
		return fmt.Errorf("model: cannot read %s as float32 from %s: %w", p.File, dtype, err)
	}
	for i, v := range values {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("model: element %d of %s is %v: the file is damaged or its training diverged", i, p.File, v)
		}
	}
	ordered := make([]float32, p.W.Len())
	p.Decode(ordered, values)
	if err := n.set(p, ordered); err != nil {
		return fmt.Errorf("model: cannot set %s: %w", p.Name, err)
	}
	return nil
}

// fits accepts the file's shape, and for a fully connected layer also the same filter with four
// dimensions, as fully convolutional nets store it.
func (p *Param) fits(shape []int) bool {
	if slices.Equal(shape, p.fileShape) {
		return true
	}
	w := p.W.Shape()
	return p.chw && len(w) == 4 && slices.Equal(shape, []int{w[0], p.channels(), w[1], w[2]})
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
