package model

import (
	"fmt"
	"strings"

	"nmn/kernels/tensor"
	"nmn/model/param"
)

// Param is a named parameter with its gradient, on the device.
type Param = param.Param

// namesOf lists the names that a parameter has in files, the likeliest first: torchvision's, nmn's own and timm's.
func namesOf(p *Param) []string {
	all := []string{p.File}
	if p.Name != p.File {
		all = append(all, p.Name)
	}
	layer, kind, _ := strings.Cut(strings.TrimPrefix(p.Name, "head."), ".")
	if timm, ok := map[string]string{"fc6": "pre_logits.fc1", "fc7": "pre_logits.fc2", "fc8": "head.fc"}[layer]; ok {
		all = append(all, timm+"."+kind)
	}
	return all
}

// filter makes the weight and bias of a convolution over maps of held channels. Files hold the first c
// channels. flat stores the weight as a matrix, as torchvision does for fully connected layers.
func (n *Net) filter(name, file string, k, r, s, c, held int, flat bool) (w, b *Param, err error) {
	w = &Param{Name: name + ".weight", File: file + ".weight", Shape: []int{k, c, r, s}, CHW: true}
	if flat {
		w.Shape = []int{k, c * r * s}
	}
	b = &Param{Name: name + ".bias", File: file + ".bias", Bias: true, Shape: []int{k}}
	if w.W, err = n.params.Alloc(tensor.Float32, k, r, s, held); err != nil {
		return nil, nil, fmt.Errorf("model: cannot hold %s: %w", w.Name, err)
	}
	if b.W, err = n.params.Alloc(tensor.Float32, k); err != nil {
		return nil, nil, fmt.Errorf("model: cannot hold %s: %w", b.Name, err)
	}
	n.all = append(n.all, w, b)
	return w, b, nil
}

// copies makes the copies of weights and biases of the layers over feature maps, if the device needs them.
func (n *Net) copies(params ...*Param) (err error) {
	if n.maps == tensor.Float32 {
		return nil
	}
	for _, p := range params {
		if p.Copy, err = n.params.Alloc(n.maps, p.W.Shape()...); err != nil {
			return fmt.Errorf("model: cannot hold the copy of %s in %s: %w", p.Name, n.maps, err)
		}
	}
	return nil
}
