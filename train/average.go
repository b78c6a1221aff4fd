package train

import (
	"errors"

	"nmn/format/safetensors"
)

// rawPrefix names the raw weights in checkpoints whose parameter names hold the averages.
const rawPrefix = "optimizer.w."

// averageDecay is how much an average keeps of itself at the t-th update, from 1: little of its start at first,
// as in TensorFlow's ExponentialMovingAverage and torch_ema.
func averageDecay(decay float64, t int) float64 { return min(decay, float64(1+t)/float64(10+t)) }

// startAverages sets the averages to the current weights.
func (o *Optimizer) startAverages() error {
	for _, e := range o.averaged {
		if err := o.backend.Copy(e.Average, e.W); err != nil {
			return err
		}
	}
	return nil
}

// End counts an update that was enqueued, and takes it into the averages. That is never part of recorded work, for
// the share changes from step to step.
func (o *Optimizer) End() error {
	o.updates++
	if o.config.Average == 0 {
		return nil
	}
	return o.backend.Average(o.entries, float32(1-averageDecay(o.config.Average, o.updates)))
}

// showAverages gives the net the averages of its weights, or the weights again. It does nothing if there are no
// averages.
func (o *Optimizer) showAverages(yes bool) error {
	if o.config.Average == 0 || o.averagesShown == yes {
		return nil
	}
	o.averagesShown = yes
	return o.backend.Exchange(o.averaged)
}

// onAverages calls f while the net's weights are their averages.
func (o *Optimizer) onAverages(f func() error) error {
	if err := o.showAverages(true); err != nil {
		return err
	}
	err := f()
	if back := o.showAverages(false); back != nil {
		return errors.Join(back, err)
	}
	return err
}

// withAverages are the tensors of a net for a checkpoint, with averages instead of the weights that have some.
func (o *Optimizer) withAverages(weights []safetensors.Tensor) []safetensors.Tensor {
	averages := map[string]safetensors.Tensor{}
	for i, p := range o.params {
		if average := o.entries[i].Average; average != nil {
			averages[p.File] = p.Tensor(o.backend, p.File, average)
		}
	}
	for i, w := range weights {
		if average, ok := averages[w.Name]; ok {
			weights[i] = average
		}
	}
	return weights
}

// loadAverages is for a checkpoint whose averages were read as the weights of the net: it makes them the averages, and
// reads the weights themselves. Numbers that no training makes are an error that wraps ErrCorrupt.
func (o *Optimizer) loadAverages(f *safetensors.File) error {
	if err := o.startAverages(); err != nil {
		return err
	}
	for i, p := range o.params {
		if o.entries[i].Average == nil {
			continue
		}
		if err := corrupt(p.Read(f, rawPrefix+p.File, o.backend, p.W)); err != nil {
			return err
		}
	}
	return nil
}
