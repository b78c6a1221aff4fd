package eval

import (
	"fmt"

	"nmn/format/table"
)

// AveragePrecision ranks the rows by descending score and returns two forms of average precision;
// both are undefined when no label is 1.
//
// merged: sum over distinct scores of (R_k - R_(k-1)) P_k, where equal scores form one threshold;
// this is scikit-learn's average_precision_score, and mAP is its mean.
// stable: mean over the positives of the precision at their rank, equal scores in the order of the
// rows.
func AveragePrecision(scores []float32, labels []uint8) (merged, stable Number, err error) {
	if err := checkRanked("average precision", scores, labels, false); err != nil {
		return 0, 0, err
	}
	merged, stable = averagePrecision(new(ranker).rank(scores), labels)
	return merged, stable, nil
}

func averagePrecision(order ranking, labels []uint8) (merged, stable Number) {
	positives, counted := 0, 0 // up to this rank; up to the end of the last group of equal scores
	sumMerged, sumStable := 0.0, 0.0
	for i := range order {
		if labels[order.row(i)] != 0 {
			positives++
			sumStable += float64(positives) / float64(i+1)
		}
		if i+1 == len(order) || !order.tied(i, i+1) {
			sumMerged += float64(positives-counted) * float64(positives) / float64(i+1)
			counted = positives
		}
	}
	if positives == 0 {
		return Undefined(), Undefined()
	}
	n := float64(positives)
	return Number(sumMerged / n), Number(sumStable / n)
}

// PrecisionAt ranks the rows by descending score, ties in their order. It returns the share of labels of 1 among the
// first k, for each k, and the merged average precision of the same order. The share is undefined if there are fewer
// rows, or k is 0.
func PrecisionAt(scores []float32, labels []uint8, at []int) (ap Number, out map[int]Number, err error) {
	if err := checkRanked("precision at k", scores, labels, false); err != nil {
		return 0, nil, err
	}
	order := new(ranker).rank(scores)
	out = make(map[int]Number, len(at))
	for _, k := range at {
		out[k] = Undefined()
	}
	hits := 0
	for i := range order {
		hits += int(labels[order.row(i)])
		if _, asked := out[i+1]; asked {
			out[i+1] = Number(float64(hits) / float64(i+1))
		}
	}
	ap, _ = averagePrecision(order, labels)
	return ap, out, nil
}

// checkRanked refuses scores without an order, and labels that do not fit them. With gaps, labels may be unknown.
func checkRanked(what string, scores []float32, labels []uint8, gaps bool) error {
	if len(scores) != len(labels) {
		return fmt.Errorf("%s: %d scores, %d labels: %w", what, len(scores), len(labels), ErrShape)
	}
	for i, s := range scores {
		if s != s {
			return fmt.Errorf("%s: score of row %d is NaN: %w", what, i+1, ErrValue)
		}
		if labels[i] > 1 && !(gaps && labels[i] == table.Unknown) {
			return fmt.Errorf("%s: label of row %d is %d, want 0 or 1: %w", what, i+1, labels[i], ErrValue)
		}
	}
	return nil
}
