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

// Ranking holds average precisions of finding the wrong labels: among all labels, among those that
// are there, among those that are not; and precision at the first k of all.
type Ranking struct {
	AP          eval.Number         `json:"ap"`
	IncorrectAP eval.Number         `json:"incorrect_ap"`
	MissingAP   eval.Number         `json:"missing_ap"`
	PrecisionAt map[int]eval.Number `json:"precision_at"`
}

// Flagged is a set of labels without an order.
type Flagged struct {
	Labels    int         `json:"labels"`
	Precision eval.Number `json:"precision"`
	Recall    eval.Number `json:"recall"`
	// PosteriorPrecision is that of as many labels by posterior.
	PosteriorPrecision eval.Number `json:"posterior_precision"`
}

// Judge compares an audit with the true labels of in. It takes about 30 bytes for each cell.
func Judge(in Input, at []int) (*Judgement, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	if in.Truth == nil {
		return nil, fmt.Errorf("audit: no true labels to judge by: %w", eval.ErrShape)
	}
	wrong := make([]uint8, len(in.Labels))
	j := &Judgement{}
	for i, z := range in.Labels {
		wrong[i] = z ^ in.Truth[i]
		j.Wrong += int(wrong[i])
	}
	flagged, err := in.confident()
	if err != nil {
		return nil, err
	}
	hits := 0
	for _, cell := range flagged {
		hits += int(wrong[cell])
	}
	j.Confident = Flagged{Labels: len(flagged), Precision: share(hits, len(flagged)), Recall: share(hits, j.Wrong)}
	difference := make([]float32, len(in.Labels))
	for i, o := range in.Logits {
		if difference[i] = o; in.Labels[i] == 1 {
			difference[i] = -o
		}
	}
	posterior := in.posteriorScores()
	if j.Posterior, err = ranked(posterior, in.Labels, wrong, append(at[:len(at):len(at)], len(flagged))); err != nil {
		return nil, err
	}
	j.Confident.PosteriorPrecision = j.Posterior.PrecisionAt[len(flagged)]
	if !slices.Contains(at, len(flagged)) {
		delete(j.Posterior.PrecisionAt, len(flagged))
	}
	j.Difference, err = ranked(difference, in.Labels, wrong, at)
	return j, err
}

// posteriorScores are the margins of all cells; those of classes that are not audited come last.
func (in *Input) posteriorScores() []float32 {
	out := make([]float32, len(in.Labels))
	margin := in.margins()
	for i := range out {
		if out[i] = -math.MaxFloat32; in.audited(i % in.Classes) {
			out[i] = float32(margin(i))
		}
	}
	return out
}

// confident are the cells that confident learning flags.
func (in *Input) confident() ([]int, error) {
	var cells []int
	p, z := make([]float32, in.Bags), make([]uint8, in.Bags)
	for c := range in.Classes {
		for i := range in.Bags {
			cell := i*in.Classes + c
			p[i], z[i] = float32(rates.Sigmoid(float64(in.Logits[cell]))), in.Labels[cell]
		}
		flagged, err := Confident(p, z)
		if err != nil {
			return nil, err
		}
		for _, i := range flagged {
			cells = append(cells, i*in.Classes+c)
		}
	}
	return cells, nil
}

// ranked measures a ranking by descending score.
func ranked(scores []float32, labels, wrong []uint8, at []int) (r Ranking, err error) {
	if r.AP, _, err = eval.AveragePrecision(scores, wrong); err != nil {
		return r, err
	}
	for z, ap := range []*eval.Number{&r.MissingAP, &r.IncorrectAP} {
		var s []float32
		var w []uint8
		for i, label := range labels {
			if int(label) == z {
				s, w = append(s, scores[i]), append(w, wrong[i])
			}
		}
		if *ap, _, err = eval.AveragePrecision(s, w); err != nil {
			return r, err
		}
	}
	r.PrecisionAt, err = eval.PrecisionAt(scores, wrong, at)
	return r, err
}

func share(part, whole int) eval.Number {
	if whole == 0 {
		return eval.Undefined()
	}
	return eval.Number(float64(part) / float64(whole))
}
