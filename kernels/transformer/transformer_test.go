package transformer

import (
	"errors"
	"math"
	"slices"
	"testing"

	"nmn/internal/rng"
	"nmn/kernels/simd"
	"nmn/kernels/tensor"
	"nmn/tools/optest"
)

func eachLevel(t *testing.T, f func(t *testing.T, c *CPU)) {
	for _, l := range simd.Levels() {
		t.Run("simd="+l.String(), func(t *testing.T) { f(t, NewCPU(optest.Device(t, 2), l)) })
	}
}

func zeros(t *testing.T, shape ...int) *tensor.Tensor {
	t.Helper()
	n, err := tensor.Elements(shape)
	optest.Must(t, err)
	x, err := tensor.OfFloat32s(make([]float32, n), shape...)
	optest.Must(t, err)
	return x
}

func part(t *testing.T, x *tensor.Tensor, lo, hi int) *tensor.Tensor {
	t.Helper()
	y, err := x.Rows(lo, hi)
	optest.Must(t, err)
	return y
}

// The results of a picture do not depend on the others in its batch, in any bit.
func TestOps_PicturesDoNotSeeEachOther(t *testing.T) {
	const n, size, patch, d, heads, prefix = 5, 42, 14, 64, 2, 1
	const l = (size / patch) * (size / patch)
	eachLevel(t, func(t *testing.T, c *CPU) {
		stream := rng.New(1)
		normal := func(deviation float64, shape ...int) *tensor.Tensor {
			return optest.Normal(t, &stream, deviation, shape...)
		}
		pictures, filter, vector := normal(1, n, size, size, 3), normal(.05, d, patch, patch, 3), normal(1, d)
		first, positions, wide := normal(1, prefix, d), normal(1, l, d), normal(.1, 3*d)
		wQKV, wUp, wDown := normal(.1, 3*d, d), normal(.1, 3*d, d), normal(.1, d, 3*d)
		optest.Must(t, c.PrepareLinear(wUp))
		features := func(x *tensor.Tensor) []float32 {
			n := x.Dim(0)
			patches, tokens, y := zeros(t, n, l, d), zeros(t, n, prefix+l, d), zeros(t, n, prefix+l, d)
			hidden := zeros(t, n, prefix+l, 3*d)
			for _, err := range []error{
				c.PatchEmbed(patches, x, filter, vector), c.Tokens(tokens, patches, first, positions),
				c.LayerNorm(y, tokens, vector, vector, 1e-6), c.Linear(hidden, y, wQKV, wide, LinearParams{}),
				c.Attention(y, hidden, heads), c.AddScaled(tokens, y, tokens, vector),
				c.Linear(hidden, tokens, wUp, wide, LinearParams{GELU: Exact, Prepared: true}),
				c.GELU(hidden, hidden, Quick),
				c.Linear(tokens, hidden, wDown, vector, LinearParams{Scale: vector, Residual: tokens}),
			} {
				optest.Must(t, err)
			}
			return tokens.Float32s()
		}
		together := features(pictures)
		for i := range n {
			alone := features(part(t, pictures, i, i+1))
			if !slices.Equal(alone, together[i*len(alone):(i+1)*len(alone)]) {
				t.Fatalf("picture %d has other features alone than in a batch", i)
			}
		}
	})
}

// Scratch memory grows with the tokens, not with their square.
func TestAttention_KeepsABlockOfLogits(t *testing.T) {
	const tokens, d = 3000, 16
	c := NewCPU(optest.Device(t, 1), simd.Levels()[len(simd.Levels())-1])
	stream := rng.New(2)
	optest.Must(t, c.Attention(zeros(t, 1, tokens, d), optest.Normal(t, &stream, 1, 1, tokens, 3*d), 1))
	s := &c.scratch[0]
	held := cap(s.keys) + cap(s.values) + cap(s.queries) + cap(s.logits) + cap(s.sums) + cap(s.lanes) + cap(s.offsets)
	if most := 2*tokens*2*d + 2*queryBlock*keyTarget; held > most {
		t.Errorf("%d numbers are held for %d tokens, want %d at most", held, tokens, most)
	}
}

func TestOps_RefuseWhatIsNoShape(t *testing.T) {
	c := NewCPU(optest.Device(t, 1), simd.Generic)
	x, v, w := zeros(t, 2, 4), zeros(t, 4), zeros(t, 4, 4)
	for _, kind := range []GELUKind{None, Quick + 1} {
		if err := c.GELU(x, x, kind); !errors.Is(err, ErrKind) {
			t.Errorf("kind %d: %v", kind, err)
		}
	}
	if err := c.Linear(zeros(t, 2, 4), x, w, nil, LinearParams{GELU: Quick + 1}); !errors.Is(err, ErrKind) {
		t.Errorf("linear: %v", err)
	}
	for _, eps := range []float32{-1, float32(math.NaN()), float32(math.Inf(1))} {
		if err := c.LayerNorm(x, x, v, v, eps); !errors.Is(err, ErrEpsilon) {
			t.Errorf("epsilon %g: %v", eps, err)
		}
	}
	if got := (Quick + 1).String(); got != "unknown" {
		t.Errorf("the name of a kind that does not exist is %q", got)
	}
}

// Batches of no pictures have nothing to do.
func TestOps_NothingIsNothing(t *testing.T) {
	eachLevel(t, func(t *testing.T, c *CPU) {
		none, v, w := zeros(t, 0, 3, 4), zeros(t, 4), zeros(t, 4, 4)
		for i, err := range []error{
			c.LayerNorm(none, none, v, v, 1), c.GELU(none, none, Exact), c.Attention(none, zeros(t, 0, 3, 12), 2),
			c.Linear(none, none, w, v, LinearParams{}), c.AddScaled(none, none, none, v), c.Tokens(zeros(t, 0, 4, 4), none,
				zeros(t, 1, 4), nil),
			c.PatchEmbed(zeros(t, 0, 1, 4), zeros(t, 0, 2, 2, 3), zeros(t, 4, 2, 2, 3), nil),
		} {
			if err != nil {
				t.Errorf("call %d: %v", i, err)
			}
		}
	})
}

// A NaN in one token reaches the picture that it is in by attention, and no other.
func TestAttention_NaNStaysInItsPicture(t *testing.T) {
	const n, tokens, d = 3, 20, 8
	eachLevel(t, func(t *testing.T, c *CPU) {
		stream := rng.New(3)
		for at, reach := range map[int]int{0: 1, d: tokens, 2 * d: tokens} { // of a query, a key and a value
			qkv, y := optest.Normal(t, &stream, 1, n, tokens, 3*d), zeros(t, n, tokens, d)
			qkv.Float32s()[(tokens+4)*3*d+at] = float32(math.NaN())
			optest.Must(t, c.Attention(y, qkv, 1))
			reached := 0
			for token := range n * tokens {
				if row := y.Float32s()[token*d : (token+1)*d]; slices.ContainsFunc(row, func(v float32) bool { return v != v }) {
					reached++
					if token/tokens != 1 {
						t.Errorf("token %d of picture %d is NaN", token%tokens, token/tokens)
					}
				}
			}
			if reached != reach {
				t.Errorf("a NaN at %d reaches %d tokens, want %d", at, reached, reach)
			}
		}
	})
}
