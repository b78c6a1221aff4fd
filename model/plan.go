package model

import (
	"errors"
	"fmt"

	"nmn/kernels/tensor"
	"nmn/model/param"
)

// Plan is one shape of batch: T frames in N bags. It holds views of the network's buffers. Plans of one
// network share memory, so finish with a batch before you upload the next one.
//
// All frames go through the layers together, unless there are more than ChunkFrames allows. Then they go in
// chunks, and each chunk overwrites the layer outputs of the chunk before. X, Features and DX are nil in such
// a plan.
type Plan struct {
	Frames, Bags int

	// Inputs of a batch: upload into these.
	Pixels  *tensor.Tensor // uint8 T×H×W×3; nil for a net on features, which are uploaded into X
	Sizes   *tensor.Tensor // int32 T×2: valid height and width
	Flips   *tensor.Tensor // uint8 T
	Keys    *tensor.Tensor // int32 T: dropout keys
	Offsets *tensor.Tensor // int32 N+1: first frame of each bag
	Labels  *tensor.Tensor // float32 N×K: observed labels, or targets: soft ones, or noise.Unknown

	Weights *tensor.Tensor // float32 N: of the loss of each bag, if StepOptions.Weighted

	// X is the normalised input, T×H×W×3, or with more channels that are 0 (tensor.Precision.Pixels), or
	// T×1×1×D of features: Normalize writes it, or upload into it. Pictures have the type of feature maps.
	X *tensor.Tensor

	// Results.
	Logits     *tensor.Tensor // T×h×w×K
	Features   *tensor.Tensor // T×h×w×D: the noise model's input map (pool5; the last hidden layer)
	Pooled     *tensor.Tensor // N×D: g(X); only with a feature-dependent noise model
	Confidence *tensor.Tensor // N×2×2×K, or 1×2×2×K for a feature-independent model, or K×K; nil for none
	Prob       *tensor.Tensor // N×K: p(y=1|I)
	Observed   *tensor.Tensor // N×K: p(z=1|I)
	BagLogit   *tensor.Tensor // N×K: log-odds of Prob
	Posterior  *tensor.Tensor // N×K: p(y=1|z,I), after a step or a Forward with labels
	Loss       *tensor.Tensor // N: loss of each bag

	chunks   []chunk
	means    *tensor.Tensor // T×1×1×D: g of each frame; nil if there is one chunk
	dMeans   *tensor.Tensor // its gradient
	dLogits  *tensor.Tensor // as Logits
	targets  *tensor.Tensor // N×K: targets of the step if large losses are treated
	dO, dOf  *tensor.Tensor // N×2×2×K and the same as N×1×1×4K
	pooledF  *tensor.Tensor // Pooled as N×1×1×D
	dPooled  *tensor.Tensor // N×1×1×D
	dPooledN *tensor.Tensor // the same as N×D
	confF    *tensor.Tensor // Confidence as N×1×1×4K
	bags     *tensor.Tensor // Offsets, or nil if every frame is a bag
}

// output is the output of a layer and its gradient, each only while it is needed ([Net.layout]).
type output struct{ y, dy *tensor.Tensor }

type planKey struct{ frames, bags int }

type capacity struct {
	frames, bags int
	chunk        int  // frames that go through the layers together
	training     bool // gradient buffers exist
}

// memory is the whole buffers, at capacity.
type memory struct {
	pixels, sizes, flips, keys, offsets, labels *tensor.Tensor
	weights                                     *tensor.Tensor
	x                                           *tensor.Tensor
	// outputs of the layers but the last, and their gradients, placed by layout
	maps                                      *tensor.Tensor
	layout                                    layout
	logits                                    *tensor.Tensor
	means, dMeans                             *tensor.Tensor // of frames; nil if no batch goes in chunks
	dLogits, dO, pooled, dPooled, confidence  *tensor.Tensor
	targets                                   *tensor.Tensor
	prob, observed, bagLogit, posterior, loss *tensor.Tensor
}

// shape is the output of one layer for one frame.
type shape struct{ h, w, c int }

// shapes lists the outputs of all layers for one frame: first the backbone's, then the head's.
func (n *Net) shapes() []shape {
	var all []shape
	for _, u := range n.units {
		all = append(all, shape{u.H, u.W, u.C})
	}
	h, w := n.config.Grid()
	for _, fc := range n.config.head() {
		all = append(all, shape{h, w, fc.out})
	}
	return all
}

// Plan returns the buffers for a batch of T frames in N bags (N = T for images). A batch larger than any
// before moves the buffers: earlier plans are then invalid. Asking again for a known shape allocates nothing.
// training also reserves memory for gradients. If the host lacks memory, Plan returns an error before it
// allocates any, with the size that would fit.
func (n *Net) Plan(frames, bags int, training bool) (*Plan, error) {
	if frames < 1 || bags < 1 || bags > frames {
		return nil, fmt.Errorf("model: a batch of %d frames in %d samples: every sample needs a frame", frames, bags)
	}
	chunk, has := n.chunkOf(frames), n.capacity
	if frames > has.frames || bags > has.bags || chunk > has.chunk || training && !has.training {
		grown := capacity{frames: max(frames, has.frames), bags: max(bags, has.bags), chunk: max(chunk, has.chunk),
			training: training || has.training}
		err := n.checkHost(grown)
		if err == nil {
			err = n.grow(grown)
		}
		if err != nil {
			return nil, n.tooLarge(frames, bags, grown.training, err)
		}
	}
	key := planKey{frames, bags}
	if p, ok := n.plans[key]; ok {
		return p, nil
	}
	p, err := n.view(frames, bags)
	if err != nil {
		return nil, err
	}
	n.plans[key] = p
	n.planAhead(p, training)
	return p, nil
}

