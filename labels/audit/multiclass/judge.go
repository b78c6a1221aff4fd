package multiclass

import (
	"math"
	"slices"

	"nmn/eval"
	"nmn/format/table"
	"nmn/labels/audit"
)

// Judgement compares orders of the labels with the truth.
type Judgement struct {
	Wrong     int           `json:"wrong"` // labels that differ from the truth
	Posterior Ranking       `json:"posterior"`
	Self      Ranking       `json:"self_confidence"`
	Margin    Ranking       `json:"normalized_margin"`
	Confident audit.Flagged `json:"confident"`
	// Suggested is the share of right suggestions among the suspects with a wrong label. Suspects without a
	// suggested class do not count.
	Suggested eval.Number `json:"suggested_right"`
}

// Ranking measures how well an order finds the wrong labels.
type Ranking struct {
	AP          eval.Number         `json:"ap"`
	PrecisionAt map[int]eval.Number `json:"precision_at"`
}

var judgedAt = []int{10, 100, 1000}

func (r *Report) judge() (*Judgement, error) {
	j, wrong := &Judgement{}, make([]uint8, r.Rows)
	for i, z := range r.Labels {
		if z != r.Truth[i] && z != table.UnknownClass {
			wrong[i] = 1
			j.Wrong++
		}
	}
	flags := len(r.Confident.Flagged)
	for _, o := range []struct {
		to    *Ranking
		score func(i int) float64
	}{
		{&j.Posterior, func(i int) float64 { return r.Table.Scores[i].Wrong }},
		{&j.Self, func(i int) float64 { return -r.SelfConfidence(i) }},
		{&j.Margin, func(i int) float64 { return -r.NormalisedMargin(i) }},
	} {
		scores := make([]float32, r.Rows)
		for i := range scores {
			if scores[i] = -math.MaxFloat32; r.Labels[i] != table.UnknownClass { // the others come last
				scores[i] = float32(o.score(i))
			}
		}
		at := append(judgedAt[:len(judgedAt):len(judgedAt)], flags)
		var err error
		if o.to.AP, o.to.PrecisionAt, err = eval.PrecisionAt(scores, wrong, at); err != nil {
			return nil, err
		}
	}
	hits := 0
	for _, i := range r.Confident.Flagged {
		hits += int(wrong[i])
	}
	j.Confident = audit.Flagged{Labels: flags, Precision: eval.Share(hits, flags), Recall: eval.Share(hits, j.Wrong),
		PosteriorPrecision: j.Posterior.PrecisionAt[flags]}
	for _, ranking := range []*Ranking{&j.Posterior, &j.Self, &j.Margin} {
		if !slices.Contains(judgedAt, flags) {
			delete(ranking.PrecisionAt, flags)
		}
	}
	found, right := 0, 0
	for _, s := range r.Suspects {
		if wrong[s.Row] == 1 && s.Suggested != s.Given {
			if found++; s.Suggested == r.Truth[s.Row] {
				right++
			}
		}
	}
	j.Suggested = eval.Share(right, found)
	return j, nil
}
