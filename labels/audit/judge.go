package audit

import (
	"fmt"
	"math"
	"slices"

	"nmn/eval"
	"nmn/labels/rates"
)

// Judgement compares rankings of all labels with the truth.
type Judgement struct {
	Wrong     int     `json:"wrong"` // labels that differ from the truth
	Posterior Ranking `json:"posterior"`
	// Difference ranks by |z - p| of the uncalibrated scores. Self-confidence and normalised margin give
	// the same order.
	Difference Ranking `json:"difference"`
	// Confident is what confident learning flags, class by class, with the posterior's precision at as
	// many labels beside it.
	Confident Flagged `json:"confident"`
}

// Flagged is a set of labels without an order.
type Flagged struct {
	Labels    int         `json:"labels"`
	Precision eval.Number `json:"precision"`
	Recall    eval.Number `json:"recall"`
	// PosteriorPrecision is that of as many labels by posterior.
	PosteriorPrecision eval.Number `json:"posterior_precision"`
}

// Judge compares an audit with the true labels of in. Its memory is that of the labels that are wrong and of some
// columns, not that of all cells.
func Judge(in Input, at []int) (*Judgement, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	if in.Truth == nil {
		return nil, fmt.Errorf("audit: no true labels to judge by: %w", eval.ErrShape)
	}
	j := &Judgement{}
	for i, z := range in.Labels {
		j.Wrong += int(z ^ in.Truth[i])
	}
	flagged, hits := in.confident()
	j.Confident = Flagged{Labels: flagged, Precision: share(hits, flagged), Recall: share(hits, j.Wrong)}
	o := order{bags: in.Bags, classes: in.Classes, labels: in.Labels, scores: in.posteriorScores(),
		wrong: func(cell int) bool { return in.Labels[cell] != in.Truth[cell] }}
	j.Posterior = o.ranking(append(at[:len(at):len(at)], flagged))
	j.Confident.PosteriorPrecision = j.Posterior.PrecisionAt[flagged]
	if !slices.Contains(at, flagged) {
		delete(j.Posterior.PrecisionAt, flagged)
	}
	o.scores = in.differences
	j.Difference = o.ranking(at)
	return j, nil
}

// differences order the cells of a row as |z - p| does.
func (in *Input) differences(bag int, row []float32) {
	first := bag * len(row)
	labels := in.Labels[first:][:len(row)]
	for c, o := range in.Logits[first:][:len(row)] {
		if row[c] = o; labels[c] == 1 {
			row[c] = -o
		}
	}
}

// posteriorScores gives the margins of the cells of a row; those of classes that are not audited come last.
func (in *Input) posteriorScores() func(bag int, row []float32) {
	margin := in.margins()
	return func(bag int, row []float32) {
		for c := range row {
			if row[c] = -math.MaxFloat32; in.audited(c) {
				row[c] = float32(margin(bag, c))
			}
		}
	}
}

// confident is how many labels confident learning flags, and how many of them are wrong.
func (in *Input) confident() (flagged, hits int) {
	const together = 16 // neighbouring classes, whose scores lie in one line of the cache
	found, wrong := make([]int, in.Classes), make([]int, in.Classes)
	inBlocks(in.Classes, together, func(_, lo, hi int) {
		p, z := make([]float32, (hi-lo)*in.Bags), make([]uint8, (hi-lo)*in.Bags)
		for i := range in.Bags {
			for c := lo; c < hi; c++ {
				at, cell := (c-lo)*in.Bags+i, i*in.Classes+c
				p[at], z[at] = float32(rates.Sigmoid(float64(in.Logits[cell]))), in.Labels[cell]
			}
		}
		for c := lo; c < hi; c++ {
			at := (c - lo) * in.Bags
			for _, i := range confident(p[at:at+in.Bags], z[at:at+in.Bags]) {
				found[c]++
				if cell := i*in.Classes + c; in.Labels[cell] != in.Truth[cell] {
					wrong[c]++
				}
			}
		}
	})
	for c := range found {
		flagged, hits = flagged+found[c], hits+wrong[c]
	}
	return flagged, hits
}

func share(part, whole int) eval.Number {
	if whole == 0 {
		return eval.Undefined()
	}
	return eval.Number(float64(part) / float64(whole))
}
