package eval

import "fmt"

// Agreement holds the metrics of Fang et al. for one word: how well the ranking of the bags agrees with human captions,
// compared with how well the captions agree with each other. All are undefined for a word that no caption mentions.
type Agreement struct {
	AP                     Number `json:"ap"`
	Precision              Number `json:"human_precision"`
	Recall                 Number `json:"human_recall"`
	PrecisionAtHumanRecall Number `json:"precision_at_human_recall"`
	Mentions               int    `json:"mentions"` // sum of the counts: captions with the word
}

func checkCaptions(captionsPerSample int) error {
	if captionsPerSample < 2 || captionsPerSample > 255 {
		return fmt.Errorf("captions per sample: %d is outside 2 to 255; human agreement needs at least two captions of "+
			"a sample to compare: %w", captionsPerSample, ErrValue)
	}
	return nil
}

// agreement compares an order of the bags by descending score with counts: counts[n] of the captions of bag n mention
// the word. With K captions per bag, each bag with count c contributes (after Fang et al., CVPR 2015)
//
//	tp = c (1 - 1/K),    fp = 0 if c > 1, 1/K if c = 1, 1 if c = 0
//
// P = cum(tp) / (cum(tp) + cum(fp)), R = cum(tp) / sum(tp); AP is the area under the monotone
// envelope of P over R. A person as detector, each caption in turn compared with the other K-1:
//
//	human precision = sum c(c-1) / (sum c(c-1) + #{c = 1}),    human recall = sum c(c-1) / ((K-1) sum c)
//
// Precision at human recall is the raw P, not the envelope, at the first rank where R reaches human
// recall; that comparison is made in integers, for the two are often exactly equal.
//
// It works in units of 1/K, which make every sum of the definition an integer.
func agreement(order ranking, counts []uint8, captions int) Agreement {
	var tp, fp, pairs, singles, total int64
	for _, c := range counts {
		t, f := contribution(c, captions)
		tp, fp, total = tp+t, fp+f, total+int64(c)
		pairs += int64(c) * (int64(c) - 1)
		if c == 1 {
			singles++
		}
	}
	if total == 0 {
		return Agreement{AP: Undefined(), Precision: Undefined(), Recall: Undefined(), PrecisionAtHumanRecall: Undefined(),
			Mentions: 0}
	}
	return Agreement{
		AP:                     envelopeArea(order, counts, captions, tp, fp, total),
		Precision:              Number(float64(pairs) / float64(pairs+singles)),
		Recall:                 Number(float64(pairs) / float64(int64(captions-1)*total)),
		PrecisionAtHumanRecall: precisionAtRecall(order, counts, captions, pairs),
		Mentions:               int(total),
	}
}

// contribution of a bag with count c to true and false positives, times the captions per bag.
func contribution(c uint8, captions int) (tp, fp int64) {
	switch c {
	case 0:
		return 0, int64(captions)
	case 1:
		return int64(captions - 1), 1
	default:
		return int64(captions-1) * int64(c), 0
	}
}

// envelopeArea walks from the last rank to the first, so that the envelope is a running maximum.
// tp and fp are the sums over all ranks; recall rises by c/total at each.
func envelopeArea(order ranking, counts []uint8, captions int, tp, fp, total int64) Number {
	area, envelope := 0.0, 0.0
	for i := len(order) - 1; i >= 0; i-- {
		envelope = max(envelope, float64(tp)/float64(tp+fp))
		c := counts[order.row(i)]
		area += float64(c) * envelope
		t, f := contribution(c, captions)
		tp, fp = tp-t, fp-f
	}
	return Number(area / float64(total))
}

// precisionAtRecall returns the raw precision at the first rank where (K-1) cum(c) >= sum c(c-1),
// which is R >= human recall without a division.
func precisionAtRecall(order ranking, counts []uint8, captions int, pairs int64) Number {
	var tp, fp int64
	for i := range order {
		t, f := contribution(counts[order.row(i)], captions)
		tp, fp = tp+t, fp+f // tp = (K-1) cum(c)
		if tp >= pairs {
			break
		}
	}
	return Number(float64(tp) / float64(tp+fp))
}
