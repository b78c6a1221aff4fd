package main

import (
	"nmn/eval"
	"nmn/format/table"
	"nmn/text"
)

// scoreFiles are the results of any program, with what they are held against.
type scoreFiles struct {
	scores         string
	counts, labels string
	truth          string
	vocabulary     string
	captionsPerBag int
	logits         bool
}

// evaluateScores evaluates score files.
func evaluateScores(f scoreFiles, o eval.Options) (*eval.Result, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	var v *text.Vocabulary
	var err error
	if f.vocabulary != "" {
		if v, err = text.ReadVocabulary(f.vocabulary); err != nil {
			return nil, err
		}
	}
	scores, err := table.ReadScores(f.scores, f.logits)
	if err != nil {
		return nil, err
	}
	in, err := f.join(scores, v)
	if err != nil {
		return nil, err
	}
	in.Logits, in.Vocabulary = f.logits, v
	return eval.Evaluate(in, o)
}

func (f *scoreFiles) check() error {
	switch {
	case f.counts == "" && f.labels == "" && f.truth == "":
		return usagef("eval: --scores needs something to hold them against: --counts with --captions-per-bag, --labels or --truth")
	case f.counts != "" && f.captionsPerBag < 2:
		return usagef("eval: --counts needs --captions-per-bag N, at least 2")
	case f.counts == "" && f.captionsPerBag != 0:
		return usagef("eval: --captions-per-bag belongs to --counts")
	}
	return nil
}

// join matches each file with the scores, in the same order of rows and columns.
func (f *scoreFiles) join(scores *table.Matrix, v *text.Vocabulary) (eval.Input, error) {
	var in eval.Input
	for _, file := range []struct {
		path   string
		limit  int
		assign func(to *eval.Input, from *table.Joined)
	}{
		{f.counts, f.captionsPerBag, func(to *eval.Input, from *table.Joined) { to.Counts, to.CaptionsPerBag = from.Counts, f.captionsPerBag }},
		{f.labels, 1, func(to *eval.Input, from *table.Joined) { to.Labels = from.Counts }},
		{f.truth, 1, func(to *eval.Input, from *table.Joined) { to.Truth = from.Counts }},
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
			in.Bags, in.Classes, in.Scores, in.Words, in.IDs = joined.Bags, joined.Classes, joined.Scores, joined.Words, joined.IDs
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
