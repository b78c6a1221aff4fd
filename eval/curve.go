package eval

import (
	"fmt"
	"math"

	"nmn/format/table"
	"nmn/text"
)

// CurvePoint is the recall and the precision of predicting every cell that reaches a score, as fractions.
type CurvePoint struct {
	Recall    float64 `json:"recall"`
	Precision float64 `json:"precision"`
}

// curveGap is the distance in recall or precision at which a point counts as separate.
const curveGap = 1. / 200

// curveKeys are the thresholds of a curve: scores that agree in sign, exponent and seven bits of the
// mantissa are one, which is finer than 1 % of a log-odds.
const curveKeys = 1 << 16

// cellCounts counts, per threshold, the cells and the cells that hold.
type cellCounts [curveKeys]struct{ cells, hold int }

// PrecisionRecall draws precision against recall at falling thresholds on N×classes scores, with the cells of
// each group of words pooled. A group without a word that holds has no curve. Scores may be log-odds. Answers
// that are table.Unknown are left out. If the vocabulary is nil, only the curve of all words is computed. It
// takes one pass and no sorting.
func PrecisionRecall(scores []float32, answers []uint8, classes int,
	v *text.Vocabulary) (ByGroup[[]CurvePoint], error) {
	if classes < 1 || len(scores)%classes != 0 || v != nil && v.Len() != classes {
		return ByGroup[[]CurvePoint]{}, fmt.Errorf("precision-recall curve: %d scores of %d classes: %w",
			len(scores), classes, ErrShape)
	}
	if err := checkRanked("precision-recall curve", scores, answers, true); err != nil {
		return ByGroup[[]CurvePoint]{}, err
	}
	return eachGroup(newGroups(classes, v), func(members []int) []CurvePoint {
		var counts cellCounts
		for row := 0; row < len(scores); row += classes {
			for _, c := range members {
				if answers[row+c] == table.Unknown {
					continue
				}
				at := &counts[DescendingKey(scores[row+c])>>16]
				at.cells++
				at.hold += int(answers[row+c])
			}
		}
		return counts.curve()
	}), nil
}

// curve goes from the highest threshold to the lowest.
func (n *cellCounts) curve() []CurvePoint {
	hold := 0
	for _, at := range n {
		hold += at.hold
	}
	if hold == 0 {
		return nil
	}
	var points []CurvePoint
	var last CurvePoint
	predicted, right := 0, 0
	for _, at := range n {
		if at.cells == 0 {
			continue
		}
		predicted += at.cells
		right += at.hold
		last = CurvePoint{float64(right) / float64(hold), float64(right) / float64(predicted)}
		if len(points) == 0 || apart(last, points[len(points)-1]) {
			points = append(points, last)
		}
	}
	if points[len(points)-1] != last {
		points = append(points, last)
	}
	return points
}

func apart(a, b CurvePoint) bool {
	return math.Abs(a.Recall-b.Recall) >= curveGap || math.Abs(a.Precision-b.Precision) >= curveGap
}
