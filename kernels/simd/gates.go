package simd

import "math"

// The operations of this file and of softmax.go give equal bits at every level: products are rounded before
// they are added. Their exponentials, and the results from them, have a relative error of about 2e-7.

// Gates is one step of an LSTM for a run of hidden units:
//
//	I = sigmoid(I), F = sigmoid(F), G = tanh(G), O = sigmoid(O)
//	C = F·Before + I·G
//	H = O·tanh(C)
type Gates struct{ I, F, G, O, Before, C, H []float32 }

// LSTMGates computes a step for n units.
func (l Level) LSTMGates(g *Gates, n int) {
	atLeast("lstm gates", n, g.I, g.F, g.G, g.O, g.Before, g.C, g.H)
	if k := table[l].lstmGates; k == nil {
		lstmGatesGeneric(g, n)
	} else if n > 0 {
		k(at(g.I), at(g.F), at(g.G), at(g.O), at(g.Before), at(g.C), at(g.H), n)
	}
}

// GatesGrad is the gradient of Gates. I to O are the activations on entry and the gradients of their inputs
// on return. DC is the gradient of C from the next step on entry, and the gradient of Before on return. DH +
// Carried is the gradient of H.
type GatesGrad struct{ I, F, G, O, Before, C, DH, DC, Carried []float32 }

// LSTMGatesGrad computes the gradient of a step for n units.
func (l Level) LSTMGatesGrad(g *GatesGrad, n int) {
	atLeast("gradient of lstm gates", n, g.I, g.F, g.G, g.O, g.Before, g.C, g.DH, g.DC, g.Carried)
	if k := table[l].lstmGatesGrad; k == nil {
		lstmGatesGradGeneric(g, n)
	} else if n > 0 {
		k(at(g.I), at(g.F), at(g.G), at(g.O), at(g.Before), at(g.C), at(g.DH), at(g.DC), at(g.Carried), n)
	}
}

func lstmGatesGeneric(g *Gates, n int) {
	for k := range n {
		i, f, t, o := sigmoid(g.I[k]), sigmoid(g.F[k]), tanh(g.G[k]), sigmoid(g.O[k])
		g.I[k], g.F[k], g.G[k], g.O[k] = i, f, t, o
		c := float32(f*g.Before[k]) + float32(i*t)
		g.C[k] = c
		g.H[k] = tanh(c) * o
	}
}

func lstmGatesGradGeneric(g *GatesGrad, n int) {
	for k := range n {
		i, f, t, o, total, th := g.I[k], g.F[k], g.G[k], g.O[k], g.DH[k]+g.Carried[k], tanh(g.C[k])
		dc := float32((total*o)*(1-float32(th*th))) + g.DC[k]
		g.O[k] = (total * th) * (o * (1 - o))
		g.I[k] = (dc * t) * (i * (1 - i))
		g.G[k] = (dc * i) * (1 - float32(t*t))
		g.F[k] = (dc * g.Before[k]) * (f * (1 - f))
		g.DC[k] = dc * f
	}
}

// The exponential in float32. Arguments are bounded, so that powers of two are normal numbers.
const (
	exponentLowest = -87
	roundingShift  = 3 << 22     // adding it rounds to an integer, left in the low bits
	ln2High        = 0.693359375 // few digits: products with small integers are exact
	ln2Low         = math.Ln2 - ln2High
)

// exponentParts computes exp(x) = scale·(1 + rest), |x| <= 87. scale is a power of two. rest is exp(r) - 1 of
// the remainder, |r| <= ln2/2, by its series up to r^7/7!.
func exponentParts(x float32) (scale, rest float32) {
	shifted := float32(x*math.Log2E) + roundingShift
	k := shifted - roundingShift
	scale = math.Float32frombits(math.Float32bits(shifted)<<23 + math.Float32bits(1))
	r := x - float32(k*ln2High)
	r -= float32(k * ln2Low)
	rest = float32(r * (1. / 5040))
	for _, coefficient := range [...]float32{1. / 720, 1. / 120, 1. / 24, 1. / 6, 1. / 2} {
		rest = (rest + coefficient) * r
	}
	return scale, float32(rest*r) + r
}

// exponential is exp(x) for x <= 0.
func exponential(x float32) float32 {
	if x < exponentLowest {
		x = exponentLowest
	}
	scale, rest := exponentParts(x)
	return float32(rest*scale) + scale
}

// sigmoid is 1/(1 + exp(-x)), corrected for the rounding of the sum, to 1.4 units of the last place.
func sigmoid(x float32) float32 {
	x = 0 - x
	if x < exponentLowest {
		x = exponentLowest
	}
	if x > -exponentLowest {
		x = -exponentLowest
	}
	scale, rest := exponentParts(x)
	part, most := float32(rest*scale), scale+1
	sum := most + part
	lost := part - (sum - most)
	y := 1 / sum
	return y - float32(y*float32(y*lost))
}

// tanh is -em/(2 + em) with the sign of x and em = exp(-2|x|) - 1, corrected for the rounding of both sums,
// to 1.4 units of the last place.
func tanh(x float32) float32 {
	const sign = 1 << 31
	bits := math.Float32bits(x)
	y := math.Float32frombits(bits | sign)
	y += y
	if y < exponentLowest {
		y = exponentLowest
	}
	scale, rest := exponentParts(y)
	part, most := float32(rest*scale), scale-1
	em := part + most
	low := part - (em - most)
	sum := em + 2
	lost := (em - (sum - 2)) + low
	t := em / sum
	t += float32((low - float32(t*lost)) * float32((1-t)*.5)) // (1 - t)/2 is 1/(2 + em)
	return math.Float32frombits(math.Float32bits(t) ^ sign | bits&sign)
}
