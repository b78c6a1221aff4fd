//go:build cuda

package conv

import (
	"fmt"
	"math"

	"nmn/cuda/cudnn"
	"nmn/kernels/tensor"
)

// mostElements is the maximum number of elements of a tensor for cuDNN. Its kernels count them in 32 bits,
// and beyond that some of them read and write elsewhere. Kernels of this package count in 64 bits.
const mostElements = math.MaxInt32

// frames is the number of frames of a convolution that are computed at once: all of them if the tensors are
// small enough, else about equal parts. If possible, parts are multiples of 8 frames, so that each begins at
// a multiple of 16 bytes.
func (c *CUDA) frames(shape cudnn.Conv) (int, error) {
	each := max(shape.H*shape.W*shape.C, shape.P()*shape.Q()*shape.K)
	most := c.most / each
	switch {
	case most >= shape.N:
		return shape.N, nil
	case most < 1:
		return 0, fmt.Errorf("conv: one frame of %v has %d elements, at most %d are possible: use smaller pictures: %w",
			shape, each, c.most, tensor.ErrShape)
	}
	frames := tensor.Ceil(shape.N, tensor.Ceil(shape.N, most))
	if most >= 8 {
		frames = min(tensor.Ceil(frames, 8), most/8) * 8
	}
	return frames, nil
}

// eachPart calls do with the parts of a convolution in ascending order, and for each with those frames of some
// tensors, which may be nil.
func (c *CUDA) eachPart(shape cudnn.Conv, frames int,
	do func(part cudnn.Conv, first bool, views []*tensor.Tensor) error, tensors ...*tensor.Tensor) error {
	views := make([]*tensor.Tensor, len(tensors))
	for first := 0; first < shape.N; first += frames {
		part := shape
		part.N = min(frames, shape.N-first)
		for i, t := range tensors {
			if t == nil {
				continue
			}
			view, err := t.Rows(first, first+part.N)
			if err != nil {
				return err
			}
			views[i] = view
		}
		if err := placed("a part of a convolution", views...); err != nil {
			return err
		}
		if err := do(part, first == 0, views); err != nil {
			return err
		}
	}
	return nil
}
