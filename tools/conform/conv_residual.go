package conform

import (
	"nmn/kernels"
	"nmn/kernels/conv"
	"nmn/kernels/tensor"
	"nmn/tools/ref"
)

// convStrided are the convolutions of residual nets on small maps, and others whose stride does not divide.
func convStrided() []ref.Conv {
	return []ref.Conv{
		{N: 1, H: 1, W: 1, C: 1, K: 1, R: 1, S: 1, Stride: 2},
		{N: 2, H: 7, W: 6, C: 5, K: 17, R: 1, S: 1, Stride: 2},
		{N: 3, H: 8, W: 8, C: 16, K: 32, R: 1, S: 1, Stride: 2},
		{N: 1, H: 2, W: 2, C: 3, K: 2, R: 3, S: 3, Pad: 1, Stride: 2},
		{N: 2, H: 8, W: 9, C: 16, K: 16, R: 3, S: 3, Pad: 1, Stride: 2},
		{N: 13, H: 5, W: 6, C: 3, K: 33, R: 3, S: 3, Pad: 1, Stride: 2},
		{N: 1, H: 7, W: 1, C: 1, K: 1, R: 3, S: 3, Pad: 1, Stride: 2},
		{N: 2, H: 15, W: 18, C: 3, K: 10, R: 7, S: 7, Pad: 3, Stride: 2},
		{N: 1, H: 21, W: 22, C: 3, K: 64, R: 7, S: 7, Pad: 3, Stride: 2},
		{N: 1, H: 6, W: 7, C: 2, K: 3, R: 3, S: 3, Pad: 2, Stride: 2},
		{N: 1, H: 6, W: 11, C: 2, K: 3, R: 2, S: 3, Stride: 3},
		{N: 1, H: 4, W: 4, C: 2, K: 3, R: 3, S: 3, Stride: 2}, // its last row and column meet no window
		{N: 2, H: 10, W: 9, C: 4, K: 5, R: 2, S: 2, Stride: 4},
	}
}

func convAddRefusals() []Case {
	of := func(name string, y, shortcut []int, p conv.Params) Case {
		return refuse("ConvAdd", name, func(k kernels.Backend, t []*tensor.Tensor) error {
			return k.ConvAdd(t[0], t[1], t[2], t[3], t[4], p)
		}, blank(y...), blank(1, 5, 5, 3), blank(2, 3, 3, 3), blank(2), blank(shortcut...))
	}
	fits := []int{1, 3, 3, 2}
	return []Case{
		of("shortcut_of_the_input", fits, []int{1, 5, 5, 3}, conv.Params{Pad: 1, Stride: 2}),
		of("shortcut_of_another_rank", fits, []int{1, 9, 2}, conv.Params{Pad: 1, Stride: 2}),
		of("stride", fits, fits, conv.Params{Pad: 1, Stride: 3}),
		of("negative_stride", fits, fits, conv.Params{Pad: 1, Stride: -2}),
		of("rows", []int{1, 2, 3, 2}, []int{1, 2, 3, 2}, conv.Params{Pad: 1, Stride: 2}),
	}
}
