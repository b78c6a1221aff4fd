package runpage

import (
	"cmp"
	"context"
	"math"
	"slices"

	"nmn/eval"
	"nmn/internal/rng"
	"nmn/loader"
	"nmn/report"
	"nmn/train"
)

// Bounds on the number of bags on the page of a run, whose pictures take about 10 kB each.
const (
	Bags       = 8 // of each kind
	pageRepeat = 2 // bags that are shown for the same word
	pageLabels = 12
)

// Scores are what the page of a run shows of single scores; nil if the set has no labels to compare them with. If
// classes exclude each other, the most probable one is predicted, else each with p ≥ .5.
func Scores(ctx context.Context, s *train.Scores, set *loader.Set, split string, exclusive bool) (*report.Scored,
	error) {
	answers, truth := train.Answers(s, set)
	if answers == nil {
		return nil, nil
	}
	logits, k := s.Logits.Float32s(), set.Vocabulary.Len()
	signs := logits
	if exclusive {
		signs = mostProbable(logits, k)
	}
	out := &report.Scored{Against: "labels", Split: split, Exclusive: exclusive}
	if truth {
		out.Against = "true labels"
	}
	var err error
	if out.Curves, err = eval.PrecisionRecall(logits, answers, k, set.Vocabulary); err != nil {
		return nil, err
	}
	var t loader.Thumbnailer
	for _, side := range []struct {
		to   *[]report.ShownBag
		kind func(float32, uint8) bool
	}{{&out.Right, train.Hit}, {&out.Wrong, train.Mistake}} {
		for _, d := range train.Surest(signs, answers, k, side.kind, Bags, pageRepeat) {
			bag := s.Index[d.Row]
			row := d.Row * k
			shown := report.ShownBag{ID: set.IDs[bag], Labels: shownLabels(set, logits[row:row+k], signs[row:row+k],
				answers[row:row+k], d.Class)}
			if set.Preview() != nil {
				small, _ := t.Middle(ctx, set.Preview(), bag) // a page is worth having without
				shown.JPEG = small.JPEG
			}
			*side.to = append(*side.to, shown)
		}
	}
	for _, row := range drawBags(s, set) {
		at := row * k
		out.Drawn = append(out.Drawn, report.ShownBag{ID: set.IDs[s.Index[row]],
			Labels: shownLabels(set, logits[at:at+k], signs[at:at+k], answers[at:at+k], noClass)})
	}
	return out, ctx.Err()
}

// noClass is the value for a bag that is the surest of no class.
const noClass = -1

// mostProbable is positive for the most probable of k classes, more so if it is more probable. The others are the
// least below 0, so that none of them is surest.
func mostProbable(logits []float32, k int) []float32 {
	signs := make([]float32, len(logits))
	for row := 0; row < len(logits); row += k {
		best := row
		for at := row; at < row+k; at++ {
			signs[at] = -math.SmallestNonzeroFloat32
			if logits[at] > logits[best] {
				best = at
			}
		}
		signs[best] = max(logits[best]+float32(math.Log(float64(k))), math.SmallestNonzeroFloat32)
	}
	return signs
}

// shownLabels are the surest of what is predicted of a bag and of what it lacks: the word that it is shown for, if any,
// then those that are right, incorrect and missing. A class with a positive sign is predicted.
func shownLabels(set *loader.Set, logits, signs []float32, answers []uint8, surest int) []report.ShownLabel {
	var classes []int
	for c, sign := range signs {
		if (sign > 0 || answers[c] != 0) && answers[c] != loader.UnknownLabel {
			classes = append(classes, c)
		}
	}
	first := func(c int) float64 {
		if c == surest {
			return math.Inf(1)
		}
		return math.Abs(float64(logits[c]))
	}
	slices.SortStableFunc(classes, func(a, b int) int { return cmp.Compare(first(b), first(a)) })
	classes = classes[:min(pageLabels, len(classes))]
	kind := func(c int) report.LabelKind {
		switch {
		case answers[c] == 0:
			return report.IncorrectLabel
		case signs[c] <= 0:
			return report.MissingLabel
		}
		return report.HitLabel
	}
	order := []report.LabelKind{report.HitLabel, report.IncorrectLabel, report.MissingLabel}
	rest := classes
	if surest != noClass {
		rest = classes[1:]
	}
	slices.SortStableFunc(rest, func(a, b int) int {
		return slices.Index(order, kind(a)) - slices.Index(order, kind(b))
	})
	labels := make([]report.ShownLabel, 0, len(classes))
	for _, c := range classes {
		labels = append(labels, report.ShownLabel{Word: set.Vocabulary.Word(c).Text,
			P: 1 / (1 + math.Exp(-float64(logits[c]))), Kind: kind(c), Surest: c == surest})
	}
	return labels
}

// drawnBags is the number of bags whose words are kept for the page of an experiment.
const drawnBags = 64

// drawBags chooses rows of scores by chance, by the identifiers of their bags alone: all arms have the same.
func drawBags(s *train.Scores, set *loader.Set) []int {
	rows := make([]int, len(s.Index))
	lot := make([]uint64, len(rows))
	for row, bag := range s.Index {
		rows[row], lot[row] = row, rng.Derive(0, set.IDs[bag])
	}
	slices.SortFunc(rows, func(a, b int) int {
		return cmp.Or(cmp.Compare(lot[a], lot[b]), cmp.Compare(set.IDs[s.Index[a]], set.IDs[s.Index[b]]))
	})
	return rows[:min(drawnBags, len(rows))]
}
