package text

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Tagger gives words their Penn Treebank part of speech. It is the averaged perceptron of
// Honnibal ("A good part-of-speech tagger in about 200 lines of Python", 2013) with the English
// weights that github.com/jdkato/prose carries. The scoring is our own: prose takes text instead of
// tokens and sums floating-point weights in the order of a map, so that ties fall at random; here
// sums are integers and a tie goes to the tag that is first in alphabetical order.
//
// A Tagger holds about 10 MB, is immutable and safe for concurrent use.
type Tagger struct {
	tags     []string         // in alphabetical order
	known    map[string]uint8 // words with one tag, whatever stands around them
	features map[string][]weight
}

// weight is a feature's contribution to the score of a tag, in thousandths (the model has three decimals).
type weight struct {
	tag   uint8
	milli int32
}

// asset reads a part of the model; nil if there is none.
var asset func(name string) ([]byte, error)

// RegisterModel sets where NewTagger reads its model. Package text/english calls it when a program imports it.
func RegisterModel(read func(name string) ([]byte, error)) { asset = read }

// NewTagger decodes the model, which takes about a tenth of a second: make one and keep it. The program must import
// package text/english.
func NewTagger() (*Tagger, error) {
	if asset == nil {
		return nil, fmt.Errorf("part-of-speech model: this program lacks it: its source must import package text/english of "+
			"nmn: %w", errors.ErrUnsupported)
	}
	var tags []string
	var known map[string]string
	var weights map[string]map[string]float64
	for _, part := range []struct {
		name string
		to   any
	}{{"classes", &tags}, {"tags", &known}, {"weights", &weights}} {
		data, err := asset("model/AveragedPerceptron/" + part.name + ".gob")
		if err != nil {
			return nil, fmt.Errorf("part-of-speech model: %w", err)
		}
		if err := gob.NewDecoder(bytes.NewReader(data)).Decode(part.to); err != nil {
			return nil, fmt.Errorf("part-of-speech model, %s: %w", part.name, err)
		}
	}
	return compileTagger(tags, known, weights)
}

// compileTagger replaces tags by their index and weights by integers.
func compileTagger(tags []string, known map[string]string, weights map[string]map[string]float64) (*Tagger, error) {
	t := &Tagger{
		tags:     slices.Sorted(slices.Values(tags)),
		known:    make(map[string]uint8, len(known)),
		features: make(map[string][]weight, len(weights)),
	}
	if len(t.tags) == 0 || len(t.tags) > math.MaxUint8 {
		return nil, fmt.Errorf("part-of-speech model: %d tags, want 1 to %d", len(t.tags), math.MaxUint8)
	}
	for word, tag := range known {
		k, ok := slices.BinarySearch(t.tags, tag)
		if !ok {
			return nil, fmt.Errorf("part-of-speech model: word %q has the unknown tag %q", word, tag)
		}
		t.known[word] = uint8(k)
	}
	total := 0
	for _, scores := range weights {
		total += len(scores)
	}
	all := make([]weight, 0, total) // one array for all features: no memory lost between them
	for feature, scores := range weights {
		first := len(all)
		for tag, score := range scores {
			k, ok := slices.BinarySearch(t.tags, tag)
			if !ok {
				return nil, fmt.Errorf("part-of-speech model: feature %q has the unknown tag %q", feature, tag)
			}
			all = append(all, weight{uint8(k), int32(math.Round(score * 1000))})
		}
		t.features[feature] = all[first:len(all):len(all)]
	}
	return t, nil
}

// Append appends to dst the Penn tag of each word of one sentence, as the Tokenizer gives them, and
// returns the extended slice. Punctuation is its own tag, brackets are -LRB- and -RRB-.
func (t *Tagger) Append(dst []string, words []string) []string {
	before, twoBefore := "-START-", "-START2-"
	buffer := make([]byte, 0, 64)
	for i, word := range words {
		tag := punctuationTag(word)
		if tag == "" {
			if k, ok := t.known[word]; ok {
				tag = t.tags[k]
			} else {
				tag = t.predict(words, i, before, twoBefore, buffer)
			}
		}
		dst = append(dst, tag)
		before, twoBefore = tag, before
	}
	return dst
}

// punctuationTag returns the tag of a token without letters and digits, or "".
func punctuationTag(token string) string {
	if !IsPunctuation(token) {
		return ""
	}
	switch token {
	case ".", "?", "!":
		return "."
	case ",", "``", "''", "$", "#":
		return token
	case "`":
		return "``"
	case "'":
		return "''"
	case "-lrb-", "-lsb-", "-lcb-":
		return "-LRB-"
	case "-rrb-", "-rsb-", "-rcb-":
		return "-RRB-"
	case ":", ";", "-", "--", "...":
		return ":"
	}
	return "SYM"
}

// predict returns the tag with the largest sum of feature weights.
func (t *Tagger) predict(words []string, i int, before, twoBefore string, buffer []byte) string {
	var scores [math.MaxUint8]int64
	add := func(parts ...string) {
		buffer = buffer[:0]
		for k, part := range parts {
			if k > 0 {
				buffer = append(buffer, ' ')
			}
			buffer = append(buffer, part...)
		}
		for _, w := range t.features[string(buffer)] {
			scores[w.tag] += int64(w.milli)
		}
	}
	first, _ := utf8.DecodeRuneInString(words[i])
	here, last, next := context(words, i), context(words, i-1), context(words, i+1)
	add("bias")
	add("i suffix", suffix(words[i]))
	add("i pref1", string(first))
	add("i-1 tag", before)
	add("i-2 tag", twoBefore)
	add("i tag+i-2 tag", before, twoBefore)
	add("i word", here)
	add("i-1 tag+i word", before, here)
	add("i-1 word", last)
	add("i-1 suffix", suffix(last))
	add("i-2 word", context(words, i-2))
	add("i+1 word", next)
	add("i+1 suffix", suffix(next))
	add("i+2 word", context(words, i+2))
	best := 0
	for k := range t.tags {
		if scores[k] > scores[best] {
			best = k
		}
	}
	return t.tags[best]
}

// suffix returns the last three bytes.
func suffix(s string) string { return s[max(0, len(s)-3):] }

// context returns word i in the form of the features: numbers and hyphenated words by their kind, and names
// for the positions outside the sentence.
func context(words []string, i int) string {
	switch n := len(words); {
	case i == -1:
		return "-START2-"
	case i == -2:
		return "-START-"
	case i == n:
		return "-END-"
	case i == n+1:
		return "-END2-"
	}
	w := words[i]
	switch {
	case w[0] != '-' && strings.Contains(w, "-"):
		return "!HYPHEN"
	case !isDigit(w[0]):
		return strings.ToLower(w)
	case len(w) == 4 && isDigit(w[1]) && isDigit(w[2]) && isDigit(w[3]):
		return "!YEAR"
	}
	return "!DIGITS"
}

// groupOf maps a Penn Treebank tag to the group of the paper's tables: all nouns are NN, all verbs VB, all adjectives
// JJ, determiners and predeterminers DT, personal and possessive pronouns PRP, prepositions and subordinating
// conjunctions IN. Everything else (to, that, up, two, very) is Others, as in the vocabulary of Fang et al.
func groupOf(tag string) POS {
	switch tag {
	case "NN", "NNS", "NNP", "NNPS":
		return NN
	case "VB", "VBD", "VBG", "VBN", "VBP", "VBZ":
		return VB
	case "JJ", "JJR", "JJS":
		return JJ
	case "DT", "PDT":
		return DT
	case "PRP", "PRP$":
		return PRP
	case "IN":
		return IN
	}
	return Others
}
