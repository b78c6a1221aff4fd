package metrics

import "strings"

// maxOrder is the length of the longest n-grams.
const maxOrder = 4

// ngram is its words, joined by blanks, which words do not have.
type ngram string

// ngrams calls f for every n-gram of 1 to maxOrder words, with n-1.
func ngrams(words []string, f func(order int, g ngram)) {
	joined := strings.Join(words, " ")
	ends := make([]int, len(words))
	at := 0
	for i, w := range words {
		at += len(w)
		ends[i] = at
		at++
	}
	for i := range words {
		start := ends[i] - len(words[i])
		for order := 0; order < maxOrder && i+order < len(words); order++ {
			f(order, ngram(joined[start:ends[i+order]]))
		}
	}
}

// countNgrams counts the n-grams of a caption, all orders in one map: as joined words they do not collide.
func countNgrams(words []string) map[ngram]int {
	counts := make(map[ngram]int, maxOrder*len(words))
	ngrams(words, func(_ int, g ngram) { counts[g]++ })
	return counts
}

// order is the number of words less one.
func (g ngram) order() int { return strings.Count(string(g), " ") }
