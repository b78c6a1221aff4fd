// Package pixels turns 8-bit pictures into the network's input.
package pixels

import "nmn/kernels/tensor"

// Params normalise: out = (pixel - Mean[c]) · Scale[c].
type Params struct {
	Mean, Scale [3]float32
}

// Ops is the family.
type Ops interface {
	// Normalize computes x, T×H×W×C with C >= 3 (further channels are 0), from pixels, uint8 T×H×W×3. sizes,
	// int32 T×2, holds each picture's valid height and width in the top left corner. Everything outside is
	// exactly 0 in x (the zero canvas after the mean is subtracted). nil means all. flips, uint8 T, mirrors
	// the valid part left to right if not 0. nil means none.
	Normalize(x, pixels, sizes, flips *tensor.Tensor, p Params) error
}
