package inject

import (
	"math"
	"slices"

	"nmn/loader"
)

// similarity compares bags by the words that their own captions mention.
type similarity struct {
	words  [][]int32 // of each bag, ascending and without repeats
	square []float64 // of the inverse document frequency of each word: log(bags with captions / bags with the word)
	norm   []float64 // of each bag's vector
}

func newSimilarity(s *loader.Set) *similarity {
	m := &similarity{words: make([][]int32, s.Len()), norm: make([]float64, s.Len()),
		square: make([]float64, s.Vocabulary.Len())}
	bags := 0.
	for bag, captions := range s.Captions {
		m.words[bag] = mentioned(captions)
		for _, w := range m.words[bag] {
			m.square[w]++
		}
		if len(captions) > 0 {
			bags++
		}
	}
	for w, n := range m.square {
		idf := math.Log(bags / max(n, 1))
		m.square[w] = idf * idf
	}
	for bag, words := range m.words {
		for _, w := range words {
			m.norm[bag] += m.square[w]
		}
		m.norm[bag] = math.Sqrt(m.norm[bag])
	}
	return m
}

// mentioned returns the words of captions, ascending and each once.
func mentioned(captions [][]int32) []int32 {
	words := slices.Concat(captions...)
	slices.Sort(words)
	return slices.Compact(words)
}

// of returns the cosine of two bags, 0 if one of them has no word that other bags lack.
func (m *similarity) of(a, b int) float64 {
	product := 0.
	x, y := m.words[a], m.words[b]
	for len(x) > 0 && len(y) > 0 {
		switch {
		case x[0] < y[0]:
			x = x[1:]
		case x[0] > y[0]:
			y = y[1:]
		default:
			product += m.square[x[0]]
			x, y = x[1:], y[1:]
		}
	}
	if product == 0 {
		return 0
	}
	return product / (m.norm[a] * m.norm[b])
}
