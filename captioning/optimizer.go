package captioning

import (
	"errors"
	"fmt"

	"nmn/format/safetensors"
	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/kernels/update"
	"nmn/model/s2vt"
	"nmn/train"

	dense "gorgonia.org/tensor"
)

// optimizer holds the state of SGD or Adam beside the parameters of a net.
type optimizer struct {
	config  Config
	backend kernels.Backend
	state   *tensor.Arena
	net     *s2vt.Net
	entries []update.Entry // in the order of the net's parameters
	norm    *tensor.Tensor // of all gradients, one number
	normOut *dense.Dense
}

// newOptimizer makes fresh state, and room for the net's gradients.
func newOptimizer(net *s2vt.Net, c Config) (*optimizer, error) {
	if err := net.Learn(); err != nil {
		return nil, err
	}
	o := &optimizer{config: c, backend: net.Backend(), state: tensor.NewArena(net.Backend()), net: net, normOut: tensor.HostArray(tensor.Float32, make([]float32, 1))}
	if err := o.allocate(); err != nil {
		return nil, errors.Join(fmt.Errorf("captioning: cannot hold the state of %s: %w", c.Optimizer, err), o.close())
	}
	return o, nil
}

func (o *optimizer) allocate() (err error) {
	if o.norm, err = o.state.Alloc(tensor.Float32, 1); err != nil {
		return err
	}
	for _, p := range o.net.Params() {
		e := update.Entry{W: p.W, G: p.G}
		if !p.Bias {
			e.Decay = float32(o.config.WeightDecay)
		}
		if e.M, err = o.state.Alloc(tensor.Float32, p.W.Shape()...); err != nil {
			return err
		}
		if o.config.Optimizer == train.Adam {
			if e.V, err = o.state.Alloc(tensor.Float32, p.W.Shape()...); err != nil {
				return err
			}
		}
		o.entries = append(o.entries, e)
	}
	return nil
}

// measure is the Euclidean norm of the gradient of all parameters, which is not finite when any number of it
// is not. rate is that of the step: what does not learn would have no part in the norm.
func (o *optimizer) measure(rate float64) (float64, error) {
	for i := range o.entries {
		o.entries[i].LR = float32(rate)
	}
	if err := o.backend.GradNorm(o.norm, o.entries); err != nil {
		return 0, err
	}
	if err := o.backend.Download(o.normOut, o.norm); err != nil {
		return 0, err
	}
	return float64(o.normOut.Float32s()[0]), nil
}

// update clips the gradients that measure has seen, and changes the parameters. step counts from 1.
func (o *optimizer) update(step int) error {
	if o.config.ClipNorm > 0 {
		if err := o.backend.Clip(o.entries, o.norm, float32(o.config.ClipNorm)); err != nil {
			return err
		}
	}
	if o.config.Optimizer == train.SGD {
		return o.backend.SGD(o.entries, float32(o.config.Momentum))
	}
	return o.backend.Adam(o.entries, update.AdamParams{Beta1: float32(o.config.Beta1), Beta2: float32(o.config.Beta2),
		Epsilon: float32(o.config.Epsilon), Step: step})
}

// Prefixes of the optimizer's state in checkpoints, before the name of the parameter.
const (
	momentPrefix = "optimizer.m." // first moments, or momentum
	secondPrefix = "optimizer.v." // second moments
)

// each calls f for every tensor of state with its name in checkpoints.
func (o *optimizer) each(f func(name string, t *tensor.Tensor) error) error {
	for i, p := range o.net.Params() {
		if err := f(momentPrefix+p.Name, o.entries[i].M); err != nil {
			return err
		}
		if o.entries[i].V == nil {
			continue
		}
		if err := f(secondPrefix+p.Name, o.entries[i].V); err != nil {
			return err
		}
	}
	return nil
}

// tensors lists the state for a checkpoint.
func (o *optimizer) tensors() (all []safetensors.Tensor) {
	_ = o.each(func(name string, t *tensor.Tensor) error { // nothing can fail
		all = append(all, o.net.File(name, t))
		return nil
	})
	return all
}

// load reads the state of a checkpoint, after it has looked for all of it.
func (o *optimizer) load(f s2vt.Source) error {
	if err := o.each(func(name string, t *tensor.Tensor) error { return o.net.Check(f, name, t) }); err != nil {
		return err
	}
	return o.each(func(name string, t *tensor.Tensor) error { return o.net.Read(f, name, t) })
}

func (o *optimizer) bytes() int { return o.state.Bytes() }

func (o *optimizer) close() error { return o.state.Close() }
