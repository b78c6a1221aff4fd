package metrics

import "math"

// documentFrequencies counts for every n-gram the items whose references have it.
func documentFrequencies(items []item) map[ngram]int {
	frequencies := map[ngram]int{}
	for _, it := range items {
		seen := map[ngram]bool{}
		for _, reference := range it.references {
			ngrams(reference, func(_ int, g ngram) {
				if !seen[g] {
					seen[g] = true
					frequencies[g]++
				}
			})
		}
	}
	return frequencies
}

// cider is CIDEr-D (Vedantam et al., 2015): the likeness of captions as vectors of n-grams, which weigh by
// how rare they are among the references of the set.
type cider struct {
	frequencies map[ngram]int
	logItems    float64
}

func newCIDEr(frequencies map[ngram]int, items int) *cider {
	return &cider{frequencies, math.Log(float64(items))}
}

// vector of a caption: a weight for each of its n-grams, in the order in which they first come, so that
// sums do not depend on the order of a map.
type vector struct {
	ngrams  []ngram
	weights map[ngram]float64
	norms   [maxOrder]float64
	// length is the number of bigrams, by which the COCO evaluation measures length.
	length int
}

func (c *cider) vector(words []string) vector {
	v := vector{weights: make(map[ngram]float64, maxOrder*len(words)), length: max(0, len(words)-1)}
	counts := countNgrams(words)
	ngrams(words, func(order int, g ngram) {
		if _, known := v.weights[g]; known {
			return
		}
		w := float64(counts[g]) * (c.logItems - math.Log(max(1, float64(c.frequencies[g]))))
		v.ngrams, v.weights[g] = append(v.ngrams, g), w
		v.norms[order] += w * w
	})
	for order := range v.norms {
		v.norms[order] = math.Sqrt(v.norms[order])
	}
	return v
}

// likeness of a candidate to a reference at each order: the cosine, with the weights of the candidate clipped
// to the weights of the reference.
func (v *vector) likeness(reference *vector) (cosine [maxOrder]float64) {
	for _, g := range v.ngrams {
		w := reference.weights[g]
		cosine[g.order()] += min(v.weights[g], w) * w
	}
	for order := range cosine {
		if norms := v.norms[order] * reference.norms[order]; norms != 0 {
			cosine[order] /= norms
		}
	}
	return cosine
}

// score is ten times the mean likeness over orders and references, each with a penalty for another length.
func (c *cider) score(it item) float64 {
	const sigma = 6
	candidate, sum := c.vector(it.candidate), 0.
	for _, words := range it.references {
		reference := c.vector(words)
		gap := float64(candidate.length - reference.length)
		penalty := math.Exp(-gap * gap / (2 * sigma * sigma))
		for _, cosine := range candidate.likeness(&reference) {
			sum += cosine * penalty
		}
	}
	return 10 * sum / maxOrder / float64(len(it.references))
}
