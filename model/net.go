package model

import (
	"cmp"
	"errors"
	"fmt"

	"nmn/kernels"
	"nmn/kernels/conv"
	"nmn/kernels/tensor"
	"nmn/model/param"
)

// Net is a network on a device: parameters, and buffers for its batches. It serves one goroutine at a time.
// The precision of the device decides whether feature maps are float32 or bfloat16. Parameters, their
// gradients, logits, the noise model and the loss are float32.
type Net struct {
	config  Config
	backend kernels.Backend
	maps    tensor.DType // of feature maps, their gradients and the filters over them

	params *tensor.Arena
	grads  *tensor.Arena
	all    []*Param

	units  []*unit     // of the backbone
	fc     []layer     // the head: fc6, fc7, fc8, one layer of a residual net, or the layers of a net on features
	needed []bool      // of each map, whether something learns below it
	noise  layer       // U and b; w is nil for a feature-independent model
	masks  param.Seeds // of dropout, after each layer of the head but the last
	large  large       // how many large losses a step treats

	sections sections

	buffers  *tensor.Arena
	limit    int // of the frames that go through the layers together, 0 for none
	multiple int // chunk sizes are rounded up to this number of frames
	capacity capacity
	plans    map[planKey]*Plan
	memory   memory

	standard standard // of the input; empty for none
}

// layer is one convolution.
type layer struct {
	name        string
	w, b        *Param
	pad, stride int
}

// params returns the parameters of a layer's convolution.
func (l *layer) params() conv.Params {
	p := conv.Params{Pad: l.pad}
	if l.stride > 1 {
		p.Stride = l.stride
	}
	return p
}

// New makes a network with zero weights: call Init, or Load, or both, before use.
func New(config Config, backend kernels.Backend) (*Net, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	n := &Net{
		config:   config,
		backend:  backend,
		maps:     config.maps(backend),
		sections: newSections(backend),
		plans:    map[planKey]*Plan{},
		params:   tensor.NewArena(backend),
		grads:    tensor.NewArena(backend),
		buffers:  tensor.NewArena(backend),
	}
	if err := n.build(); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	if err := n.Freeze(func(*Param) bool { return false }); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

func (n *Net) build() error {
	c := n.config
	channels, held := c.channels(), c.held(n.backend)
	head := c.head()
	n.units = newUnits(c.Backbone())
	for _, u := range n.units {
		if u.Kind == Convolution {
			if u.below != nil {
				channels, held = u.below.C, u.below.C
			}
			w, b, err := n.filter("backbone."+u.Name, u.File, u.C, u.Kernel, u.Kernel, channels, held, false)
			if err == nil {
				err = n.copies(w, b)
			}
			if err != nil {
				return err
			}
			u.layer = layer{name: u.Name, w: w, b: b, pad: u.Pad, stride: u.Stride}
		}
		channels = u.C
	}
	for _, fc := range head {
		w, b, err := n.filter("head."+fc.name, fc.file, fc.out, fc.kernel, fc.kernel, channels, channels, true)
		if err == nil {
			err = n.copies(w, b)
		}
		if err != nil {
			return err
		}
		n.fc = append(n.fc, layer{name: fc.name, w: w, b: b, pad: fc.pad, stride: 1})
		channels = fc.out
	}
	if err := n.buildMasks(); err != nil {
		return err
	}
	return n.buildNoise()
}

// buildMasks makes room for the seeds of a net with dropout: one for each layer of the head but the last.
func (n *Net) buildMasks() (err error) {
	layers := len(n.fc) - 1
	if n.config.Dropout == 0 || layers == 0 {
		return nil
	}
	var names []string
	for _, l := range n.fc[:layers] {
		names = append(names, l.name)
	}
	n.masks, err = param.NewSeeds(n.params, names)
	return wrapped(err)
}

func (n *Net) buildNoise() error {
	c := n.config
	if c.Noise == NoNoise {
		return nil
	}
	if c.Noise == FeatureDependent {
		w, b, err := n.filter("nmn", "nmn", 4*c.Classes, 1, 1, c.FeatureWidth(), c.FeatureWidth(), false)
		if err != nil {
			return err
		}
		w.Shape, b.Shape = []int{2, 2, c.Classes, c.FeatureWidth()}, []int{2, 2, c.Classes}
		n.noise = layer{name: "nmn", w: w, b: b, pad: 0, stride: 1}
		return nil
	}
	b := &Param{Name: "nmn.bias", File: "nmn.bias", Bias: true, Shape: []int{2, 2, c.Classes}}
	if c.Exclusive {
		b.Name, b.File, b.Shape = TransitionName, TransitionName, []int{c.Classes, c.Classes}
	}
	var err error
	if b.W, err = n.params.Alloc(tensor.Float32, b.FileLen()); err != nil {
		return fmt.Errorf("model: cannot hold %s: %w", b.Name, err)
	}
	n.all = append(n.all, b)
	n.noise = layer{name: "nmn", w: nil, b: b, pad: 0, stride: 1}
	return nil
}

// TransitionName is the parameter of the noise model of classes that exclude each other: T of K×K, with the
// row of the true class. T is held.
const TransitionName = "nmn.transition"

// classifier is the layer that gives the logits.
func (n *Net) classifier() layer { return n.fc[len(n.fc)-1] }

// IsClassifier reports whether a parameter is one of the layer that gives the logits.
func (n *Net) IsClassifier(p *Param) bool { return p == n.classifier().w || p == n.classifier().b }

// maps is the type of feature maps, their gradients and the filters over them on a device. A net on
// features, small as it is, has float32 on all.
func (c Config) maps(backend kernels.Backend) tensor.DType {
	if c.Input > 0 {
		return tensor.Float32
	}
	return backend.Formats().Maps
}

// held is the number of input channels on a device. Zeros may follow the channels of a picture.
func (c Config) held(backend kernels.Backend) int {
	if c.Input > 0 {
		return c.Input
	}
	return backend.Formats().Pixels
}

// Config returns the configuration that the network was made from.
func (n *Net) Config() Config { return n.config }

// Backend is the device that the network lives on.
func (n *Net) Backend() kernels.Backend { return n.backend }

// Params lists all parameters from the input to the classes, then the noise model.
func (n *Net) Params() []*Param { return n.all }

// Freeze sets which parameters learn. It frees the gradients of the others, and sets all gradients to 0.
func (n *Net) Freeze(frozen func(*Param) bool) error {
	if err := n.grads.Close(); err != nil {
		return err
	}
	for _, p := range n.all {
		p.G = nil
		if p.Frozen = frozen(p); p.Frozen {
			continue
		}
		g, err := n.grads.Alloc(tensor.Float32, p.W.Shape()...)
		if err != nil {
			return fmt.Errorf("model: cannot hold the gradient of %s: %w", p.Name, err)
		}
		p.G = g
	}
	n.findNeeded()
	return nil
}

// Bytes is the device memory of parameters, gradients and buffers.
func (n *Net) Bytes() int { return n.params.Bytes() + n.grads.Bytes() + n.buffers.Bytes() }

// Close frees the device memory.
func (n *Net) Close() error {
	clear(n.plans)
	return cmp.Or(n.buffers.Close(), n.grads.Close(), n.params.Close())
}
