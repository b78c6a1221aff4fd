package vit

import (
	"fmt"

	"nmn/kernels/tensor"
	"nmn/model/param"
)

// Load sets all parameters from a file, by the mapping that Recognise made of it. Numbers that are not finite
// are an error that names the tensor and wraps param.ErrNumber. Some parameters have been set then.
func (n *Net) Load(f Source, m *Mapping) error {
	set, outside := 0, map[string][]float32{}
	for _, match := range m.Taken {
		values, err := readAll(f, &match)
		if err != nil {
			return err
		}
		to, ok := n.slots[match.Param]
		if !ok {
			outside[match.Param] = values
			continue
		}
		if match.transposed {
			values = transposed(values, match.Shape)
		}
		if err := n.set(to, values); err != nil {
			return fmt.Errorf("vit: cannot set %s: %w", match.Param, err)
		}
		set++
	}
	if set != len(n.slots) {
		return fmt.Errorf("vit: the mapping sets %d of %d parameters: it was made of other weights: %w", set, len(n.slots),
			ErrWeights)
	}
	return n.setTokens(outside)
}

// readAll reads the tensors of a parameter, one after the other.
func readAll(f Source, m *Match) ([]float32, error) {
	count, err := tensor.Elements(m.Shape)
	if err != nil {
		return nil, fmt.Errorf("vit: %s: %w", m.Param, err)
	}
	values := make([]float32, count*len(m.Tensors))
	for i, name := range m.Tensors {
		part := values[i*count:][:count]
		next, err := f.Elements(name)
		if err == nil {
			err = next(part)
		}
		if err != nil {
			return nil, fmt.Errorf("vit: cannot read %s: %w", name, err)
		}
		for k, v := range part {
			if v-v != 0 { // infinite or NaN
				return nil, fmt.Errorf("vit: element %d of %s is %v: %w", k, name, v, param.ErrNumber)
			}
		}
	}
	return values, nil
}

// set uploads a parameter in the order of the device.
func (n *Net) set(to slot, values []float32) error {
	if to.form == patches {
		values = reordered(values, n.config.Patch*n.config.Patch, n.channels())
	}
	if len(values) != to.t.Len() {
		return fmt.Errorf("%d numbers for %s: %w", len(values), to.t, ErrWeights)
	}
	if err := n.backend.Upload(to.t, tensor.HostArray(to.t.DType(), values)); err != nil || to.form != product {
		return err
	}
	return n.backend.PrepareLinear(to.t)
}

// reordered turns filters of 3 colours × cells into cells × channels. The channels after the colours are 0.
func reordered(values []float32, cells, channels int) []float32 {
	filters := len(values) / (3 * cells)
	out := make([]float32, filters*cells*channels)
	for k := range filters {
		for c := range 3 {
			for i, v := range values[(k*3+c)*cells:][:cells] {
				out[(k*cells+i)*channels+c] = v
			}
		}
	}
	return out
}

func transposed(values []float32, shape []int) []float32 {
	rows, columns := shape[0], shape[1]
	out := make([]float32, len(values))
	for r := range rows {
		for c := range columns {
			out[c*rows+r] = values[r*columns+c]
		}
	}
	return out
}

// setTokens computes the inputs of Tokens: the tokens before the patches with their positions, and the
// positions of the patches, interpolated to the grid of the input.
func (n *Net) setTokens(values map[string][]float32) error {
	c := n.config
	class, registers, position := values["class"], values["registers"], values["position"]
	if len(class) != c.Width || len(registers) != c.Registers*c.Width ||
		len(position) != (c.Positioned+c.Grid*c.Grid)*c.Width {
		return fmt.Errorf("vit: %d numbers of the class token, %d of registers and %d of positions do not fit this "+
			"net: %w", len(class), len(registers), len(position), ErrWeights)
	}
	prefix := append(append([]float32(nil), class...), registers...)
	before := c.Positioned * c.Width
	for i, v := range position[:before] {
		prefix[i] += v
	}
	h, w := c.patches()
	fitted := c.Resampling.resample(position[before:], c.Grid, h, w, c.Width)
	for _, part := range []struct {
		to     *tensor.Tensor
		values []float32
	}{{n.prefix, prefix}, {n.position, fitted}} {
		if err := n.backend.Upload(part.to, tensor.HostArray(tensor.Float32, part.values)); err != nil {
			return fmt.Errorf("vit: cannot set the tokens before the patches and the positions: %w", err)
		}
	}
	return nil
}
