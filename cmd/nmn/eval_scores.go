package main

import (
	"nmn/eval"
	"nmn/text"
)

// evaluateScores evaluates score files; the vocabulary is a file, or empty for the words that the files name.
func evaluateScores(f eval.Files, vocabulary string, o eval.Options) (*eval.Result, error) {
	switch {
	case f.Counts == "" && f.Labels == "" && f.Truth == "":
		return nil, usagef("eval: --scores needs something to hold them against: --counts with --captions-per-bag, " +
			"--labels or --truth")
	case f.Counts != "" && f.CaptionsPerBag < 2:
		return nil, usagef("eval: --counts needs --captions-per-bag N, at least 2")
	case f.Counts == "" && f.CaptionsPerBag != 0:
		return nil, usagef("eval: --captions-per-bag belongs to --counts")
	}
	var v *text.Vocabulary
	if vocabulary != "" {
		var err error
		if v, err = text.ReadVocabulary(vocabulary); err != nil {
			return nil, err
		}
	}
	in, err := f.Read(v)
	if err != nil {
		return nil, err
	}
	return eval.Evaluate(in, o)
}
