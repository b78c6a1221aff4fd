package model

import (
	"fmt"
	"math"
	"slices"

	"nmn/format/safetensors"
)

// The standard of a net's features in weight files.
const (
	meanName  = "input.mean"
	scaleName = "input.scale"
)

// standard is the transformation of features to the scale of the training data: (x - mean) · scale.
type standard struct{ mean, scale []float32 }

// SetStandard sets the standard of the features that the net learns from. The net only stores it with its
// weights; the caller standardises the input. The configuration must be Standardised.
func (n *Net) SetStandard(mean, scale []float32) error {
	if d := n.config.Input; !n.config.Standardised || len(mean) != d || len(scale) != d {
		return fmt.Errorf("model: a standard of %d means and %d scales for a net on %d features, standardised %t",
			len(mean), len(scale), d, n.config.Standardised)
	}
	n.standard = standard{slices.Clone(mean), slices.Clone(scale)}
	return nil
}

// Standard returns the standard from SetStandard or Load; nil for none.
func (n *Net) Standard() (mean, scale []float32) { return n.standard.mean, n.standard.scale }

// tensors are the tensors of the standard in a weight file.
func (s *standard) tensors() []safetensors.Tensor {
	if s.mean == nil {
		return nil
	}
	shape := []int{len(s.mean)}
	return []safetensors.Tensor{{Name: meanName, DType: safetensors.F32, Shape: shape, Data: s.mean},
		{Name: scaleName, DType: safetensors.F32, Shape: shape, Data: s.scale}}
}

// loadStandard loads the standard of a weight file, if the net has one.
func (n *Net) loadStandard(f Source) error {
	if !n.config.Standardised {
		return nil
	}
	var s standard
	for _, part := range []struct {
		name string
		to   *[]float32
	}{{meanName, &s.mean}, {scaleName, &s.scale}} {
		if !slices.Contains(f.Names(), part.name) {
			return fmt.Errorf("model: the file has no %s, the standard of the features: %w", part.name, ErrOtherModel)
		}
		_, shape, err := f.Info(part.name)
		if err != nil {
			return fmt.Errorf("model: cannot read %s: %w", part.name, err)
		}
		if !slices.Equal(shape, []int{n.config.Input}) {
			return fmt.Errorf("model: %s is %v in the file, this net takes %d features: %w",
				part.name, shape, n.config.Input, ErrOtherModel)
		}
		values := make([]float32, n.config.Input)
		next, err := f.Elements(part.name)
		if err == nil {
			err = next(values)
		}
		if err != nil {
			return fmt.Errorf("model: cannot read %s: %w", part.name, err)
		}
		for i, v := range values {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return fmt.Errorf("model: element %d of %s is %v: the file is damaged", i, part.name, v)
			}
		}
		*part.to = values
	}
	n.standard = s
	return nil
}
