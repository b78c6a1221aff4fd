package audit

import (
	"fmt"

	"nmn/eval"
)

// Rank compares an order of labels with the truth: scores are larger where a label is more likely
// to be wrong, and may be of any unit. Precision is that of the first so many of all.
func Rank(scores []float32, labels, truth []uint8, at []int) (Ranking, error) {
	if len(labels) != len(truth) || len(scores) != len(labels) {
		return Ranking{}, fmt.Errorf("audit: %d scores, %d labels, %d true labels: %w",
			len(scores), len(labels), len(truth), eval.ErrShape)
	}
	wrong := make([]uint8, len(labels))
	for i, z := range labels {
		wrong[i] = z ^ truth[i]
	}
	return ranked(scores, labels, wrong, at)
}
