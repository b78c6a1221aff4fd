package annotators

import (
	"errors"
	"fmt"
	"math"
)

// Errors that a caller may act on.
var (
	// ErrInput reports rows that no table of labels can have, such as a bag twice by one annotator.
	ErrInput = errors.New("labels cannot be used")
	// ErrUnidentified reports labels from which no computation can find out which annotators are reliable.
	ErrUnidentified = errors.New("reliabilities cannot be estimated")
)

// inputError is an error that is also ErrInput, without its text.
type inputError struct{ error }

func (e inputError) Unwrap() error { return e.error }

func (inputError) Is(target error) bool { return target == ErrInput }

// Row is one annotator's answer for one bag.
type Row struct {
	Bag, Annotator int32
	Given          []int32 // classes whose label was given, ascending
	Unknown        []int32 // classes that the annotator left open, ascending; none of Given
	// Asked lists the classes that the annotator was asked about, ascending; nil for all. A class that was
	// asked about, and is neither given nor unknown, counts as a label 0.
	Asked []int32
}

// Input are the labels of J annotators for N bags and K classes, at most one row for each annotator and bag. It is not
// changed.
type Input struct {
	Bags, Annotators, Classes int
	Rows                      []Row
	// Logits are N×K out-of-fold logits of a classifier, finite; nil for none.
	Logits []float32
}

// byBag and byAnnotator are the numbers of the rows of each.
func (in *Input) byBag() lists[int32] {
	return gathered(in.Bags, len(in.Rows), func(i int) int { return int(in.Rows[i].Bag) },
		func(i int) int32 { return int32(i) })
}

func (in *Input) byAnnotator() lists[int32] {
	return gathered(in.Annotators, len(in.Rows), func(i int) int { return int(in.Rows[i].Annotator) },
		func(i int) int32 { return int32(i) })
}

// maxMarks bounds how often a class is named in all rows, so that places fit into 32 bits.
const maxMarks = math.MaxInt32 / 2

// check refuses what a table can have and no estimate; errors wrap ErrInput.
func (in *Input) check() error {
	if in.Classes < 1 {
		return fmt.Errorf("annotators: %d classes; no annotator gave a label, and no vocabulary names one: %w", in.Classes,
			ErrInput)
	}
	marks := 0
	for _, r := range in.Rows {
		if marks += len(r.Given) + len(r.Unknown) + len(r.Asked); marks > maxMarks {
			return fmt.Errorf("annotators: more than %d labels: %w", maxMarks, ErrInput)
		}
	}
	for i, o := range in.Logits {
		if f := float64(o); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("annotators: sample %d, class %d: logit %v, want a finite number: %w", i/in.Classes+1,
				i%in.Classes+1, o, ErrInput)
		}
	}
	return nil
}
