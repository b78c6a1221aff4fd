package s2vt

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Beam searches for the caption with the best Score of each clip. clips are features as in Batch. Width hypotheses
// continue from step to step: the likeliest of all that add a word to a hypothesis of the step before. Width 1 takes
// the likeliest word at each step. A hypothesis that ends with EOS is done and keeps its place. The search of a clip
// ends when all are done, when no other can reach a better score, or at MaxLength, which cuts hypotheses off. Ties are
// resolved by the lower word, then by the rank of the hypothesis before. Equal scores are resolved by the one that was
// done first. Memory for clips·Width·V numbers is needed.
func (n *Net) Beam(clips [][]float32, o BeamOptions) (captions []Caption, err error) {
	d, err := n.startDecoding(clips, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	found, live := make([][]Caption, len(clips)), begin(len(clips))
	for length := 1; len(live) > 0; length++ {
		logProbs, err := d.next(live)
		if err != nil {
			return nil, err
		}
		if live, err = d.goOn(live, logProbs, found, o, length == o.MaxLength); err != nil {
			return nil, err
		}
	}
	for _, of := range found {
		captions = append(captions, slices.MaxFunc(of, func(a, b Caption) int { return cmp.Compare(a.Score, b.Score) }))
	}
	return captions, nil
}

// goOn adds a word to the hypotheses of each clip, and moves finished ones to found. last is set if no word
// can follow.
func (d *decoding) goOn(live []hypothesis, logProbs []float32, found [][]Caption, o BeamOptions,
	last bool) (still []hypothesis, err error) {
	for from, to := 0, 0; from < len(live); from = to {
		clip := live[from].clip
		for to < len(live) && live[to].clip == clip {
			to++
		}
		best := d.best(live, from, to, logProbs, o.Width-len(found[clip]))
		if len(best) == 0 {
			return nil, speechless(clip)
		}
		before := len(still)
		for _, h := range best {
			if h.word == EOS || last {
				found[clip] = append(found[clip], h.caption(o))
			} else {
				still = append(still, h)
			}
		}
		if decided(found[clip], still[before:], o) {
			still = still[:before]
		}
	}
	return still, nil
}

// decided reports whether no unfinished hypothesis can reach a better score than the finished ones. A further
// word makes none likelier, and MaxLength bounds the length that divides it.
func decided(found []Caption, going []hypothesis, o BeamOptions) bool {
	if len(found) == 0 {
		return false
	}
	best := math.Inf(-1)
	for _, c := range found {
		best = max(best, c.Score)
	}
	for _, h := range going {
		if h.logProb/math.Pow(float64(o.MaxLength), o.LengthPenalty) > best {
			return false
		}
	}
	return true
}

// begin is a hypothesis for each clip that has said nothing.
func begin(clips int) []hypothesis {
	live := make([]hypothesis, clips)
	for i := range live {
		live[i] = hypothesis{clip: i, parent: i, word: BOS}
	}
	return live
}

// candidate is a word that may be added to the hypothesis of a row.
type candidate struct {
	row     int
	word    int32
	logProb float64 // of the whole hypothesis
}

// before is the order of candidates.
func (a candidate) before(b candidate) bool {
	switch {
	case a.logProb != b.logProb:
		return a.logProb > b.logProb
	case a.word != b.word:
		return a.word < b.word
	}
	return a.row < b.row
}

// best are the count likeliest ways to go on with the hypotheses of rows from to to, the likeliest first.
func (d *decoding) best(live []hypothesis, from, to int, logProbs []float32, count int) []hypothesis {
	vocabulary := d.net.config.Vocabulary
	var top []candidate
	for row := from; row < to; row++ {
		for w, p := range logProbs[row*vocabulary:][:vocabulary] {
			c := candidate{row, int32(w), live[row].logProb + float64(p)}
			if d.never[w] || !(c.logProb > math.Inf(-1)) || len(top) == count && !c.before(top[count-1]) {
				continue
			}
			at := len(top)
			for at > 0 && c.before(top[at-1]) {
				at--
			}
			top = slices.Insert(top[:min(len(top), count-1)], at, c)
		}
	}
	all := make([]hypothesis, len(top))
	for i, c := range top {
		all[i] = live[c.row].say(c.word, float64(logProbs[c.row*vocabulary+int(c.word)]), c.row)
	}
	return all
}

// say adds a word to the hypothesis of a row.
func (h hypothesis) say(word int32, logProb float64, row int) hypothesis {
	return hypothesis{
		clip:    h.clip,
		parent:  row,
		word:    word,
		logProb: h.logProb + logProb,
		words:   append(slices.Clip(h.words), word),
	}
}

// caption is a hypothesis as a caption.
func (h hypothesis) caption(o BeamOptions) Caption {
	c := Caption{Words: h.words, LogProb: h.logProb, Ended: h.word == EOS}
	c.Score = c.LogProb / math.Pow(float64(len(h.words)), o.LengthPenalty)
	if c.Ended {
		c.Words = h.words[:len(h.words)-1]
	}
	return c
}

// speechless is the error of a net whose logits are no numbers.
func speechless(clip int) error {
	return fmt.Errorf("s2vt: no word has a probability for clip %d of the batch: a weight or a feature is not finite",
		clip)
}

// BeamOptions are the settings of the search for captions.
type BeamOptions struct {
	// Width is the number of hypotheses of each clip, from 1.
	Width int
	// MaxLength is the most words of a caption, EOS among them.
	MaxLength int
	// LengthPenalty a divides the log-probability of a hypothesis of L words (EOS among them) by L^a before
	// hypotheses are compared: 0 for none, which favours short captions; 1 for the mean over words.
	LengthPenalty float64
	// Never are words that are never generated, in addition to PAD and BOS: for example the unknown word.
	Never []int32
}

// Validate names the first option that is out of range, for a vocabulary.
func (o BeamOptions) Validate(vocabulary int) error {
	switch {
	case o.Width < 1 || o.Width > 1<<12:
		return fmt.Errorf("s2vt: beam width is %d, want 1 to %d", o.Width, 1<<12)
	case o.MaxLength < 1 || o.MaxLength > 1<<12:
		return fmt.Errorf("s2vt: the length of a caption is limited to %d words, want 1 to %d", o.MaxLength, 1<<12)
	case !(o.LengthPenalty >= 0 && o.LengthPenalty <= 10):
		return fmt.Errorf("s2vt: length penalty is %v, want 0 to 10", o.LengthPenalty)
	}
	for _, w := range o.Never {
		if w < 0 || int(w) >= vocabulary || w == EOS {
			return fmt.Errorf("s2vt: word %d cannot be forbidden: want 0 to %d, and not %d, which ends a caption",
				w, vocabulary-1, EOS)
		}
	}
	return nil
}

// Caption is a generated caption of a clip.
type Caption struct {
	Words   []int32 // without EOS
	LogProb float64 // of the words, and of EOS where it was said; natural logarithm
	Score   float64 // LogProb after length normalisation: what hypotheses are compared by
	Ended   bool    // EOS was said; else the caption was cut off
}
