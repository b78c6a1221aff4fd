package eval

import "cmp"

// Evaluate computes every measure of this package for one model: per word, per part-of-speech group
// and over all words, against caption counts, labels and true labels, whichever the input has. It
// does not change or keep the input. Errors wrap ErrShape or ErrValue and name row and column.
func Evaluate(in Input, o Options) (*Result, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	o = o.resolved(in.Classes)
	if in.Labels == nil && in.Counts != nil {
		in.Labels = mentioned(in.Counts)
	}
	g := newGroups(in.Classes, in.Vocabulary)
	r := &Result{
		Bags: in.Bags, Classes: in.Classes, CaptionsPerSample: in.CaptionsPerSample, TopK: o.TopK,
		GroupSize: eachGroup(g, func(classes []int) int { return len(classes) }),
		Words:     namedWords(&in),
	}
	if !in.Logits {
		r.OutsideRange = outsideRange(in.Scores)
	}
	var perWord []WordMeasures
	r.Measures, perWord = measure(&in, in.Scores, g, o)
	for c := range r.Words {
		r.Words[c].WordMeasures = perWord[c]
	}
	if in.Observed != nil {
		own := o
		own.PlugIn = 0 // one that was found for p(y=1|I) is none of p(z=1|I)
		observed, perWord := measure(&in, in.Observed, g, own)
		r.Observed = &observed
		for c := range r.Words {
			r.Words[c].Observed = &perWord[c]
		}
	}
	if in.Rates != nil {
		r.Transition = newTransition(g, in.Rates, in.TrueRates)
	}
	return r, nil
}

func (o Options) resolved(classes int) Options {
	o.Threshold = cmp.Or(o.Threshold, defaultThreshold)
	o.TopK = min(cmp.Or(o.TopK, defaultTopK), classes)
	return o
}

// mentioned derives labels from captions: a word in any caption of a bag is a label of it.
func mentioned(counts []uint8) []uint8 {
	labels := make([]uint8, len(counts))
	for i, c := range counts {
		labels[i] = min(c, 1)
	}
	return labels
}

func outsideRange(scores []float32) int {
	n := 0
	for _, s := range scores {
		if s < 0 || s > 1 {
			n++
		}
	}
	return n
}

func namedWords(in *Input) []Word {
	words := make([]Word, in.Classes)
	for c := range words {
		words[c].Word = in.word(c)
		if in.Vocabulary != nil && in.Vocabulary.HasPOS() {
			words[c].POS = in.Vocabulary.Word(c).POS.String()
		}
		words[c].Q01, words[c].Q10 = rate(in.Rates, c)
		words[c].T01, words[c].T10 = rate(in.TrueRates, c)
	}
	return words
}

func measure(in *Input, scores []float32, g groups, o Options) (Measures, []WordMeasures) {
	m := Measures{Threshold: o.Threshold, PlugIn: o.PlugIn}
	if m.PlugIn == 0 {
		m.PlugIn = plugIn(scores, in.Logits)
	}
	t := tallies{in: in, scores: scores, threshold: m.Threshold, plugIn: m.PlugIn}
	t.columns()
	t.topK(o.TopK)
	words := make([]WordMeasures, in.Classes)
	if t.human != nil {
		m.Human = newHuman(g, t.human)
		for c := range words {
			words[c].Human = &t.human[c]
		}
	}
	multiLabel := func(tallies []tally, labels []uint8, set func(*WordMeasures, *WordLabels)) *MultiLabel {
		if tallies == nil {
			return nil
		}
		all := newMultiLabel(g, tallies)
		all.LogLoss = logLoss(scores, labels, in.Logits, in.Bags)
		all.oneClass(in, scores, labels)
		for c := range words {
			set(&words[c], tallies[c].word())
		}
		return all
	}
	m.Labels = multiLabel(t.labels, in.Labels, func(w *WordMeasures, l *WordLabels) { w.Labels = l })
	m.Truth = multiLabel(t.truth, in.Truth, func(w *WordMeasures, l *WordLabels) { w.Truth = l })
	return m, words
}
