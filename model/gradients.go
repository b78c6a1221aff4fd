package model

import (
	"fmt"
	"slices"

	"nmn/kernels/tensor"
)

// Gradients lists the learning parameters in the order in which a step completes their gradients: first the
// noise model's, then layer by layer from the classifier down. There is an entry for every layer, which is
// empty if no parameter of it learns. Freeze selects the parameters that learn.
func (n *Net) Gradients() [][]*Param {
	all := [][]*Param{learning(n.noise)}
	for i := len(n.fc) - 1; i >= 0; i-- {
		all = append(all, learning(n.fc[i]))
	}
	for _, u := range slices.Backward(n.units) {
		if u.Kind == Convolution {
			all = append(all, learning(u.layer))
		}
	}
	return all
}

// UpperGradients is how many of the Gradients are complete after the UpperPart of a step.
func (n *Net) UpperGradients() int { return 1 + len(n.fc) }

// learning are the parameters of a layer that learn.
func learning(l layer) (some []*Param) {
	for _, p := range []*Param{l.w, l.b} {
		if p != nil && p.G != nil {
			some = append(some, p)
		}
	}
	return some
}

// done reports that the gradients of a layer are complete.
func (o *StepOptions) done(layer int) error {
	if o.Done == nil {
		return nil
	}
	return o.Done(layer)
}

// zeroBlock is how many zeros go to a device at once.
const zeroBlock = 1 << 18

// ClearGradients sets the gradients of all learning parameters to 0.
func (n *Net) ClearGradients() error {
	zeros := make([]float32, zeroBlock)
	for _, p := range n.all {
		if p.G == nil {
			continue
		}
		rows := p.G.Dim(0)
		width := p.G.Len() / max(1, rows)
		if width > len(zeros) {
			zeros = make([]float32, width)
		}
		step := max(1, len(zeros)/max(1, width))
		for from := 0; from < rows; from += step {
			part, err := p.G.Rows(from, min(from+step, rows))
			if err == nil {
				err = n.backend.Upload(part, tensor.HostArray(tensor.Float32, zeros[:part.Len()]))
			}
			if err != nil {
				return fmt.Errorf("model: cannot clear the gradient of %s: %w", p.Name, err)
			}
		}
	}
	return nil
}
