package train

import (
	"cmp"
	"math"
	"slices"

	"nmn/loader"
)

// Decision is whether a word holds for a bag, taken at probability 1/2.
type Decision struct {
	Row, Class int
	Sureness   float64 // |log-odds|
}

// Mistake reports whether the decision is wrong. Hit reports whether it rightly predicts the label.
func Mistake(logOdds float32, answer uint8) bool {
	return answer != loader.UnknownLabel && (logOdds > 0) != (answer != 0)
}
func Hit(logOdds float32, answer uint8) bool { return logOdds > 0 && answer == 1 }

// Surest finds the most certain decisions of a kind, at most one for each row of N×classes log-odds. It
// returns at most limit decisions, and at most perClass of one class (0 for any number).
func Surest(logOdds []float32, answers []uint8, classes int, kind func(logOdds float32, answer uint8) bool, most,
	perClass int) []Decision {
	var found []Decision
	for row := range len(logOdds) / classes {
		d := Decision{Row: row}
		for c := range classes {
			at := row*classes + c
			if sure := math.Abs(float64(logOdds[at])); sure > d.Sureness && kind(logOdds[at], answers[at]) {
				d.Class, d.Sureness = c, sure
			}
		}
		if d.Sureness > 0 {
			found = append(found, d)
		}
	}
	slices.SortStableFunc(found, func(a, b Decision) int { return cmp.Compare(b.Sureness, a.Sureness) })
	if perClass > 0 {
		taken := make([]int, classes)
		found = slices.DeleteFunc(found, func(d Decision) bool {
			taken[d.Class]++
			return taken[d.Class] > perClass
		})
	}
	return found[:min(most, len(found))]
}
