package s2vt

import (
	"fmt"

	"nmn/kernels/tensor"
)

// Work is what Enqueue does with a batch: batches of one shape are the same calls on the same memory, and their
// Work is equal, until a batch that is larger than what Reserve has made room for moves the memory.
type Work struct {
	plan   *plan
	norm   *tensor.Tensor
	ragged bool
}

// String names the work in messages.
func (w Work) String() string {
	return fmt.Sprintf("gradients of %d captions of up to %d words of %d frames", w.plan.clips, w.plan.steps-1,
		w.plan.frames)
}

// Norm is one float32 on the device, for the norm of the gradients, which Wait downloads together with the losses.
// It is the same for all shapes, until the memory moves.
func (w Work) Norm() *tensor.Tensor { return w.norm }

// Size is what batches may be as large as.
type Size struct {
	Clips  int // with a caption each
	Frames int // of the longest clip
	Words  int // of the longest caption, without EOS
	Said   int // of all captions together, with an EOS for each
}

// Reserve makes room for all batches up to a size, so that memory does not move while a net is trained.
func (n *Net) Reserve(s Size) error {
	steps := s.Words + 1 // a batch of shorter captions may be rounded up further than the largest, but by less than a part
	return n.hold(planKey{frames: s.Frames, steps: steps, clips: s.Clips,
		words: roundedWords(s.Said, steps, s.Clips) + part(steps, s.Clips)})
}
