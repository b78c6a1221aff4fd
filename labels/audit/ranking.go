package audit

import (
	"fmt"
	"math"

	"nmn/eval"
	"nmn/format/table"
)

// Ranking holds average precisions of finding the wrong labels: among all labels, among those that
// are there, among those that are not; and precision at the first k of all.
type Ranking struct {
	AP          eval.Number         `json:"ap"`
	IncorrectAP eval.Number         `json:"incorrect_ap"`
	MissingAP   eval.Number         `json:"missing_ap"`
	PrecisionAt map[int]eval.Number `json:"precision_at"`
}

// Rank compares an order of labels with the truth. Scores are larger if a label is more likely to be wrong,
// and may have any unit. The precision of the first n labels counts all of them; equal scores are in their order.
// Errors wrap eval.ErrShape or eval.ErrValue.
func Rank(scores []float32, labels, truth []uint8, at []int) (r Ranking, err error) {
	if len(labels) != len(truth) || len(scores) != len(labels) || uint64(len(labels)) > math.MaxUint32 {
		return r, fmt.Errorf("audit: %d scores, %d labels, %d true labels: %w",
			len(scores), len(labels), len(truth), eval.ErrShape)
	}
	wrong := make([]uint8, len(labels))
	var kinds [2]struct { // the labels 0 and 1
		scores []float32
		wrong  []uint8
	}
	for i, z := range labels {
		if z > 1 || truth[i] > 1 {
			return r, fmt.Errorf("audit: label %d is neither 0 nor 1: %w", i+1, eval.ErrValue)
		}
		wrong[i] = z ^ truth[i]
		kinds[z].scores, kinds[z].wrong = append(kinds[z].scores, scores[i]), append(kinds[z].wrong, wrong[i])
	}
	if r.AP, r.PrecisionAt, err = eval.PrecisionAt(scores, wrong, at); err != nil {
		return r, fmt.Errorf("audit: %w", err)
	}
	for z, ap := range [2]*eval.Number{&r.MissingAP, &r.IncorrectAP} {
		if *ap, _, err = eval.AveragePrecision(kinds[z].scores, kinds[z].wrong); err != nil {
			return r, fmt.Errorf("audit: %w", err)
		}
	}
	return r, nil
}

// ranking ranks the known labels of an input by a score of each.
func (in *Input) ranking(score func(cell int) float32, at []int) (Ranking, error) {
	scores := make([]float32, 0, len(in.Labels))
	labels, truth := make([]uint8, 0, len(in.Labels)), make([]uint8, 0, len(in.Labels))
	for cell, z := range in.Labels {
		if z != table.Unknown {
			scores, labels, truth = append(scores, score(cell)), append(labels, z), append(truth, in.Truth[cell])
		}
	}
	return Rank(scores, labels, truth, at)
}
