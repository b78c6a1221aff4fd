package eval

import (
	"bytes"
	"context"

	"nmn/format/table"
	"nmn/internal/parallel"
)

// tally is what one class needs for all its measures against one kind of label.
type tally struct {
	ap, stableAP        Number
	threshold, plugIn   confusion
	topK, topKThreshold confusion
	calibration         calibration
}

func (t *tally) word() *WordLabels {
	return &WordLabels{
		Positives: t.threshold.positives, AP: t.ap, StableAP: t.stableAP,
		Precision: Number(t.threshold.precision()), Recall: Number(t.threshold.recall()), F1: Number(t.threshold.f1()),
		Brier: t.calibration.brier(), ECE: t.calibration.probability.error(),
	}
}

type tallies struct {
	in                *Input
	scores            []float32
	threshold, plugIn float64

	human         []Agreement // nil without counts
	labels, truth []tally     // nil without such labels
}

// columnBlock is the number of classes that a worker takes at a time: 16 float32 are one cache
// line, so that gathering columns out of rows reads each line once.
const columnBlock = 16

// columns computes everything that looks at one class at a time. Each class is written by one
// goroutine alone, so results do not depend on their number.
func (t *tallies) columns() {
	k := t.in.Classes
	if t.in.Counts != nil {
		t.human = make([]Agreement, k)
	}
	if t.in.Labels != nil {
		t.labels = make([]tally, k)
	}
	if t.in.Truth != nil {
		t.truth = make([]tally, k)
	}
	_ = parallel.Run(context.Background(), (k+columnBlock-1)/columnBlock, 0, func() func(int) { // which is never done
		b := newBlock(t.in.Bags)
		return func(i int) {
			first := i * columnBlock
			b.evaluate(t, first, min(k, first+columnBlock))
		}
	})
}

// block is the working memory of one worker: columns gathered out of the rows, each of the length of
// the bags, and one column of probabilities.
type block struct {
	scores                []float32
	counts, labels, truth []uint8
	probability           []float64
	ranker                ranker
}

func newBlock(bags int) *block {
	marks := func() []uint8 { return make([]uint8, bags*columnBlock) }
	return &block{
		scores: make([]float32, bags*columnBlock),
		counts: marks(), labels: marks(), truth: marks(),
		probability: make([]float64, bags),
	}
}

func (b *block) evaluate(t *tallies, first, last int) {
	n, k := t.in.Bags, t.in.Classes
	gather(b.scores, t.scores, k, first, last)
	gather(b.counts, t.in.Counts, k, first, last)
	gather(b.labels, t.in.Labels, k, first, last)
	gather(b.truth, t.in.Truth, k, first, last)
	for c := first; c < last; c++ {
		lo, hi := (c-first)*n, (c-first+1)*n
		order := b.ranker.rank(b.scores[lo:hi])
		probabilities(b.probability, b.scores[lo:hi], t.in.Logits)
		if t.human != nil {
			t.human[c] = agreement(order, b.counts[lo:hi], t.in.CaptionsPerSample)
		}
		if t.truth != nil {
			t.truth[c].column(t, order, b.probability, b.truth[lo:hi])
		}
		if t.labels != nil { // last, for what is unknown leaves the column
			order, p, labels := b.known(order, lo, hi)
			t.labels[c].column(t, order, p, labels)
		}
	}
}

// known is a column of the working memory without the rows whose label is unknown, which leave it.
func (b *block) known(order ranking, lo, hi int) (ranking, []float64, []uint8) {
	scores, p, labels := b.scores[lo:hi], b.probability, b.labels[lo:hi]
	if bytes.IndexByte(labels, table.Unknown) < 0 {
		return order, p, labels
	}
	n := 0
	for i, z := range labels {
		if z != table.Unknown {
			scores[n], p[n], labels[n] = scores[i], p[i], z
			n++
		}
	}
	return b.ranker.rank(scores[:n]), p[:n], labels[:n]
}

// gather copies columns first to last-1 of a row-major matrix with k columns, each to its own
// stretch of to. An absent matrix is left alone.
func gather[T any](to, from []T, k, first, last int) {
	n := len(from) / k
	for i := range n {
		for j, v := range from[i*k+first : i*k+last] {
			to[j*n+i] = v
		}
	}
}

func probabilities(to []float64, scores []float32, logits bool) {
	for i, s := range scores {
		if logits {
			to[i] = sigmoid(float64(s))
		} else {
			to[i] = float64(s)
		}
	}
}

func (y *tally) column(t *tallies, order ranking, p []float64, labels []uint8) {
	y.ap, y.stableAP = averagePrecision(order, labels)
	y.calibration.add(p, labels)
	y.threshold = confusionAt(t.threshold, p, labels)
	y.plugIn = confusionAt(t.plugIn, p, labels)
	y.topK.positives, y.topKThreshold.positives = y.threshold.positives, y.threshold.positives
}

// confusionAt predicts a label where p >= threshold.
func confusionAt(threshold float64, p []float64, labels []uint8) confusion {
	var c confusion
	for i, v := range p {
		z := int(labels[i])
		c.positives += z
		if v >= threshold {
			c.predicted++
			c.hits += z
		}
	}
	return c
}

// topK predicts the k best classes of each bag and adds the outcome to the tallies. The rows are
// ranked in parallel, the counting is one pass in order.
func (t *tallies) topK(k int) {
	if t.labels == nil && t.truth == nil {
		return
	}
	n, classes := t.in.Bags, t.in.Classes
	best := make([]int32, n*k)
	parallel.Blocks(n, max(1, chunk/classes), func(from, to int) {
		for i := from; i < to; i++ {
			topClasses(t.scores[i*classes:(i+1)*classes], best[i*k:(i+1)*k])
		}
	})
	for at, c := range best {
		cell := at/k*classes + int(c)
		sure := t.probability(cell) >= t.threshold
		if t.labels != nil && t.in.Labels[cell] != table.Unknown {
			t.labels[c].chosen(t.in.Labels[cell], sure)
		}
		if t.truth != nil {
			t.truth[c].chosen(t.in.Truth[cell], sure)
		}
	}
}

func (t *tallies) probability(cell int) float64 {
	p := float64(t.scores[cell])
	if t.in.Logits {
		p = sigmoid(p)
	}
	return p
}

func (y *tally) chosen(label uint8, sure bool) {
	y.topK.predicted++
	y.topK.hits += int(label)
	if sure {
		y.topKThreshold.predicted++
		y.topKThreshold.hits += int(label)
	}
}
