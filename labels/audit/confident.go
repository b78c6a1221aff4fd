package audit

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"nmn/eval"
)

// SelfConfidence is p(y=z) of each label by the classifier alone: p where z = 1, 1 - p where z = 0.
// For a label of two values the normalised margin, (p_z - p_other + 1)/2, is the same number.
func SelfConfidence(probabilities []float32, labels []uint8) []float64 {
	out := make([]float64, len(probabilities))
	for i, p := range probabilities {
		if out[i] = float64(p); labels[i] == 0 {
			out[i] = 1 - float64(p)
		}
	}
	return out
}

// Quality is one score for each bag from the self-confidence of its labels, which a low one dominates:
// an exponential moving average with weight .8 on the newest, from the highest to the lowest.
func Quality(selfConfidence []float64, classes int) []float64 {
	const newest = .8
	out := make([]float64, len(selfConfidence)/classes)
	row := make([]float64, classes)
	for i := range out {
		copy(row, selfConfidence[i*classes:])
		slices.SortFunc(row, func(a, b float64) int { return cmp.Compare(b, a) })
		out[i] = row[0]
		for _, s := range row[1:] {
			out[i] = newest*s + (1-newest)*out[i]
		}
	}
	return out
}

// confidenceSlack forgives rounding in comparisons with a threshold.
const confidenceSlack = 1e-6

// Confident finds the labels of one class that confident learning holds to be wrong, the least
// self-confident first. A bag is confidently of the class, or confidently not, where the classifier is
// as sure as it is on average on bags with that label; the table of labels against confident guesses,
// scaled to the number of labels, is how many of each kind are wrong, and so many of the least
// self-confident are taken, less those where the classifier sides with the label.
func Confident(probabilities []float32, labels []uint8) ([]int, error) {
	if len(probabilities) != len(labels) {
		return nil, fmt.Errorf("confident learning: %d probabilities, %d labels: %w",
			len(probabilities), len(labels), eval.ErrShape)
	}
	return confident(probabilities, labels), nil
}

func confident(probabilities []float32, labels []uint8) []int {
	own := SelfConfidence(probabilities, labels)
	thresholds, sizes := labelMeans(own, labels)
	if sizes[0] == 0 || sizes[1] == 0 {
		return nil // all labels are equal: nothing to compare with
	}
	wrong := wrongByKind(probabilities, labels, thresholds, sizes)
	// Those that the classifier does not side with are the least self-confident of all: the others need no order.
	members := [2][]int{}
	for i, z := range labels {
		if own[i]+confidenceSlack < 1-own[i] {
			members[z] = append(members[z], i)
		}
	}
	bySelf := func(a, b int) int { return cmp.Compare(own[a], own[b]) }
	var flagged []int
	for z, all := range members {
		slices.SortStableFunc(all, bySelf)
		flagged = append(flagged, all[:min(wrong[z], len(all))]...)
	}
	slices.SortStableFunc(flagged, bySelf)
	return flagged
}

// labelMeans are the mean self-confidence of the labels 0 and 1, and their numbers.
func labelMeans(own []float64, labels []uint8) (means [2]float64, sizes [2]int) {
	for i, z := range labels {
		means[z] += own[i]
		sizes[z]++
	}
	for z := range means {
		means[z] /= max(float64(sizes[z]), 1)
	}
	return means, sizes
}

// wrongByKind is how many labels of either kind are wrong, from the scaled table.
func wrongByKind(probabilities []float32, labels []uint8, thresholds [2]float64, sizes [2]int) (wrong [2]int) {
	var table [2][2]float64 // label, confident guess
	for i, z := range labels {
		p := float64(probabilities[i])
		is0 := 1-p >= max(thresholds[0], 2*confidenceSlack)-confidenceSlack
		is1 := p >= max(thresholds[1], 2*confidenceSlack)-confidenceSlack
		switch {
		case is0 && is1:
			guess := 0
			if p > 1-p {
				guess = 1
			}
			table[z][guess]++
		case is0:
			table[z][0]++
		case is1:
			table[z][1]++
		}
	}
	for z := range wrong {
		table[z][z] = max(table[z][z], 1)
		share := table[z][1-z] / (table[z][0] + table[z][1])
		wrong[z] = int(math.RoundToEven(share * float64(sizes[z])))
	}
	return wrong
}
