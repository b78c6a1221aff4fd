package s2vt

import (
	"fmt"

	"nmn/kernels/tensor"

	dense "gorgonia.org/tensor"
)

// plan is a shape of batch: views of the net's buffers, which all plans share. A batch must be used up before
// the next one is laid out.
//
// Rows of a step and a clip are in the order of steps, so that a phase is a range of rows: T·N rows of
// frames, then L·N rows of words, or fewer if the batch has a tail.
type plan struct {
	planKey

	features            *tensor.Tensor // T·N×1×1×F
	embedded, dembedded *tensor.Tensor // T·N×1×1×E
	seen, dseen         *tensor.Tensor // L·N×1×1×D: vectors of the words before
	seenRows, dseenRows *tensor.Tensor // the same as L·N×D
	product             *tensor.Tensor // L·N×1×1×4H: of seen with its weights
	shut                *tensor.Tensor // T·N×4H, in the same memory: what shuts gates before the first frame
	ragged              bool           // whether a clip has fewer frames than others
	learns              bool           // whether the batch is one to learn from, with dropout

	lower, upper layer
	dh           *tensor.Tensor // T+L×N×H: gradient of the states of the upper layer, then of the lower one
	dhFrames     *tensor.Tensor // T of its steps
	dhWords      *tensor.Tensor // L·N×H, its other rows
	dhRows       *tensor.Tensor // all of it as (T+L)·N×1×1×H
	tail         *planTail      // nil where the batch has none

	outputs, doutputs *tensor.Tensor // M×H: states that say a word
	results, losses   *tensor.Tensor // 4+M: norm of the gradients, a gap, and the losses; M, the losses

	ints                    *tensor.Tensor // all of the following
	missing, frameKeys      *tensor.Tensor // T·N
	previous, row, wordKeys *tensor.Tensor // L·N
	target, at, rowKeys     *tensor.Tensor // M
	still                   *tensor.Tensor // L·N zeros

	host       host
	featuresIn *dense.Dense
	intsIn     *dense.Dense
	resultsOut *dense.Dense
}

// planKey is a shape of batch: T frames, L words at most, N clips, M words in all, rounded up.
type planKey struct {
	frames, steps, clips, words int
	tail                        tail
}

// layer are the buffers of an LSTM over all steps, and views of them.
type layer struct {
	gates, h, c *tensor.Tensor // T+L×N×4H, T+L×N×H

	gatesRows, gatesFrames, gatesWords *tensor.Tensor // all, T·N and L·N rows of ×1×1×4H
	gatesLater                         *tensor.Tensor // all rows without the first step
	framesFlat, wordsFlat              *tensor.Tensor // T·N×4H, L·N×4H
	hRows, hEarlier                    *tensor.Tensor // all rows of ×1×1×H, and all without the last step
	hWords                             *tensor.Tensor // L·N×H
	tail                               *layerTail     // nil where the batch has none; gates, h and c end before it
}

// host holds a batch before it is uploaded: views of memory that all plans share.
type host struct {
	features                []float32
	missing, frameKeys      []int32
	previous, row, wordKeys []int32
	target, at, rowKeys     []int32
	results                 []float32
}

// roundedWords is the number of words of a batch, rounded up to a part of its places for words, so that
// batches have few different shapes. A graphics card searches the best way to compute each shape, and records
// it. The added places have no words: they change neither losses nor gradients.
func roundedWords(words, steps, clips int) int { return ceilTo(words, part(steps, clips)) }

// part is an eighth of the places for words, as a multiple of rounded.
func part(steps, clips int) int { return ceilTo((steps*clips+7)/8, rounded) }

// rounded is a multiple of rows that all devices like.
const rounded = 16

func ceilTo(a, b int) int { return (a + b - 1) / b * b }

// maxPlans bounds the shapes whose views are kept.
const maxPlans = 4096

// planFor returns the buffers for a batch. A batch larger than any before moves them; asking again for a
// known shape allocates nothing.
func (n *Net) planFor(b *Batch) (*plan, error) {
	key := planKey{frames: n.longest(b.Features), clips: len(b.Captions)}
	for _, words := range b.Captions {
		key.steps = max(key.steps, len(words)+1)
	}
	key.words, key.tail = roundedWords(b.Words(), key.steps, key.clips), n.tailOf(b, key.frames)
	return n.planOf(key)
}

// planOf is planFor of a shape.
func (n *Net) planOf(key planKey) (*plan, error) {
	if p, ok := n.plans[key]; ok {
		return p, nil
	}
	if err := n.hold(key); err != nil {
		return nil, err
	}
	if len(n.plans) >= maxPlans {
		clear(n.plans)
	}
	p, err := n.view(key)
	if err != nil {
		return nil, err
	}
	n.plans[key] = p
	return p, nil
}

// hold makes room for a shape of batch.
func (n *Net) hold(key planKey) error {
	has, need := n.capacity, capacity{key.frames * key.clips, key.places(), key.words}
	if need.frames <= has.frames && need.words <= has.words && need.outputs <= has.outputs {
		return nil
	}
	if err := n.grow(capacity{max(need.frames, has.frames), max(need.words, has.words),
		max(need.outputs, has.outputs)}); err != nil {
		return fmt.Errorf("s2vt: cannot hold a batch of %d clips of %d frames with captions of %d words: "+
			"lower the batch size: %w",
			key.clips, key.frames, key.steps, err)
	}
	return nil
}

// upload uploads the host's batch.
func (p *plan) upload(device tensor.Device) error {
	if err := device.Upload(p.features, p.featuresIn); err != nil {
		return err
	}
	return device.Upload(p.ints, p.intsIn)
}
