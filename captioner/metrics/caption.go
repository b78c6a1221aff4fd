// Package caption scores captions against reference captions: BLEU, ROUGE-L, CIDEr-D and METEOR 1.5, computed
// as in the evaluation of COCO captions, without Java.
//
// Scores of one caption and of the whole set are fractions, CIDEr-D apart, which goes to 10. Candidates and
// references are words, as Tokens makes them: lower case, in the manner of the Penn Treebank, without
// punctuation.
package metrics

import (
	"context"
	"errors"
	"fmt"

	"nmn/internal/parallel"
	"nmn/text"
)

// ErrInput is wrapped by all errors about the input.
var ErrInput = errors.New("captions cannot be scored")

// Item is a picture or clip with its generated caption and its references.
type Item struct {
	ID         string
	Candidate  string
	References []string
}

// Scores of a caption, or of all.
type Scores struct {
	BLEU   [maxOrder]float64 `json:"bleu"` // with n-grams up to 1, 2, 3 and 4 words
	METEOR float64           `json:"meteor"`
	ROUGEL float64           `json:"rouge_l"`
	CIDErD float64           `json:"cider_d"`
}

// Result is what Evaluate found.
type Result struct {
	// All is the score of the set: BLEU and METEOR from summed counts, the others as means.
	All      Scores    `json:"all"`
	Captions []Scores  `json:"-"` // of each item
	Counts   BLEUCount `json:"bleu_counts"`
}

// Tokens splits a caption into the words that are compared.
func Tokens(caption string) []string {
	return text.Tokenizer{DropPunctuation: true}.Append(nil, caption)
}

// item is an Item with words in place of captions.
type item struct {
	candidate  []string
	references [][]string
}

// maxWords bounds a caption: more are no caption, and the time of an alignment grows with their square.
const maxWords = 1000

// Evaluate scores all items, with a METEOR without resources if meteor is nil. An item without references, or a caption
// of more than 1,000 words, is an error that names it.
func Evaluate(ctx context.Context, items []Item, meteor *Meteor) (*Result, error) {
	if len(items) == 0 {
		return nil, fmt.Errorf("there are no captions: %w", ErrInput)
	}
	if meteor == nil {
		meteor = NewMeteor()
	}
	all := make([]item, len(items))
	for i, it := range items {
		var err error
		if all[i], err = it.words(); err != nil {
			return nil, fmt.Errorf("caption %d (%s): %w", i+1, it.ID, err)
		}
	}
	r := &Result{Captions: make([]Scores, len(all))}
	r.bleu(all)
	r.rouge(all)
	frequencies := documentFrequencies(all)
	totals := make([]meteorCount, len(all))
	err := parallel.Run(ctx, len(all), 0, func() func(int) {
		aligner, weights := meteor.aligner(), newCIDEr(frequencies, len(all))
		return func(i int) {
			r.Captions[i].CIDErD = weights.score(all[i])
			totals[i] = aligner.best(all[i])
			r.Captions[i].METEOR = totals[i].score(meteor.modules())
		}
	})
	if err != nil {
		return nil, err
	}
	var sum meteorCount
	for i, t := range totals {
		sum.add(t)
		r.All.CIDErD += r.Captions[i].CIDErD / float64(len(all))
	}
	r.All.METEOR = sum.score(meteor.modules())
	return r, nil
}

func (it Item) words() (item, error) {
	if len(it.References) == 0 {
		return item{}, fmt.Errorf("it has no references: %w", ErrInput)
	}
	out := item{candidate: Tokens(it.Candidate), references: make([][]string, len(it.References))}
	longest := len(out.candidate)
	for i, r := range it.References {
		out.references[i] = Tokens(r)
		longest = max(longest, len(out.references[i]))
	}
	if longest > maxWords {
		return item{}, fmt.Errorf("one has %d words, at most %d are compared: %w", longest, maxWords, ErrInput)
	}
	return out, nil
}
