package pool

import (
	"cmp"

	"nmn/kernels/tensor"
)

// Geometry is the checked shape of a 2×2 pooling: maps T×H×W×C become T×P×Q×C.
type Geometry struct{ T, H, W, C, P, Q int }

// fitMax checks x T×H×W×C and y T×ceil(H/2)×ceil(W/2)×C against each other. It is the shape rule of every
// device for MaxPool. MaxPoolGrad also needs dx like x and dy like y.
func fitMax(operation string, y, x *tensor.Tensor) (Geometry, error) {
	if !isMap(x) || !isMap(y) {
		return Geometry{}, tensor.Misfit(operation, "input %s, output %s: each needs four dimensions of floats", x, y)
	}
	g := Geometry{T: x.Dim(0), H: x.Dim(1), W: x.Dim(2), C: x.Dim(3)}
	g.P, g.Q = (g.H+1)/2, (g.W+1)/2
	if g.P < 1 || g.Q < 1 {
		return g, tensor.Misfit(operation, "input %s is smaller than the window", x)
	}
	if !y.IsFloats(g.T, g.P, g.Q, g.C) {
		return g, tensor.Misfit(operation, "input %s gives output %s, not %s", x, tensor.Format([]int{g.T, g.P, g.Q, g.C}), y)
	}
	return g, nil
}

// FitMaxGrad checks the maps of MaxPoolGrad against each other. It is the shape rule of every device.
func FitMaxGrad(operation string, dx, dy, x, y *tensor.Tensor) (Geometry, error) {
	g, err := fitMax(operation, y, x)
	return g, cmp.Or(err, fitLike(operation, dx, x), fitLike(operation, dy, y))
}

// FitChannels checks that db is float32 with an element for each channel.
func (g Geometry) FitChannels(operation string, db *tensor.Tensor) error {
	if !db.Is(tensor.Float32, g.C) {
		return tensor.Misfit(operation, "bias gradient is %s, want float32 %d", db, g.C)
	}
	return nil
}

// bagGeometry is the checked shape of a pooling of the cells of bags: x T×H×W×D, g N×D.
type bagGeometry struct{ N, T, H, W, D int }

// Cells is the number of cells of one frame.
func (g bagGeometry) Cells() int { return g.H * g.W }

// FitBag checks x T×H×W×D, g N×D and the N+1 frame offsets bags (nil: N = T) against each other. It is the
// shape rule of every device. It does not read the offsets.
func FitBag(operation string, g, x, bags *tensor.Tensor) (bagGeometry, error) {
	if !isMap(x) || x.Len() == 0 {
		return bagGeometry{}, tensor.Misfit(operation, "maps are %s, want floats T×H×W×D, not empty", x)
	}
	n, err := tensor.FitBags(operation, bags, x.Dim(0))
	s := bagGeometry{N: n, T: x.Dim(0), H: x.Dim(1), W: x.Dim(2), D: x.Dim(3)}
	if err != nil {
		return s, err
	}
	if !g.IsFloats(s.N, s.D) {
		return s, tensor.Misfit(operation, "maps %s in %d bags give vectors %d×%d, not %s", x, s.N, s.N, s.D, g)
	}
	return s, nil
}

// fitKind refuses kinds of pooling that do not exist.
func fitKind(operation string, kind Kind) error {
	if kind != Mean && kind != Max {
		return tensor.Misfit(operation, "kind %d is neither mean nor max", uint8(kind))
	}
	return nil
}

// fitLike checks that gradients have the shape of the tensors they belong to.
func fitLike(operation string, gradient, of *tensor.Tensor) error {
	if of == nil || !gradient.IsFloats() || !tensor.SameShape(gradient, of) {
		return tensor.Misfit(operation, "gradient %s does not have the shape of %s", gradient, of)
	}
	return nil
}

func isMap(t *tensor.Tensor) bool { return t.IsFloats() && t.Rank() == 4 }
