package eval

import "fmt"

// AveragePrecision ranks the rows by descending score and returns two forms of average precision;
// both are undefined when no label is 1.
//
// merged: sum over distinct scores of (R_k - R_(k-1)) P_k, where equal scores form one threshold;
// this is scikit-learn's average_precision_score, and mAP is its mean.
// stable: mean over the positives of the precision at their rank, equal scores in the order of the
// rows.
func AveragePrecision(scores []float32, labels []uint8) (merged, stable Number, err error) {
	if len(scores) != len(labels) {
		return 0, 0, fmt.Errorf("average precision: %d scores, %d labels: %w", len(scores), len(labels), ErrShape)
	}
	for i, s := range scores {
		if s != s {
			return 0, 0, fmt.Errorf("average precision: score of row %d is NaN: %w", i+1, ErrValue)
		}
		if labels[i] > 1 {
			return 0, 0, fmt.Errorf("average precision: label of row %d is %d, want 0 or 1: %w", i+1, labels[i], ErrValue)
		}
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
