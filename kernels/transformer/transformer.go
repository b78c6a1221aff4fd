// Package transformer holds the operations of vision transformers, forward only: layer norm, GELU, attention,
// linear layers with the steps after them, residual sums, and the conversion of a picture to its tokens.
package transformer

import "nmn/kernels/tensor"

// GELUKind names a form of the Gaussian error linear unit of Hendrycks and Gimpel (2016), x·Φ(x).
type GELUKind uint8

// The kinds. With Exact, Φ is (1 + erf(x/√2))/2. Tanh is their approximation
// (1 + tanh(√(2/π)·(x + .044715·x³)))/2 of it, and Quick, which CLIP was trained with, 1/(1 + exp(-1.702·x)).
const (
	None GELUKind = iota // Linear alone: no activation
	Exact
	Tanh
	Quick
)

// String returns the name of a kind for messages.
func (k GELUKind) String() string {
	if k > Quick {
		return "unknown"
	}
	return [...]string{"none", "exact", "tanh", "quick"}[k]
}

// LinearParams are the steps after the product of a linear layer. The zero value has none.
type LinearParams struct {
	GELU     GELUKind       // applied to the product with its bias
	Scale    *tensor.Tensor // K factors of LayerScale; nil for 1
	Residual *tensor.Tensor // of y's shape, added last; nil for none. It may be y itself.
	Prepared bool           // w has been through PrepareLinear
}

// Ops is the family. Destinations are overwritten. D is the width of a token, N the number of pictures, T the
// number of tokens. Shapes that do not fit give an error that wraps tensor.ErrShape, before anything is
// written. Results do not depend on the number of threads. The results of a picture do not depend on the
// others in its batch. NaN in a token spreads to all results from it. No finite operand gives NaN unless a
// sum of its products overflows float32.
//
// A device may compute in bfloat16. On a graphics card, maps (x, y, r, qkv, patches) and the weights of products
// (w) then have that type, and gain, bias, b, scale, prefix and position are float32. On the CPU, the weights of
// linear layers may have it: x is then rounded to bfloat16. Sums are float32 in any case.
type Ops interface {
	// LayerNorm normalizes each row of D numbers (Ba, Kiros and Hinton, 2016):
	//
	//	y[i] = (x[i] - mean)/√(variance + eps) · gain[i] + bias[i]
	//
	// with the variance as the mean of squares, without Bessel's correction. x and y have equal shapes …×D,
	// gain and bias D. y may be x. eps is at least 0. A row of equal numbers gives bias if eps is above 0.
	LayerNorm(y, x, gain, bias *tensor.Tensor, eps float32) error

	// GELU computes y = x·Φ(x) in the form Exact, Tanh or Quick. y may be x.
	GELU(y, x *tensor.Tensor, kind GELUKind) error

	// Attention is multi-head self-attention (Vaswani et al., 2017) without its projections. qkv is N×T×3D:
	// queries, keys and values next to each other, each D = heads·d wide, head after head. y is N×T×D. For
	// each picture and head,
	//
	//	y[t] = sum over s of v[s]·exp(a[t,s]) / sum over s of exp(a[t,s]),  a[t,s] = q[t]·k[s]/√d
	//
	// It goes over blocks of queries and keys with running maxima and sums (Milakov and Gimelshein, 2018; Dao
	// et al., 2022). Only the logits of a block are in memory, not all T×T. y must not overlap qkv.
	Attention(y, qkv *tensor.Tensor, heads int) error

	// Linear computes y = residual + scale ⊙ GELU(x·wᵀ + b). All but the product may be left out. x is …×C, w
	// K×C or K×1×1×C, b K or nil, and y …×K with the rows of x. y must not overlap x or w.
	Linear(y, x, w, b *tensor.Tensor, p LinearParams) error

	// PrepareLinear brings the weights of a linear layer into the form that Linear reads fastest, in place. It is for nets
	// that do not learn, once, after their weights were loaded. Only Linear can read them from then on, on the same device
	// and with Prepared set. w is K×C or K×1×1×C.
	PrepareLinear(w *tensor.Tensor) error

	// AddScaled computes y = r + scale ⊙ x, the residual sum of a block. x, r and y have equal shapes …×D,
	// scale is D, the factors of LayerScale (Touvron et al., 2021), or nil for 1. y may be x or r.
	AddScaled(y, x, r, scale *tensor.Tensor) error

	// Tokens puts R tokens that all pictures share before the L patches of each: y[n] = [prefix; patches[n] +
	// position]. patches is N×L×D and y N×(R+L)×D. prefix is R×D, class token and registers, to which the
	// caller has added their positions if they have any, or nil for none. position is L×D, or nil for none. y
	// must not overlap the others.
	Tokens(y, patches, prefix, position *tensor.Tensor) error

	// PatchEmbed cuts pictures x N×H×W×C into patches of P×P pixels, which do not overlap, and projects each by w,
	// K×P×P×C, and b, K or nil: a convolution with stride P. y is N×L×K with L = (H/P)·(W/P) patches, row after row. P
	// must divide H and W. y must not overlap x.
	PatchEmbed(y, x, w, b *tensor.Tensor) error
}
