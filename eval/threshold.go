package eval

import (
	"fmt"
	"math"

	"nmn/internal/parallel"
)

// PlugInThreshold finds the threshold that maximises the expected F1, from the model's own probabilities and no label:
//
//	theta* = argmax over theta of  2 sum_{p >= theta} p / (#{p >= theta} + sum p)
//
// where the last sum runs over all probabilities. A label is predicted if p >= theta*. The result is one of
// the given probabilities, or 1 when all are zero. If logits is set, the values are log-odds and p is their
// sigmoid. Otherwise values below 0 and above 1 count as 0 and 1.
//
// The maximum F of such a ratio is attained by the set p >= F/2, so that F <- ratio(F/2) rises to
// it in a few passes over the data (Dinkelbach's iteration) without sorting.
func PlugInThreshold(scores []float32, logits bool) (float64, error) {
	for i, s := range scores {
		if fault := scoreFault(s, logits); fault != "" {
			return 0, fmt.Errorf("plug-in threshold: score %d: %s: %w", i+1, fault, ErrValue)
		}
	}
	return plugIn(scores, logits), nil
}

// PlugInThresholds is PlugInThreshold of each class on its own, which maximises macro F1. A class has few
// probabilities, so its threshold is less certain than the threshold of all classes together.
func PlugInThresholds(scores []float32, bags, classes int, logits bool) ([]float64, error) {
	if err := checkSize("plug-in thresholds", len(scores), bags, classes); err != nil {
		return nil, err
	}
	out, column := make([]float64, classes), make([]float32, bags)
	for c := range out {
		for i := range column {
			column[i] = scores[i*classes+c]
		}
		var err error
		if out[c], err = PlugInThreshold(column, logits); err != nil {
			return nil, fmt.Errorf("class %d: %w", c+1, err)
		}
	}
	return out, nil
}

func plugIn(scores []float32, logits bool) float64 {
	all := tailAbove(scores, logits, 0)
	if all.sum == 0 {
		return 1
	}
	const firstGuess = 0.25 // the iteration rises from any start below F/2; this one saves passes
	best, start := expectedF1(all, all.sum), all
	if t := tailAbove(scores, logits, firstGuess); t.count > 0 && expectedF1(t, all.sum) > best {
		best, start = expectedF1(t, all.sum), t
	}
	for {
		t := tailAbove(scores, logits, best/2)
		if t.count == 0 { // rounding only: the largest p is at least F/2
			return start.least
		}
		f := expectedF1(t, all.sum)
		if !(f > best) {
			return t.least
		}
		best, start = f, t
	}
}

func expectedF1(t tail, sum float64) float64 { return 2 * t.sum / (float64(t.count) + sum) }

// tail summarises the probabilities from a threshold on.
type tail struct {
	count      int
	sum, least float64
}

// chunk is the number of scores summed at a time: sums are split the same way for any number of processors.
const chunk = 1 << 16

func tailAbove(scores []float32, logits bool, theta float64) tail {
	parts := make([]tail, (len(scores)+chunk-1)/chunk)
	parallel.Blocks(len(scores), chunk, func(from, to int) { parts[from/chunk] = tailOf(scores[from:to], logits, theta) })
	out := tail{least: math.Inf(1)}
	for _, p := range parts {
		out.count += p.count
		out.sum += p.sum
		out.least = min(out.least, p.least)
	}
	return out
}

func tailOf(scores []float32, logits bool, theta float64) tail {
	out := tail{least: math.Inf(1)}
	skip := surelyBelow(theta, logits)
	for _, s := range scores {
		if s < skip {
			continue
		}
		p := float64(s)
		if logits {
			p = sigmoid(p)
		}
		p = min(max(p, 0), 1)
		if p >= theta {
			out.count++
			out.sum += p
			out.least = min(out.least, p)
		}
	}
	return out
}

// surelyBelow is a score whose probability is below theta by a margin: most scores are dismissed by one comparison.
func surelyBelow(theta float64, logits bool) float32 {
	switch {
	case theta <= 0:
		return float32(math.Inf(-1))
	case logits:
		return float32(math.Log(theta/(1-theta)) - 1e-3)
	}
	return float32(theta - 1e-6)
}

// sigmoid is 1/(1+exp(-x)) without overflow.
func sigmoid(x float64) float64 {
	if x >= 0 {
		return 1 / (1 + math.Exp(-x))
	}
	e := math.Exp(x)
	return e / (1 + e)
}
