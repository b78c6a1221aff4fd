package recipe

import (
	"cmp"
	"context"
	"slices"

	"nmn/eval"
	"nmn/loader"
	"nmn/report"
)

// Bounds of what a report shows of captions.
const (
	worstShown   = 12
	reasonsShown = 5
	ratesShown   = 40
)

func (r *Recipe) foundCaptions(ctx context.Context, w *witnessed) *report.FoundCaptions {
	set := r.Data.Train
	kept := w.Kept(doubtBelow)
	out := &report.FoundCaptions{Foreign: eval.Number(w.Foreign), Low: eval.Number(w.Interval.Low),
		High: eval.Number(w.Interval.High), Refused: string(w.Refusal), Remarks: w.Remarks}
	for n, of := range set.CaptionsInUse {
		out.Captions += len(of)
		for c := range of {
			if !kept[n][c] {
				out.Doubted++
			}
		}
	}
	if foreign := replacedCaptions(set); foreign != nil {
		truth := report.FoundTruth(w.Judge(foreign, kept))
		out.Truth = &truth
	}
	r.addWorst(ctx, out, w)
	r.addRates(out, w)
	return out
}

// replacedCaptions returns the captions that were replaced, if noise was injected, and nil otherwise.
func replacedCaptions(set *loader.Set) [][]bool {
	foreign, any := make([][]bool, len(set.CaptionsInUse)), false
	for n, of := range set.CaptionsInUse {
		foreign[n] = make([]bool, len(of))
		for c, said := range of {
			foreign[n][c] = n < len(set.Captions) && c < len(set.Captions[n]) && !slices.Equal(said, set.Captions[n][c])
			any = any || foreign[n][c]
		}
	}
	if !any {
		return nil
	}
	return foreign
}

// addWorst adds the captions that are least probably of their bags, one of a bag.
func (r *Recipe) addWorst(ctx context.Context, out *report.FoundCaptions, w *witnessed) {
	if w.Refusal != "" {
		return
	}
	set := r.Data.Train
	type place struct{ bag, caption int }
	var worst []place
	for n, own := range w.Own {
		least := -1
		for c, p := range own {
			if p < doubtBelow && len(set.CaptionsInUse[n][c]) > 0 && (least < 0 || p < own[least]) {
				least = c
			}
		}
		if least >= 0 {
			worst = append(worst, place{n, least})
		}
	}
	slices.SortStableFunc(worst, func(a, b place) int {
		return cmp.Compare(w.Own[a.bag][a.caption], w.Own[b.bag][b.caption])
	})
	var t loader.Thumbnailer
	for _, at := range worst[:min(worstShown, len(worst))] {
		shown := report.WorstCaption{Bag: set.IDs[at.bag], Number: at.caption + 1, Own: w.Own[at.bag][at.caption]}
		for _, class := range set.CaptionsInUse[at.bag][at.caption] {
			shown.Words = append(shown.Words, set.Vocabulary.Word(int(class)).Text)
		}
		for _, reason := range w.Reasons(at.bag, at.caption, reasonsShown) {
			word := set.Vocabulary.Word(reason.Class).Text
			if reason.Mentioned {
				shown.Against = append(shown.Against, word)
			} else {
				shown.Lacks = append(shown.Lacks, word)
			}
		}
		if set.Preview() != nil {
			small, _ := t.Middle(ctx, set.Preview(), at.bag) // a page is worth having without
			shown.JPEG = small.JPEG
		}
		out.Worst = append(out.Worst, shown)
	}
}

// addRates adds how often the most frequent words are mentioned.
func (r *Recipe) addRates(out *report.FoundCaptions, w *witnessed) {
	if w.Refusal != "" {
		return
	}
	order := make([]int, len(w.Frequency))
	for c := range order {
		order[c] = c
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(w.Frequency[b], w.Frequency[a]) })
	for _, c := range order[:min(ratesShown, len(order))] {
		out.Rates = append(out.Rates, report.MentionRate{Word: r.Data.Train.Vocabulary.Word(c).Text,
			Frequency: eval.Number(w.Frequency[c]), Holds: eval.Number(w.A[c]), Else: eval.Number(w.E[c])})
	}
}
