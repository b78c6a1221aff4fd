package audit

import (
	"fmt"

	"nmn/eval"
)

// Rank compares an order of labels with the truth. Scores are larger if a label is more likely to be wrong,
// and may have any unit. The precision of the first n labels counts all of them. Errors wrap eval.ErrShape or
// eval.ErrValue.
func Rank(scores []float32, labels, truth []uint8, at []int) (Ranking, error) {
	if len(labels) != len(truth) || len(scores) != len(labels) {
		return Ranking{}, fmt.Errorf("audit: %d scores, %d labels, %d true labels: %w",
			len(scores), len(labels), len(truth), eval.ErrShape)
	}
	for i, s := range scores {
		if s != s {
			return Ranking{}, fmt.Errorf("audit: score %d is NaN: %w", i+1, eval.ErrValue)
		}
		if labels[i] > 1 || truth[i] > 1 {
			return Ranking{}, fmt.Errorf("audit: label %d is neither 0 nor 1: %w", i+1, eval.ErrValue)
		}
	}
	whole := order{bags: len(scores), classes: 1, labels: labels,
		wrong:  func(cell int) bool { return labels[cell] != truth[cell] },
		scores: func(cell int, out []float32) { out[0] = scores[cell] }}
	return whole.ranking(at), nil
}
