package chart

import (
	"math"
	"strconv"
	"strings"
)

const (
	leastSpan   = 1e-300
	leastShare  = 1e-9 // of a span in its largest end: closer numbers would get the same labels
	wideNumber  = 1e6  // beyond which an axis around one number is wider than 2
	shareAround = .05
	mostTicks   = 6
)

// span widens a span that has collapsed; one without any number becomes 0 to 1.
func span(low, high float64) (float64, float64) {
	if !finite(low) || !finite(high) || low > high {
		return 0, 1
	}
	low, high = within(low), within(high)
	largest := max(math.Abs(low), math.Abs(high))
	if high-low >= leastSpan && high-low >= leastShare*largest {
		return low, high
	}
	around := 1.0
	if largest > wideNumber {
		around = shareAround * largest
	}
	return low - around, high + around
}

type tick struct {
	at    float64
	label string
}

func (a Axis) step() float64 {
	if a.Step > 0 {
		return a.Step
	}
	return roundStep((a.Max - a.Min) / mostTicks)
}

// ticks returns at most six round numbers, with the decimals needed to distinguish them.
func (a Axis) ticks() []tick {
	step := a.step()
	first := math.Ceil(a.Min/step - 1e-9)
	decimals := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
	var out []tick
	for i := 0.0; i < 4*mostTicks; i++ {
		at := (first + i) * step
		if !(at <= a.Max+step*1e-9) {
			break
		}
		out = append(out, tick{at, number(at, decimals, step)})
	}
	return out
}

// roundStep is the least of 1, 2 and 5 times a power of ten that is not smaller.
func roundStep(least float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(least)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= least*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// number is a label: with separated thousands, or as a power of ten if that would be long.
func number(v float64, decimals int, step float64) string {
	var s string
	switch {
	case math.Abs(v) < step/2:
		s = "0"
	case math.Abs(v) >= 1e6 || decimals > 6:
		digits := min(max(6, 2+int(math.Log10(math.Abs(v)/step))), 15)
		s = strconv.FormatFloat(v, 'g', digits, 64)
	default:
		s = strconv.FormatFloat(v, 'f', decimals, 64)
		if whole, rest, _ := strings.Cut(s, "."); len(strings.TrimPrefix(whole, "-")) > 4 {
			s = whole[:len(whole)-3] + "," + whole[len(whole)-3:]
			if rest != "" {
				s += "." + rest
			}
		}
	}
	return strings.Replace(s, "-", "\u2212", 1) // the sign, not a hyphen
}

// nice widens an axis to the ticks around it.
func (a Axis) nice() Axis {
	step := a.step()
	low, high := math.Floor(a.Min/step+1e-9)*step, math.Ceil(a.Max/step-1e-9)*step
	if finite(low) && finite(high) && low < high {
		a.Min, a.Max, a.Step = low, high, step
	}
	return a
}
