package misplaced

import (
	"cmp"
	"math"
	"slices"

	"nmn/eval"
)

// Result is what was found of captions.
type Result struct {
	// Own is, for each bag and caption, the probability that the caption belongs to its bag. Captions without
	// witnesses (no other captions of their bag and no scores) have 1-Foreign. If nothing could be judged,
	// all captions have 1-Foreign, with Foreign 0.
	Own [][]float64
	// Foreign estimates the share of captions that belong to other bags. Interval is where the true share probably lies.
	Foreign  float64
	Interval Interval
	// A, E and Frequency are, for each class, the rates at which an own caption mentions a word that holds and one that
	// does not, and how often captions mention the word at all.
	A, E, Frequency []float64
	// Gain is how much more likely the captions are if some may be foreign than if none is, in nats a caption.
	Gain float64
	// ByScores is set if bags have too few captions of their own to agree, so that the scores judge them.
	ByScores bool
	// Refusal explains why nothing may be dropped; empty if captions may be dropped. Otherwise Own is at best
	// a ranking.
	Refusal Refusal
	// Remarks are further notes for the reader, each a sentence without its full stop.
	Remarks []string

	finder *finder
	judged bool
}

// Interval is a range of 95 %; both ends are undefined if none was asked for or nothing was judged.
type Interval struct {
	Low  eval.Number `json:"low"`
	High eval.Number `json:"high"`
}

// Refusal is a reason not to drop captions, as a sentence without its full stop.
type Refusal string

// Kept reports for each bag and caption whether its probability to be the bag's own is at least the threshold. After a
// refusal all are kept, and those that have no witness always are.
func (r *Result) Kept(threshold float64) [][]bool {
	kept := make([][]bool, len(r.Own))
	for n, own := range r.Own {
		kept[n] = make([]bool, len(own))
		for c, p := range own {
			kept[n][c] = r.Refusal != "" || p >= threshold || r.alone(n)
		}
	}
	return kept
}

// Precision returns the largest threshold below which captions are foreign with at least this mean
// probability, and the number of captions below it. Pass the threshold to Kept. It is 0 if none can be
// dropped.
func (r *Result) Precision(precision float64) (threshold float64, dropped int) {
	if r.Refusal != "" {
		return 0, 0
	}
	var all []float64
	for n, own := range r.Own {
		if !r.alone(n) {
			all = append(all, own...)
		}
	}
	slices.Sort(all)
	sum := 0.0
	for i, p := range all {
		sum += 1 - p
		if sum < precision*float64(i+1)-1e-9 {
			break
		}
		if i+1 < len(all) && all[i+1] > p { // equal ones are dropped together, and never all
			threshold, dropped = all[i+1], i+1
		}
	}
	return threshold, dropped
}

// Reason is a word of a caption that speaks against its bag, or for it.
type Reason struct {
	Class int
	// Mentioned is set if the caption mentions the word; otherwise other captions of the bag mention it and
	// this one does not.
	Mentioned bool
	// Weight is the word's part in the evidence that the caption belongs to its bag, in nats: negative if it
	// speaks against.
	Weight float64
}

// Reasons returns the strongest evidence against a caption: its words, and words of other captions of its bag
// that it leaves out. It returns at most n, the strongest first.
func (r *Result) Reasons(bag, caption, n int) []Reason {
	f := r.finder
	if !r.judged {
		return nil
	}
	captions, scores := f.in.Captions[bag], f.scoresOf(bag)
	var reasons []Reason
	for class, s := range f.chances(captions, scores, r.Own[bag], caption) {
		reason := Reason{Class: int(class), Weight: math.Log((1 - s) / (1 - f.words.pi[class]))}
		if slices.Contains(captions[caption], class) {
			reason.Mentioned, reason.Weight = true, math.Log(s/f.words.pi[class])
		}
		if reason.Weight < 0 {
			reasons = append(reasons, reason)
		}
	}
	slices.SortFunc(reasons, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(a.Weight, b.Weight), cmp.Compare(a.Class, b.Class))
	})
	return reasons[:min(n, len(reasons))]
}

// chances returns the probabilities that an own caption mentions the words of its bag, from the other
// captions and the scores.
func (f *finder) chances(captions [][]int32, scores []float32, votes []float64, caption int) map[int32]float64 {
	w, logits := f.words, map[int32]float64{}
	others := 0.0
	for c, words := range captions {
		if c != caption {
			others += votes[c]
		}
		for _, class := range words {
			logits[class] = 0
		}
	}
	for class := range logits {
		logits[class] = logit(w.p[class]) + others*w.absent[class]
		if scores != nil {
			logits[class] = w.alpha[class]*float64(scores[class]) + w.beta[class] + others*w.absent[class]
		}
	}
	for c, words := range captions {
		for _, class := range words {
			if c != caption {
				logits[class] += votes[c] * (w.present[class] - w.absent[class])
			}
		}
	}
	for class, l := range logits {
		logits[class] = w.said(int(class), l)
	}
	return logits
}
