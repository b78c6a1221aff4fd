package model

import (
	"fmt"
	"math"
)

// NoiseRates turns a confidence map O, 2×2×K (one bag of Plan.Confidence, on the host), into
// q01 = p(z=0|y=1) and q10 = p(z=1|y=0) for each class: the softmax over the observed label. q01 and
// q10 have K elements and are overwritten.
func NoiseRates(q01, q10, confidence []float32) {
	k := len(q01)
	at := func(observed, true, class int) float64 { return float64(confidence[(observed*2+true)*k+class]) }
	for c := range k {
		q01[c] = float32(sigmoid(at(0, 1, c) - at(1, 1, c)))
		q10[c] = float32(sigmoid(at(1, 0, c) - at(0, 0, c)))
	}
}

// HasRates reports whether the net has a noise model with a pair of rates for each class.
func (n *Net) HasRates() bool { return n.noise.b != nil && !n.config.Exclusive }

// Transition returns the transition matrix of classes that exclude each other, K×K with the row of the true
// class; nil if the net has none.
func (n *Net) Transition() ([]float32, error) {
	if !n.config.Exclusive || n.noise.b == nil {
		return nil, nil
	}
	values := Host(n.noise.b.W.Len())
	if err := n.backend.Download(values, n.noise.b.W); err != nil {
		return nil, fmt.Errorf("model: cannot read %s: %w", n.noise.b.Name, err)
	}
	return values.Float32s(), nil
}

func sigmoid(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}
