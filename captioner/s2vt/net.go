package s2vt

import (
	"errors"
	"fmt"
	"math"

	"nmn/internal/rng"
	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/model/param"
)

// Net is a captioner on a device: parameters, and buffers for the batches that went through it. Everything
// is float32, whatever the device's precision. It serves one goroutine at a time.
type Net struct {
	config  Config
	backend kernels.Backend

	weights, grads *tensor.Arena
	p              parameters
	all            []*weight
	params         []*param.Param // of all layers
	lowerBias      *tensor.Tensor // of LSTM 1, as a table of one row
	shut           *tensor.Tensor // 1×4H: added to gates, it keeps h at 0
	seeds          param.Seeds    // of dropout, by site

	buffers  *tensor.Arena
	capacity capacity
	memory   memory
	plans    map[planKey]*plan

	// The order of a batch if its rows are packed: see tail.
	wide           bool // rows are never left out
	lengths, order []int
	arrangement    Batch
}

// New makes a captioner with zero weights: call Init or Load before use.
func New(c Config, backend kernels.Backend) (*Net, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	n := &Net{config: c, backend: backend, plans: map[planKey]*plan{},
		weights: tensor.NewArena(backend), grads: tensor.NewArena(backend), buffers: tensor.NewArena(backend)}
	_, n.wide = backend.(kernels.Card)
	err := n.build()
	if err == nil {
		err = n.buildConstants()
	}
	if err == nil {
		n.seeds, err = param.NewSeeds(n.weights, sitePurpose)
		err = wrapped(err)
	}
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

// shutGate is a pre-activation that closes a gate: its sigmoid is 0, or less than 1e-37 if a device's
// approximation does not reach 0.
const shutGate = -1e4

// buildConstants makes the constant inputs of steps without an input from below. If the gates to the cell and
// from it are closed, h is 0, and the cell is empty when the first frame adds to it. No gradient passes these
// gates.
func (n *Net) buildConstants() (err error) {
	gates := 4 * n.config.Hidden
	if n.lowerBias, err = n.p.lstm1.b.W.Reshape(1, gates); err != nil {
		return err
	}
	if n.shut, err = n.weights.Alloc(tensor.Float32, 1, gates); err != nil {
		return fmt.Errorf("s2vt: cannot hold constants: %w", err)
	}
	values := make([]float32, gates)
	for i := range n.config.Hidden {
		values[i], values[3*n.config.Hidden+i] = shutGate, shutGate // gates i and o
	}
	return n.backend.Upload(n.shut, tensor.HostArray(tensor.Float32, values))
}

// Config is the configuration of the net.
func (n *Net) Config() Config { return n.config }

// Backend is the device that the net lives on.
func (n *Net) Backend() kernels.Backend { return n.backend }

// Bytes is the device memory of parameters, gradients and buffers.
func (n *Net) Bytes() int { return n.weights.Bytes() + n.grads.Bytes() + n.buffers.Bytes() }

// Close frees the device memory.
func (n *Net) Close() error {
	clear(n.plans)
	return errors.Join(n.buffers.Close(), n.grads.Close(), n.weights.Close())
}

// forgetBias is the initial bias of the gates that keep a cell, so that states last from the first frame to
// the last word before training (Jozefowicz, Zaremba, Sutskever 2015).
const forgetBias = 1

// Init draws all weights. Layers have uniform weights within 1/sqrt(columns), as in PyTorch's Linear, and
// LSTMs within 1/sqrt(H). Words come from a normal distribution with deviation 1/sqrt(D), so that their
// length is about 1. Biases start at 0, and the biases of the forget gates at 1. Each parameter has its own
// random stream, so that it does not depend on the others.
func (n *Net) Init(seed uint64) error {
	hidden := 1 / math.Sqrt(float64(n.config.Hidden))
	for _, p := range n.all {
		values, stream := make([]float32, p.W.Len()), rng.New(rng.Derive(seed, p.Name))
		switch p {
		case n.p.embedW, n.p.outW:
			uniform(values, &stream, 1/math.Sqrt(float64(p.W.Dim(1))))
		case n.p.wx1, n.p.lstm1.wh, n.p.wx2h1, n.p.wx2word, n.p.lstm2.wh:
			uniform(values, &stream, hidden)
		case n.p.word:
			stream.Normals(values, 0, 1/math.Sqrt(float64(n.config.Words)))
		case n.p.lstm1.b, n.p.lstm2.b:
			for i := range n.config.Hidden {
				values[n.config.Hidden+i] = forgetBias
			}
		}
		if err := n.SetValues(p.Param, values); err != nil {
			return err
		}
	}
	return nil
}

func uniform(values []float32, stream *rng.Stream, bound float64) {
	for i := range values {
		values[i] = float32(stream.Uniform(-bound, bound))
	}
}
