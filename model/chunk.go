package model

import (
	"fmt"

	"nmn/kernels/tensor"
)

// chunk is a run of frames of a plan that go through the layers together: all of them, or some if a batch is
// larger than the memory. Chunks of a plan share the outputs of the layers and their gradients. Logits and
// the pooled features of each frame, which are small, are kept for the noise model.
type chunk struct {
	pixels, sizes, flips, keys *tensor.Tensor // of its frames
	x                          *tensor.Tensor // input
	maps                       []output       // outputs of the backbone's units
	hidden                     []output       // outputs of the head except for the last layer's, after ReLU and dropout
	features                   *tensor.Tensor // the map that the noise model sees
	logits, dLogits            *tensor.Tensor

	// The pooled features. If the chunk is the whole plan, they are pooled over the bags. Otherwise they are
	// pooled over each frame, and bags is nil.
	pooled, dPooled, bags *tensor.Tensor
}

// at is a map of the backbone: 0 is the input.
func (c *chunk) at(m int) output {
	if m == 0 {
		return output{y: c.x}
	}
	return c.maps[m-1]
}

// ChunkFrames limits how many frames go through the layers together, 0 for no limit. A larger batch is cut
// into chunks of about equal size, regardless of the frames' bags. In training every chunk but the last goes
// forward twice. First all chunks go forward for the logits, from which the noise model and the noisy-or
// compute the gradients of all logits of a bag. Then each chunk goes forward again, followed at once by its
// backward pass. The gradients equal the gradients of the batch in one piece, except for the order of sums.
func (n *Net) ChunkFrames(frames int) error {
	if frames < 0 {
		return fmt.Errorf("model: chunks of %d frames, want at least 1, or 0 for whole batches", frames)
	}
	if frames == n.limit {
		return nil
	}
	n.limit, n.multiple, n.capacity, n.memory = frames, 1, capacity{}, memory{}
	for n.multiple*n.config.Instances()*n.config.Classes%4 != 0 { // of float32, for logits at multiples of 16 bytes
		n.multiple++
	}
	clear(n.plans)
	return n.buffers.Close()
}

// chunkOf is the number of frames in a chunk of a batch. The last chunk may have fewer. Devices need tensors
// at multiples of 16 bytes, which may take up to three frames more than the limit. A net on features uses
// whole batches.
func (n *Net) chunkOf(frames int) int {
	if n.limit == 0 || frames <= n.limit || n.config.Input > 0 {
		return frames
	}
	chunks := (frames + n.limit - 1) / n.limit
	size := (frames + chunks - 1) / chunks
	return min((size+n.multiple-1)/n.multiple*n.multiple, frames)
}

// viewChunks cuts the chunks of a plan.
func (n *Net) viewChunks(p *Plan, v *viewer) {
	size := n.chunkOf(p.Frames)
	if size < p.Frames {
		p.means, p.dMeans = v.rows(n.memory.means, p.Frames), v.rows(n.memory.dMeans, p.Frames)
	}
	d := n.config.FeatureWidth()
	for from := 0; from < p.Frames; from += size {
		to := min(from+size, p.Frames)
		c := chunk{
			pixels:  v.Rows(p.Pixels, from, to),
			sizes:   v.Rows(p.Sizes, from, to),
			flips:   v.Rows(p.Flips, from, to),
			keys:    v.Rows(p.Keys, from, to),
			logits:  v.Rows(p.Logits, from, to),
			dLogits: v.Rows(p.dLogits, from, to),
			x:       v.rows(n.memory.x, to-from),
			pooled:  p.Pooled,
			dPooled: p.dPooledN,
			bags:    p.bags,
		}
		if size < p.Frames {
			c.pooled, c.dPooled, c.bags = v.Shaped(v.Rows(p.means, from, to), to-from, d),
				v.Shaped(v.Rows(p.dMeans, from, to), to-from, d), nil
		}
		n.viewLayers(&c, v, to-from)
		p.chunks = append(p.chunks, c)
	}
	if len(p.chunks) == 1 {
		p.X, p.Features = p.chunks[0].x, p.chunks[0].features
	}
}

// viewLayers cuts outputs and gradients of this number of frames.
func (n *Net) viewLayers(c *chunk, v *viewer, frames int) {
	shapes, l := n.shapes(), n.memory.layout
	all := make([]output, len(l.maps))
	for i := range all {
		at := func(l *life) *tensor.Tensor {
			return v.Start(v.Rows(n.memory.maps, l.at, l.at+l.size), frames, shapes[i].h, shapes[i].w, shapes[i].c)
		}
		all[i].y = at(l.maps[i])
		if n.capacity.training {
			all[i].dy = at(l.gradients[i])
		}
	}
	c.maps, c.hidden = all[:len(n.units)], all[len(n.units):]
	features, _ := n.belowHead(c, n.config.tap())
	c.features = features.y
}

// backwardChunks goes backward through the chunks of a plan, the last one first. The outputs of the last
// chunk still exist, and the outputs of the others are computed again.
func (n *Net) backwardChunks(p *Plan, o StepOptions, noisy bool) error {
	done, part := o.Done, o.Part
	for i := len(p.chunks) - 1; i >= 0; i-- {
		c := &p.chunks[i]
		if o.Done, o.Part = nil, WholeStep; i == 0 { // the last one completes the gradients
			o.Done, o.Part = done, part
		}
		if i < len(p.chunks)-1 {
			if err := n.forwardLayers(p, c, true); err != nil {
				return err
			}
			o.Accumulate = true
		}
		if err := n.backward(c, o, noisy); err != nil {
			return err
		}
	}
	return nil
}
