package transformer

import (
	"errors"
	"fmt"
	"math"

	"nmn/kernels/tensor"
)

// Errors about parameters other than shapes.
var (
	// ErrKind is wrapped by errors about kinds of GELU that do not exist.
	ErrKind = errors.New("no such kind of GELU")
	// ErrEpsilon is wrapped by errors about an epsilon that is negative, infinite or NaN.
	ErrEpsilon = errors.New("no such epsilon")
)

// floats reports whether a tensor is there, of floats, and not of rank 0.
func floats(t *tensor.Tensor) bool {
	return t.IsFloats() && t.Rank() > 0
}

// vector checks count numbers, or nil.
func vector(operation, name string, t *tensor.Tensor, count int) error {
	if t != nil && !t.IsFloats(count) {
		return tensor.Misfit(operation, "%s is %s, want %d", name, t, count)
	}
	return nil
}

// equal checks that tensors are floats of one shape.
func equal(operation string, tensors ...*tensor.Tensor) error {
	for _, t := range tensors {
		if !floats(t) || !tensor.SameShape(t, tensors[0]) {
			return tensor.Misfit(operation, "%s and %s: floats of equal shape are needed", tensors[0], t)
		}
	}
	return nil
}

// Rows is a matrix: Count rows of Width numbers.
type Rows struct{ Count, Width int }

func rows(t *tensor.Tensor) Rows {
	width := t.Dim(-1)
	if width == 0 {
		return Rows{}
	}
	return Rows{t.Len() / width, width}
}

// FitLayerNorm is the shape rule of LayerNorm for every device.
func FitLayerNorm(y, x, gain, bias *tensor.Tensor, eps float32) (Rows, error) {
	const operation = "layer norm"
	if err := equal(operation, y, x); err != nil {
		return Rows{}, err
	}
	if gain == nil || bias == nil {
		return Rows{}, tensor.Misfit(operation, "gain %s and bias %s are both needed", gain, bias)
	}
	if err := errors.Join(vector(operation, "gain", gain, x.Dim(-1)), vector(operation, "bias", bias,
		x.Dim(-1))); err != nil {
		return Rows{}, err
	}
	if !(eps >= 0) || math.IsInf(float64(eps), 0) {
		return Rows{}, fmt.Errorf("%s: epsilon %g: %w", operation, eps, ErrEpsilon)
	}
	return rows(x), nil
}

// FitGELU is the rule of GELU for every device.
func FitGELU(y, x *tensor.Tensor, kind GELUKind) error {
	if kind == None || kind > Quick {
		return fmt.Errorf("gelu: kind %d: %w", kind, ErrKind)
	}
	return equal("gelu", y, x)
}

// Heads is the checked shape of an attention: N pictures of T tokens, with Heads heads of Width numbers each.
type Heads struct{ N, T, Heads, Width int }

// D is the width of a token.
func (h Heads) D() int { return h.Heads * h.Width }

// OnTensorCores reports whether a card computes heads of bfloat16 on tensor cores.
func (h Heads) OnTensorCores() bool { return h.Width <= 64 && h.Width%8 == 0 }

// FitAttention is the shape rule of Attention for every device.
func FitAttention(y, qkv *tensor.Tensor, heads int) (Heads, error) {
	const operation = "attention"
	if !floats(y) || !floats(qkv) || y.Rank() != 3 || qkv.Rank() != 3 {
		return Heads{}, tensor.Misfit(operation, "%s of %s: N×T×D of N×T×3D are needed", y, qkv)
	}
	d := y.Dim(2)
	if qkv.Dim(0) != y.Dim(0) || qkv.Dim(1) != y.Dim(1) || qkv.Dim(2) != 3*d {
		return Heads{}, tensor.Misfit(operation, "%s of %s: N×T×D of N×T×3D are needed", y, qkv)
	}
	if heads < 1 || d == 0 || d%heads != 0 {
		return Heads{}, tensor.Misfit(operation, "%d heads do not divide a width of %d", heads, d)
	}
	return Heads{N: y.Dim(0), T: y.Dim(1), Heads: heads, Width: d / heads}, nil
}

// Layer is the checked shape of a linear layer: Rows rows of C numbers give rows of K.
type Layer struct{ Rows, C, K int }

// FitLinear is the shape rule of Linear for every device.
func FitLinear(y, x, w, b *tensor.Tensor, p LinearParams) (Layer, error) {
	const operation = "linear"
	if !floats(y) || !floats(x) || !weights(w) {
		return Layer{}, tensor.Misfit(operation, "%s of %s and weights %s: …×K of …×C and K×C are needed", y, x, w)
	}
	l := Layer{C: w.Dim(-1), K: w.Dim(0)}
	if l.C == 0 || l.K == 0 || x.Dim(-1) != l.C || y.Dim(-1) != l.K || x.Len()/l.C != y.Len()/l.K {
		return Layer{}, tensor.Misfit(operation, "%s of %s and weights %s: …×K of …×C and K×C are needed", y, x, w)
	}
	l.Rows = x.Len() / l.C
	if p.GELU > Quick {
		return Layer{}, fmt.Errorf("%s: kind %d: %w", operation, p.GELU, ErrKind)
	}
	if p.Residual != nil {
		if err := equal(operation, y, p.Residual); err != nil {
			return Layer{}, err
		}
	}
	return l, errors.Join(vector(operation, "bias", b, l.K), vector(operation, "scale", p.Scale, l.K))
}

