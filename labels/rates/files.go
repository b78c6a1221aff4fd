package rates

import (
	"fmt"
	"strconv"

	"nmn/eval"
)

// ReadFiles reads out-of-fold scores with their labels for what works on logits: an estimate of rates, an audit.
// Labels may be unknown.
// Classes that no file names are named by their numbers, counted from 1.
func ReadFiles(f eval.Files) (eval.Input, error) {
	f.Gaps = true
	in, err := f.Read(nil)
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
	if err = logitsInto(in.Scores, in.Scores); err != nil {
		return in, fmt.Errorf("%s: %w (set `scores.logits` if the scores are log-odds)", f.Scores, err)
	}
	return in, nil
}

// InputOf takes what rates are estimated from out of what ReadFiles has read.
func InputOf(in *eval.Input) Input {
	return Input{Bags: in.Bags, Classes: in.Classes, Scores: in.Scores, Labels: in.Labels, Words: in.Words, IDs: in.IDs}
}
