package pixels

import (
	"fmt"
	"math"

	"nmn/kernels/tensor"
)

// geometry is the checked shape of Normalize, in the letters of package tensor.
type geometry struct{ T, H, W, C int }

// Fit checks x, floats T×H×W×C, C >= 3, pixels, uint8 T×H×W×3, sizes, int32 T×2, and flips, uint8 T, against
// each other, and that the constants are finite. It is the shape rule of every device. It does not read
// sizes.
func Fit(x, pixels, sizes, flips *tensor.Tensor, p Params) (geometry, error) {
	const operation = "normalize"
	if !x.IsFloats() || x.Rank() != 4 || x.Dim(3) < 3 {
		return geometry{}, tensor.Misfit(operation, "output is %s, want floats T×H×W×C with at least 3 channels", x)
	}
	g := geometry{T: x.Dim(0), H: x.Dim(1), W: x.Dim(2), C: x.Dim(3)}
	if !pixels.Is(tensor.Uint8, g.T, g.H, g.W, 3) {
		return g, tensor.Misfit(operation, "pixels are %s, want uint8 %d×%d×%d×3", pixels, g.T, g.H, g.W)
	}
	if sizes != nil && !sizes.Is(tensor.Int32, g.T, 2) {
		return g, tensor.Misfit(operation, "sizes are %s, want int32 %d×2", sizes, g.T)
	}
	if flips != nil && !flips.Is(tensor.Uint8, g.T) {
		return g, tensor.Misfit(operation, "flips are %s, want uint8 %d", flips, g.T)
	}
	for c := range 3 {
		if v := float64(p.Mean[c]) * float64(p.Scale[c]); math.IsNaN(v) || math.IsInf(v, 0) {
			return g, fmt.Errorf("%s: channel %d: mean %g and scale %g are not finite: %w", operation, c, p.Mean[c],
				p.Scale[c], ErrParams)
		}
	}
	return g, nil
}