func (n *Net) grow(to capacity) error {
	if err := n.buffers.Close(); err != nil {
		return err
	}
	clear(n.plans)
	n.capacity, n.memory = capacity{}, memory{}
	t, b, h, w := to.frames, to.bags, n.config.Size, n.config.width()
	k, d := n.config.Classes, n.config.FeatureWidth()
	var err error
	alloc := func(dtype tensor.DType, shape ...int) *tensor.Tensor {
		if err != nil {
			return nil
		}
		var a *tensor.Tensor
		a, err = n.buffers.Alloc(dtype, shape...)
		return a
	}
	m := memory{
		sizes: alloc(tensor.Int32, t, 2), flips: alloc(tensor.Uint8, t),
		keys: alloc(tensor.Int32, t), offsets: alloc(tensor.Int32, b+1), labels: alloc(tensor.Float32, b, k),
		x:    alloc(n.maps, to.chunk, h, w, n.config.held(n.backend)),
		prob: alloc(tensor.Float32, b, k), observed: alloc(tensor.Float32, b, k), bagLogit: alloc(tensor.Float32, b, k),
		posterior: alloc(tensor.Float32, b, k), loss: alloc(tensor.Float32, b),
	}
	if n.config.Input == 0 {
		m.pixels = alloc(tensor.Uint8, t, h, w, 3)
	}
	if err == nil {
		m.layout, err = n.layout(to.chunk, to.training)
	}
	if m.layout.size > 0 {
		m.maps = alloc(n.maps, m.layout.size)
	}
	gridH, gridW := n.config.Grid()
	m.logits = alloc(tensor.Float32, t, gridH, gridW, k)
	if n.config.Noise == FeatureDependent {
		m.pooled, m.confidence = alloc(tensor.Float32, b, d), alloc(tensor.Float32, b, 2, 2, k)
		if to.chunk < t {
			m.means = alloc(tensor.Float32, t, 1, 1, d)
		}
	}
	if to.training {
		m.dLogits = alloc(tensor.Float32, t, gridH, gridW, k)
		m.targets, m.weights = alloc(tensor.Float32, b, k), alloc(tensor.Float32, b)
		if n.config.Noise != NoNoise && !n.config.Exclusive {
			m.dO = alloc(tensor.Float32, b, 2, 2, k)
		}
		if n.config.Noise == FeatureDependent {
			m.dPooled = alloc(tensor.Float32, b, d)
			if to.chunk < t {
				m.dMeans = alloc(tensor.Float32, t, 1, 1, d)
			}
		}
	}
	if err != nil {
		return errors.Join(err, n.buffers.Close())
	}
	n.capacity, n.memory = to, m
	return nil
}

// viewer cuts views for a plan and keeps the first error.
type viewer struct{ param.Views }

// rows views the first rows.
func (v *viewer) rows(t *tensor.Tensor, rows int) *tensor.Tensor { return v.Rows(t, 0, rows) }

func (n *Net) view(frames, bags int) (*Plan, error) {
	m, v := &n.memory, &viewer{}
	k, d := n.config.Classes, n.config.FeatureWidth()
	p := &Plan{
		Frames: frames, Bags: bags,
		Pixels: v.rows(m.pixels, frames), Sizes: v.rows(m.sizes, frames), Flips: v.rows(m.flips, frames),
		Keys: v.rows(m.keys, frames), Offsets: v.rows(m.offsets, bags+1), Labels: v.rows(m.labels, bags),
		Prob: v.rows(m.prob, bags), Observed: v.rows(m.observed, bags),
		BagLogit: v.rows(m.bagLogit, bags), Posterior: v.rows(m.posterior, bags), Loss: v.rows(m.loss, bags),
		Pooled: v.rows(m.pooled, bags), Confidence: v.rows(m.confidence, bags),
		Logits: v.rows(m.logits, frames), dLogits: v.rows(m.dLogits, frames), dO: v.rows(m.dO, bags),
		targets: v.rows(m.targets, bags), Weights: v.rows(m.weights, bags),
	}
	if bags != frames {
		p.bags = p.Offsets
	}
	p.pooledF, p.dPooledN = v.Shaped(p.Pooled, bags, 1, 1, d), v.rows(m.dPooled, bags)
	p.dPooled = v.Shaped(p.dPooledN, bags, 1, 1, d)
	p.confF, p.dOf = v.Shaped(p.Confidence, bags, 1, 1, 4*k), v.Shaped(p.dO, bags, 1, 1, 4*k)
	if n.config.Noise == FeatureIndependent && !n.config.Exclusive {
		p.Confidence = v.Shaped(n.noise.b.W, 1, 2, 2, k)
	}
	if n.config.Exclusive && n.config.Noise == FeatureIndependent {
		p.Confidence = v.Shaped(n.noise.b.W, k, k)
	}
	n.viewChunks(p, v)
	return p, v.Err
}
