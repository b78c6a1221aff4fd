package eval

import (
	"fmt"
	"math"
)

// CalibrationBins is the number of equal bins of the calibration error; bin m of 1 to 15 is
// ((m-1)/15, m/15], with 0 in the first.
const CalibrationBins = 15

// Calibration returns the Brier score, mean (p - z)^2, and the expected calibration error
//
//	ECE = sum_m |B_m|/n |mean z - mean p|  over the bins of p = p(y=1)
//
// of one list of probabilities and labels; both are undefined when it is empty.
func Calibration(p []float64, labels []uint8) (brier, ece Number, err error) {
	if len(p) != len(labels) {
		return 0, 0, fmt.Errorf("calibration: %d probabilities, %d labels: %w", len(p), len(labels), ErrShape)
	}
	var t calibration
	for i := range p {
		if !(p[i] >= 0 && p[i] <= 1) || labels[i] > 1 {
			return 0, 0, fmt.Errorf("calibration: entry %d: probability %g, label %d: %w",
				i+1, p[i], labels[i], ErrValue)
		}
	}
	t.add(p, labels)
	return t.brier(), t.probability.error(), nil
}

// bins accumulates pairs of what was predicted and what was observed.
type bins struct {
	n         [CalibrationBins]int
	observed  [CalibrationBins]int
	predicted [CalibrationBins]float64
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
	return min(max(int(math.Ceil(p*CalibrationBins))-1, 0), CalibrationBins-1)
}

// calibration gathers the squared error and two kinds of bins: probability, of p(y=1) against the
// label; confidence, of max(p, 1-p) against whether the prediction at 1/2 is right.
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
