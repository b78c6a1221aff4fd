package audit

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"nmn/eval"
	"nmn/format/table"
	"nmn/internal/parallel"
	"nmn/labels"
	"nmn/labels/rates"
)

// Judgement compares rankings of all labels with the truth.
type Judgement struct {
	Wrong     int     `json:"wrong"` // labels that differ from the truth
	Posterior Ranking `json:"posterior"`
	// Difference ranks by |z - p| of the uncalibrated scores. Self-confidence and normalised margin give
	// the same order.
	Difference Ranking `json:"difference"`
	// Confident is the set that confident learning flags, class by class. It includes the precision of the
	// same number of labels by posterior.
	Confident Flagged `json:"confident"`
}

// Flagged is a set of labels without an order.
type Flagged struct {
	Labels    int         `json:"labels"`
	Precision eval.Number `json:"precision"`
	Recall    eval.Number `json:"recall"`
	// PosteriorPrecision is the precision of the same number of labels by posterior.
	PosteriorPrecision eval.Number `json:"posterior_precision"`
}

// Judge compares an audit with the true labels of in.
func Judge(in Input, at []int) (*Judgement, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	if in.Truth == nil {
		return nil, fmt.Errorf("audit: no true labels to judge by: %w", eval.ErrShape)
	}
	j := &Judgement{}
	for cell := range in.Labels {
		if in.wrong(cell) {
			j.Wrong++
		}
	}
	flagged, hits := in.confident()
	j.Confident = Flagged{Labels: flagged, Precision: eval.Share(hits, flagged), Recall: eval.Share(hits, j.Wrong)}
	var err error
	if j.Posterior, err = in.ranking(in.posteriorScore(), append(slices.Clone(at), flagged)); err != nil {
		return nil, err
	}
	j.Confident.PosteriorPrecision = j.Posterior.PrecisionAt[flagged]
	if !slices.Contains(at, flagged) {
		delete(j.Posterior.PrecisionAt, flagged)
	}
	j.Difference, err = in.ranking(in.difference, at)
	return j, err
}

// wrong reports whether a label differs from the truth; one that is unknown does not.
func (in *Input) wrong(cell int) bool {
	z := in.Labels[cell]
	return z != in.Truth[cell] && z != table.Unknown
}

// difference orders cells as |z - p| does.
func (in *Input) difference(cell int) float32 {
	if in.Labels[cell] == 1 {
		return -in.Logits[cell]
	}
	return in.Logits[cell]
}

// posteriorScore returns a function for the margin of a cell. Classes that are not audited come last.
func (in *Input) posteriorScore() func(cell int) float32 {
	posteriors := in.posteriors()
	return func(cell int) float32 {
		c := cell % in.Classes
		if !in.audited(c) {
			return -math.MaxFloat32
		}
		return float32(posteriors[c].margin(in.Labels[cell], in.judged()[cell]))
	}
}

// confident is how many labels confident learning flags, and how many of them are wrong.
func (in *Input) confident() (flagged, hits int) {
	const together = 16 // neighbouring classes, whose scores lie in one line of the cache
	found, wrong := make([]int, in.Classes), make([]int, in.Classes)
	parallel.Blocks(in.Classes, together, func(lo, hi int) {
		p, z, cells := make([][]float32, hi-lo), make([][]uint8, hi-lo), make([][]int, hi-lo)
		for c := range p {
			p[c], z[c] = make([]float32, 0, in.Bags), make([]uint8, 0, in.Bags)
			cells[c] = make([]int, 0, in.Bags)
		}
		for i := range in.Bags {
			for c := range p {
				cell := i*in.Classes + lo + c
				if in.Labels[cell] == table.Unknown {
					continue
				}
				p[c] = append(p[c], float32(rates.Sigmoid(float64(in.Logits[cell]))))
				z[c], cells[c] = append(z[c], in.Labels[cell]), append(cells[c], cell)
			}
		}
		for c := range p {
			for _, i := range confident(p[c], z[c]) {
				found[lo+c]++
				if in.wrong(cells[c][i]) {
					wrong[lo+c]++
				}
			}
		}
	})
	for c := range found {
		flagged, hits = flagged+found[c], hits+wrong[c]
	}
	return flagged, hits
}

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
