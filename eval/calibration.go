package eval

import (
	"math"
)

// calibrationBins is the number of equal bins of the calibration error; bin m of 1 to 15 is
// ((m-1)/15, m/15], with 0 in the first.
const calibrationBins = 15

// bins accumulates pairs of what was predicted and what was observed.
type bins struct {
	n         [calibrationBins]int
	observed  [calibrationBins]int
	predicted [calibrationBins]float64
}

func (b *bins) merge(o *bins) {
	for m := range b.n {
		b.n[m] += o.n[m]
		b.observed[m] += o.observed[m]
		b.predicted[m] += o.predicted[m]
	}
}

// error is sum |B|/n |mean observed - mean predicted|.
func (b *bins) error() Number {
	total, gap := 0, 0.0
	for m, n := range b.n {
		total += n
		gap += math.Abs(float64(b.observed[m]) - b.predicted[m])
	}
	if total == 0 {
		return Undefined()
	}
	return Number(gap / float64(total))
}

func binOf(p float64) int {
	return min(max(int(math.Ceil(p*calibrationBins))-1, 0), calibrationBins-1)
}

// calibration gathers the squared error (the Brier score is the mean of (p - z)^2) and two kinds of bins:
// probability, of p(y=1) against the label; confidence, of max(p, 1-p) against whether the prediction at 1/2 is right.
// The expected calibration error of bins is
//
//	ECE = sum_m |B_m|/n |mean z - mean p|  over the bins of p
//
// Both are undefined without labels.
type calibration struct {
	n                       int
	squares                 float64
	probability, confidence bins
}

func (t *calibration) add(p []float64, labels []uint8) {
	t.n += len(p)
	for i, v := range p {
		z := int(labels[i])
		d := v - float64(z)
		t.squares += d * d
		m := binOf(v)
		t.probability.n[m]++
		t.probability.observed[m] += z
		t.probability.predicted[m] += v
		confidence, right := v, z
		if v < .5 {
			confidence, right = 1-v, 1-z
		}
		m = binOf(confidence)
		t.confidence.n[m]++
		t.confidence.observed[m] += right
		t.confidence.predicted[m] += confidence
	}
}

func (t *calibration) merge(o *calibration) {
	t.n += o.n
	t.squares += o.squares
	t.probability.merge(&o.probability)
	t.confidence.merge(&o.confidence)
}

func (t *calibration) brier() Number {
	if t.n == 0 {
		return Undefined()
	}
	return Number(t.squares / float64(t.n))
}
