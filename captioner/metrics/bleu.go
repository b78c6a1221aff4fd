package metrics

import "math"

// BLEUCount is what BLEU (Papineni et al., 2002) is computed from.
type BLEUCount struct {
	// Length is the length of all candidates, in words.
	Length int `json:"length"`
	// ReferenceLength sums, over the candidates, the length of the reference that is nearest in length.
	ReferenceLength int `json:"reference_length"`
	// Guess counts the n-grams of the candidates, for n from 1.
	Guess [maxOrder]int `json:"guess"`
	// Correct counts the n-grams that a reference has, each at most as often as one reference has it.
	Correct [maxOrder]int `json:"correct"`
}

// bleu scores every caption by its own counts and all by their sum.
func (r *Result) bleu(items []item) {
	for i, it := range items {
		c := bleuCount(it)
		r.Captions[i].BLEU = c.scores()
		r.Counts.add(c)
	}
	r.All.BLEU = r.Counts.scores()
}

func bleuCount(it item) BLEUCount {
	c := BLEUCount{Length: len(it.candidate), ReferenceLength: nearestLength(it)}
	most := map[ngram]int{}
	for _, reference := range it.references {
		for g, n := range countNgrams(reference) {
			most[g] = max(most[g], n)
		}
	}
	for order := range c.Guess {
		c.Guess[order] = max(0, c.Length-order)
	}
	for g, n := range countNgrams(it.candidate) {
		c.Correct[g.order()] += min(n, most[g])
	}
	return c
}

// nearestLength is the length of the reference that is nearest to the candidate's; of two as near, the
// shorter.
func nearestLength(it item) int {
	nearest := len(it.references[0])
	gap := func(n int) int { return max(n-len(it.candidate), len(it.candidate)-n) }
	for _, reference := range it.references[1:] {
		if n := len(reference); gap(n) < gap(nearest) || gap(n) == gap(nearest) && n < nearest {
			nearest = n
		}
	}
	return nearest
}

func (c *BLEUCount) add(d BLEUCount) {
	c.Length += d.Length
	c.ReferenceLength += d.ReferenceLength
	for order := range c.Guess {
		c.Guess[order] += d.Guess[order]
		c.Correct[order] += d.Correct[order]
	}
}

// scores returns geometric means of the precisions up to each order, times the brevity penalty. The small
// numbers come from the COCO evaluation. They keep an order without a hit from being 0.
func (c BLEUCount) scores() (s [maxOrder]float64) {
	const tiny, small = 1e-15, 1e-9
	product := 1.
	for order := range s {
		product *= (float64(c.Correct[order]) + tiny) / (float64(c.Guess[order]) + small)
		s[order] = math.Pow(product, 1/float64(order+1))
	}
	if ratio := (float64(c.Length) + tiny) / (float64(c.ReferenceLength) + small); ratio < 1 {
		for order := range s {
			s[order] *= math.Exp(1 - 1/ratio)
		}
	}
	return s
}
