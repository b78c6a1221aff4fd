package conv

// firstFilters is how many filters a block of first.cu computes.
const firstFilters = 64

// LikeFirst reports whether nmn has kernels for a convolution in bfloat16 with a bias, and for its filter gradient: one
// like the first of a net, from pictures that were padded to 8 channels.
func (g Geometry) LikeFirst() bool {
	return g.C == 8 && g.K%firstFilters == 0 && g.R == 3 && g.S == 3 && g.Pad == 1 && g.Stride == 1
}