// FitPrepareLinear is the shape rule of PrepareLinear for every device.
func FitPrepareLinear(w *tensor.Tensor) (Layer, error) {
	if !weights(w) || w.Len() == 0 {
		return Layer{}, fmt.Errorf("weights %s to prepare: K×C or K×1×1×C are needed: %w", w, tensor.ErrShape)
	}
	return Layer{C: w.Dim(-1), K: w.Dim(0)}, nil
}

// weights reports whether a tensor has the shape of a linear layer's weights.
func weights(w *tensor.Tensor) bool {
	return floats(w) && (w.Rank() == 2 || w.Rank() == 4 && w.Dim(1) == 1 && w.Dim(2) == 1)
}

// FitAddScaled is the shape rule of AddScaled for every device.
func FitAddScaled(y, x, r, scale *tensor.Tensor) (Rows, error) {
	const operation = "scaled sum"
	if err := equal(operation, y, x, r); err != nil {
		return Rows{}, err
	}
	return rows(x), vector(operation, "scale", scale, x.Dim(-1))
}

// Sequence is the checked shape of Tokens: N pictures of Prefix + Patches tokens of D numbers.
type Sequence struct{ N, Prefix, Patches, D int }

// FitTokens is the shape rule of Tokens for every device.
func FitTokens(y, patches, prefix, position *tensor.Tensor) (Sequence, error) {
	const operation = "tokens"
	if !floats(y) || !floats(patches) || y.Rank() != 3 || patches.Rank() != 3 {
		return Sequence{}, tensor.Misfit(operation, "%s of patches %s: three dimensions are needed", y, patches)
	}
	s := Sequence{N: patches.Dim(0), Patches: patches.Dim(1), D: patches.Dim(2)}
	if prefix != nil {
		if !floats(prefix) || prefix.Rank() != 2 || prefix.Dim(1) != s.D {
			return s, tensor.Misfit(operation, "prefix %s for patches %s: R×%d is needed", prefix, patches, s.D)
		}
		s.Prefix = prefix.Dim(0)
	}
	if !y.IsFloats(s.N, s.Prefix+s.Patches, s.D) {
		return s, tensor.Misfit(operation, "prefix %s and patches %s give %s, not %s", prefix, patches,
			tensor.Format([]int{s.N, s.Prefix + s.Patches, s.D}), y)
	}
	if position != nil && !position.IsFloats(s.Patches, s.D) {
		return s, tensor.Misfit(operation, "position %s for patches %s: %d×%d are needed", position, patches, s.Patches, s.D)
	}
	return s, nil
}

// Patches is the checked shape of a patch embedding: N pictures of H×W pixels of C channels, in patches of P×P, each of
// which gives K numbers.
type Patches struct{ N, H, W, C, P, K int }

// Count is the number of patches of a picture.
func (p Patches) Count() int { return p.H / p.P * (p.W / p.P) }

// FitPatchEmbed is the shape rule of PatchEmbed for every device.
func FitPatchEmbed(y, x, w, b *tensor.Tensor) (Patches, error) {
	const operation = "patch embedding"
	if !floats(y) || !floats(x) || !floats(w) || y.Rank() != 3 || x.Rank() != 4 || w.Rank() != 4 {
		return Patches{}, tensor.Misfit(operation, "%s of %s and weights %s: N×L×K of N×H×W×C and K×P×P×C are needed", y, x,
			w)
	}
	p := Patches{N: x.Dim(0), H: x.Dim(1), W: x.Dim(2), C: x.Dim(3), P: w.Dim(1), K: w.Dim(0)}
	switch {
	case p.P < 1 || w.Dim(2) != p.P || w.Dim(3) != p.C || p.C == 0:
		return p, tensor.Misfit(operation, "weights %s for pictures %s: K×P×P×%d are needed", w, x, p.C)
	case p.H < p.P || p.W < p.P || p.H%p.P != 0 || p.W%p.P != 0:
		return p, tensor.Misfit(operation, "patches of %d×%d pixels do not divide pictures %s", p.P, p.P, x)
	case !y.IsFloats(p.N, p.Count(), p.K):
		return p, tensor.Misfit(operation, "pictures %s and weights %s give %s, not %s", x, w,
			tensor.Format([]int{p.N, p.Count(), p.K}), y)
	}
	return p, vector(operation, "bias", b, p.K)
}
