package captioner

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"nmn/text"
)

// Tokens splits a caption into the words that are learned: lower-case Penn Treebank tokens without
// punctuation. Brackets and runs such as "!!", which scores count as words, are left out too.
func Tokens(caption string) []string {
	return slices.DeleteFunc(text.Tokenizer{}.Append(nil, caption), text.IsPunctuation)
}

// WordOptions choose the words of the captions that get an id.
type WordOptions struct {
	Size     int `yaml:"size" help:"most frequent <words> of the vocabulary; 0 for all" range:"[0,]"`
	MinCount int `yaml:"min_count" help:"leave out words with fewer <occurrences> than this" range:"[0,]"`
}

// Counted is what BuildWords has counted.
type Counted struct {
	Captions int `json:"captions"`
	Tokens   int `json:"tokens"`
	Distinct int `json:"different_tokens"` // before any cut
	// Unknown are the tokens that have no id.
	Unknown int `json:"unknown_tokens"`
	// Empty captions have no word.
	Empty int `json:"empty_captions"`
	// TooLong are tokens of more than 100 bytes, which get no id.
	TooLong int `json:"tokens_too_long"`
}

// String sums up the captions.
func (c Counted) String() string {
	parts := []string{fmt.Sprintf("%s of %s, %d different", text.Count(c.Captions, "captions"),
		text.Count(c.Tokens, "words"), c.Distinct)}
	if c.Unknown > 0 {
		parts = append(parts, fmt.Sprintf("%.2f %% of the words unknown", 100*float64(c.Unknown)/float64(c.Tokens)))
	}
	if c.Empty > 0 {
		parts = append(parts, fmt.Sprintf("%s without a word", text.Count(c.Empty, "captions")))
	}
	if c.TooLong > 0 {
		parts = append(parts, fmt.Sprintf("%s of more than %d bytes, which count as unknown",
			text.Count(c.TooLong, "words"), maxWordBytes))
	}
	return strings.Join(parts, ", ")
}

// BuildWords makes the vocabulary of captions: their Tokens by falling count and, of equal ones, in
// alphabetical order. It does not depend on the order of the captions.
func BuildWords(captions iter.Seq[string], o WordOptions) (*Words, Counted, error) {
	if o.Size < 0 || o.Size > maxWords {
		return nil, Counted{}, fmt.Errorf("caption vocabulary: size %d, want 0 (all words) to %d", o.Size, maxWords)
	}
	var c Counted
	counts := map[string]int{}
	for caption := range captions {
		tokens := Tokens(caption)
		c.Captions++
		c.Tokens += len(tokens)
		if len(tokens) == 0 {
			c.Empty++
		}
		for _, token := range tokens {
			if checkWord(token) != nil { // the tokenizer gives no other cause than the length
				c.TooLong++
				continue
			}
			if _, known := counts[token]; !known {
				token = strings.Clone(token) // it would keep its whole caption in memory
			}
			counts[token]++
		}
	}
	c.Distinct = len(counts)
	words, known := mostFrequent(counts, o)
	if len(words) == 0 {
		return nil, c, errors.New("caption vocabulary: the captions hold no word that is frequent enough")
	}
	c.Unknown = c.Tokens
	for _, n := range known {
		c.Unknown -= n
	}
	w, err := NewWords(words, known)
	return w, c, err
}

func mostFrequent(counts map[string]int, o WordOptions) (words []string, known []int) {
	for word, n := range counts {
		if n >= o.MinCount {
			words = append(words, word)
		}
	}
	slices.SortFunc(words, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	if o.Size > 0 && len(words) > o.Size {
		words = words[:o.Size]
	}
	for _, word := range words {
		known = append(known, counts[word])
	}
	return words, known
}
