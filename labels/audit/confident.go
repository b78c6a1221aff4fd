package audit

import (
	"cmp"
	"math"
	"slices"

	"nmn/labels"
)

// confident finds the labels of one class that confident learning considers wrong, the least self-confident
// first. A bag is confidently positive (or negative) if the classifier is at least as sure as it is on
// average on bags with that label. The table of labels against confident guesses, scaled to the number of
// labels, gives the number of wrong labels of each kind. That number of the least self-confident labels is
// taken, less those on which the classifier agrees with the label.
func confident(probabilities []float32, z []uint8) []int {
	joint := labels.CountConfident(z, 2, func(i int, p []float64) {
		p[1] = float64(probabilities[i])
		p[0] = 1 - p[1]
	})
	if joint.Sizes[0] == 0 || joint.Sizes[1] == 0 {
		return nil // all labels are equal: nothing to compare with
	}
	own := func(i int) float64 { // p(y=z) by the classifier alone
		if z[i] == 0 {
			return 1 - float64(probabilities[i])
		}
		return float64(probabilities[i])
	}
	// Those that the classifier does not side with are the least self-confident of all: the others need no order.
	members := [2][]int{}
	for i, z := range z {
		if p := own(i); p+labels.ConfidenceSlack < 1-p {
			members[z] = append(members[z], i)
		}
	}
	bySelf := func(a, b int) int { return cmp.Compare(own(a), own(b)) }
	var flagged []int
	for z, all := range members {
		of := joint.Counts[2*z : 2*z+2]
		share := float64(of[1-z]) / float64(of[0]+of[1])
		wrong := int(math.RoundToEven(share * float64(joint.Sizes[z])))
		slices.SortStableFunc(all, bySelf)
		flagged = append(flagged, all[:min(wrong, len(all))]...)
	}
	slices.SortStableFunc(flagged, bySelf)
	return flagged
}
