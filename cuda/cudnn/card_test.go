//go:build cuda

package cudnn

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"unsafe"

	"nmn/cuda"
)

// card opens cuDNN on the first real card.
func card(t *testing.T) *Handle {
	t.Helper()
	if !onCard() {
		t.Skip("runs on a real card, with NMN_REQUIRE=cuda")
	}
	d, err := cuda.Open(0, cuda.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	h, err := Open(d.Compute(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// problem is a convolution with numbers that the precision can represent.
type problem struct {
	Conv
	x, w, y, bias, mask []float64
}

func newProblem(c Conv) *problem {
	r := rand.New(rand.NewPCG(1, 2))
	fill := func(n int, scale float64) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = c.Precision.round(scale * r.NormFloat64())
		}
		return v
	}
	return &problem{c, fill(c.N*c.H*c.W*c.C, 1), fill(c.K*c.R*c.S*c.C, 1/math.Sqrt(float64(c.R*c.S*c.C))),
		fill(c.N*c.P()*c.Q()*c.K, 1), fill(c.K, 1), fill(c.N*c.H*c.W*c.C, 1)}
}

// round rounds to the element type.
func (p Precision) round(v float64) float64 {
	if p == BFloat16 {
		return float64(math.Float32frombits(uint32(bf16Of(v)) << 16))
	}
	return float64(float32(v))
}

func bf16Of(v float64) uint16 {
	u := math.Float32bits(float32(v))
	return uint16((u + 0x7fff + u>>16&1) >> 16)
}

// bytes are numbers as the device holds them.
func (p Precision) bytes(v []float64) []byte {
	if p == BFloat16 {
		out := make([]uint16, len(v))
		for i := range v {
			out[i] = bf16Of(v[i])
		}
		return unsafe.Slice((*byte)(unsafe.Pointer(&out[0])), 2*len(out))
	}
	out := make([]float32, len(v))
	for i := range v {
		out[i] = float32(v[i])
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&out[0])), 4*len(out))
}

// numbers reads numbers written by bytes.
func (p Precision) numbers(b []byte) []float64 {
	if p == BFloat16 {
		out := make([]float64, len(b)/2)
		for i, v := range unsafe.Slice((*uint16)(unsafe.Pointer(&b[0])), len(out)) {
			out[i] = float64(math.Float32frombits(uint32(v) << 16))
		}
		return out
	}
	out := make([]float64, len(b)/4)
	for i, v := range unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), len(out)) {
		out[i] = float64(v)
	}
	return out
}

// written is the precision whose element type the result has.
func (p *problem) written() Precision {
	if p.Wide {
		return Float32
	}
	return p.Precision
}

// biasType is the precision whose element type the bias has.
func (p *problem) biasType() Precision {
	if p.NarrowBias {
		return p.Precision
	}
	return Float32
}

// compute is a pass in float64, as it is defined.
func (p *problem) compute(pass Pass) []float64 {
	out := make([]float64, map[Pass]int{DataGradient: len(p.x), MaskedDataGradient: len(p.x),
		FilterGradient: len(p.w)}[pass])
	if pass <= ForwardBiasReLU {
		out = make([]float64, len(p.y))
	}
	p.each(func(x, w, y int) {
		switch pass {
		case DataGradient, MaskedDataGradient:
			out[x] += p.y[y] * p.w[w]
		case FilterGradient:
			out[w] += p.y[y] * p.x[x]
		default:
			out[y] += p.x[x] * p.w[w]
		}
	})
	for i := range out {
		if pass == ForwardBias || pass == ForwardBiasReLU {
			out[i] += p.bias[i%p.K]
		}
		if pass == ForwardBiasReLU {
			out[i] = max(out[i], 0)
		}
		if pass == MaskedDataGradient && p.mask[i] <= 0 {
			out[i] = 0
		}
	}
	return out
}

// each visits the places of all products.
func (p *problem) each(visit func(x, w, y int)) {
	for y := range p.y {
		k, q, row, n := y%p.K, y/p.K%p.Q(), y/p.K/p.Q()%p.P(), y/p.K/p.Q()/p.P()
		for r := range p.R {
			for s := range p.S {
				h, column := row+r-p.Pad, q+s-p.Pad
				if h < 0 || h >= p.H || column < 0 || column >= p.W {
					continue
				}
				for c := range p.C {
					visit(((n*p.H+h)*p.W+column)*p.C+c, ((k*p.R+r)*p.S+s)*p.C+c, y)
				}
			}
		}
	}
}

