package run

import (
	"fmt"
	"strconv"

	"nmn/eval"
	"nmn/format/table"
	"nmn/labels/rates"
	"nmn/text"
)

// ScoreFiles are the scores of any program, .csv or .npy, with what they are held against: at least one of Counts,
// Labels and Truth. All are matrices of bags and words, joined by names where a .csv has them and else by order.
type ScoreFiles struct {
	Scores string
	Logits bool // scores are log-odds instead of probabilities
	// Counts are the captions of each bag that mention each word, out of CaptionsPerBag.
	Counts         string
	CaptionsPerBag int
	Labels         string // observed labels, 0 or 1
	Truth          string // true labels, 0 or 1
	Vocabulary     string // file of the words, where the others do not name them
}

// Evaluate evaluates the scores.
func (f *ScoreFiles) Evaluate(o eval.Options) (*eval.Result, error) {
	var v *text.Vocabulary
	var err error
	if f.Vocabulary != "" {
		if v, err = text.ReadVocabulary(f.Vocabulary); err != nil {
			return nil, err
		}
	}
	scores, err := table.ReadScores(f.Scores, f.Logits)
	if err != nil {
		return nil, err
	}
	in, err := f.join(scores, v)
	if err != nil {
		return nil, err
	}
	in.Logits, in.Vocabulary = f.Logits, v
	return eval.Evaluate(in, o)
}

// ReadLogits reads scores and what they are held against for what works on logits, as labels/rates and labels/audit
// do: scores become log-odds, and classes without a name are numbered from 1.
func (f *ScoreFiles) ReadLogits() (eval.Input, error) {
	scores, err := table.ReadScores(f.Scores, f.Logits)
	if err != nil {
		return eval.Input{}, err
	}
	in, err := f.join(scores, nil)
	if err != nil {
		return in, err
	}
	if in.Words == nil {
		for c := range in.Classes {
			in.Words = append(in.Words, strconv.Itoa(c+1))
		}
	}
	if f.Logits {
		return in, nil
	}
	if in.Scores, err = rates.Logits(in.Scores); err != nil {
		return in, fmt.Errorf("%s: %w (give --logits where scores are log-odds)", f.Scores, err)
	}
	return in, nil
}

// join matches each file with the scores, in the same order of rows and columns.
func (f *ScoreFiles) join(scores *table.Matrix, v *text.Vocabulary) (eval.Input, error) {
	var in eval.Input
	for _, file := range []struct {
		path   string
		limit  int
		assign func(to *eval.Input, from *table.Joined)
	}{
		{f.Counts, f.CaptionsPerBag, func(to *eval.Input, from *table.Joined) {
			to.Counts, to.CaptionsPerBag = from.Counts, f.CaptionsPerBag
		}},
		{f.Labels, 1, func(to *eval.Input, from *table.Joined) { to.Labels = from.Counts }},
		{f.Truth, 1, func(to *eval.Input, from *table.Joined) { to.Truth = from.Counts }},
	} {
		if file.path == "" {
			continue
		}
		m, err := readReference(file.path, file.limit)
		if err != nil {
			return in, err
		}
		joined, err := table.Join(scores, m, v)
		if err != nil {
			return in, err
		}
		if in.Scores == nil {
			in.Bags, in.Classes, in.Scores = joined.Bags, joined.Classes, joined.Scores
			in.Words, in.IDs = joined.Words, joined.IDs
			// What the first file says about the order of rows and columns holds for the others.
			named := *scores
			named.Words, named.IDs, named.Values = joined.Words, joined.IDs, joined.Scores
			scores = &named
		}
		file.assign(&in, joined)
	}
	return in, nil
}

// readReference reads counts up to limit; limit 1 reads labels.
func readReference(path string, limit int) (*table.Matrix, error) {
	if limit == 1 {
		return table.ReadLabels(path)
	}
	return table.ReadCounts(path, limit)
}