// run computes a pass on the card.
func (p *problem) run(t *testing.T, h *Handle, pass Pass) []byte {
	t.Helper()
	place := func(v []float64, as Precision) cuda.Address {
		b := as.bytes(v)
		at, err := h.device.Alloc(len(b))
		if err == nil {
			err = h.stream.Upload(at, b)
		}
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	x, w, y := p.x, p.w, p.y
	var destination *[]float64
	switch pass {
	case DataGradient, MaskedDataGradient:
		destination = &x
	case FilterGradient:
		destination = &w
	default:
		destination = &y
	}
	bytes := len(p.written().bytes(*destination))
	*destination = make([]float64, 2*len(*destination)) // enough for a wide result
	o := Operands{X: place(x, p.Precision), W: place(w, p.Precision), Y: place(y, p.Precision),
		Bias: place(p.bias, p.biasType()),
		Mask: place(p.mask, p.Precision)}
	if err := h.Run(pass, p.Conv, o); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, bytes)
	at := map[Pass]cuda.Address{DataGradient: o.X, MaskedDataGradient: o.X, FilterGradient: o.W}[pass]
	if pass <= ForwardBiasReLU {
		at = o.Y
	}
	if err := h.stream.Download(got, at); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestCard_ComputesConvolutions(t *testing.T) {
	h := card(t)
	for _, c := range []Conv{
		{N: 2, H: 13, W: 11, C: 16, K: 24, R: 3, S: 3, Pad: 1},
		{N: 1, H: 9, W: 9, C: 8, K: 64, R: 3, S: 3, Pad: 1},
		{N: 3, H: 7, W: 8, C: 32, K: 40, R: 7, S: 7},
		{N: 2, H: 5, W: 5, C: 64, K: 8, R: 1, S: 1},
	} {
		for _, as := range []struct {
			Precision
			wide, narrowBias bool
			tolerance        float64
		}{
			{Float32, false, false, 2e-6}, {TF32, false, false, 2e-3}, {BFloat16, false, false, 5e-3},
			{BFloat16, true, false, 2e-6}, {BFloat16, false, true, 5e-3},
		} {
			c.Precision, c.Wide, c.NarrowBias = as.Precision, as.wide, as.narrowBias
			problem := newProblem(c)
			for pass := Forward; pass <= MaskedDataGradient; pass++ {
				if as.narrowBias && !pass.biased() || pass == MaskedDataGradient && (as.wide || c.Precision == Float32) {
					continue
				}
				first, second := problem.run(t, h, pass), problem.run(t, h, pass)
				if string(first) != string(second) {
					t.Errorf("%v of %v: two runs differ", pass, c)
				}
				if e := distance(problem.written().numbers(first), problem.compute(pass)); !(e <= as.tolerance) {
					t.Errorf("%v of %v: relative error %.2g, at most %.2g", pass, c, e, as.tolerance)
				}
			}
		}
	}
}

// descriptionVariable names a file that gets the description of the card, for tests on other hosts.
const descriptionVariable = "NMN_DESCRIPTION"

func TestCard_DescribesItself(t *testing.T) {
	h := card(t)
	text, err := h.Description()
	if err != nil {
		t.Fatal(err)
	}
	if path := os.Getenv(descriptionVariable); path != "" {
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	d, err := Describe(text)
	if err != nil {
		t.Fatalf("%v of %s", err, text)
	}
	defer d.Close()
	if _, err := d.Plans(Forward, Conv{N: 2, H: 14, W: 14, C: 64, K: 64, R: 3, S: 3, Pad: 1}, 1); err != nil {
		t.Error(err)
	}
}

// distance is the norm of the difference divided by the norm of want.
func distance(got, want []float64) float64 {
	var difference, norm float64
	for i := range want {
		difference += (got[i] - want[i]) * (got[i] - want[i])
		norm += want[i] * want[i]
	}
	return math.Sqrt(difference / norm)
}
