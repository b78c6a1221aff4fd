package annotators

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Errors that a caller may act on.
var (
	// ErrInput reports rows that no table of labels can have: an index out of range, a bag twice by one annotator.
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
	Line           int32   // line in its file, for messages; 0 if there is no file
	Given          []int32 // classes whose label was given, ascending
	Unknown        []int32 // classes that the annotator left open, ascending; none of Given
	// Asked lists the classes that the annotator was asked about, ascending; nil for all. A class that was
	// asked about, and is neither given nor unknown, counts as a label 0.
	Asked []int32
}

// Input are the labels of J annotators for N bags and K classes. It is not changed.
type Input struct {
	Bags, Annotators, Classes int
	Rows                      []Row
	// Logits are N×K out-of-fold logits of a classifier, finite; nil for none.
	Logits []float32
}

// maxMarks bounds how often a class is named in all rows, so that places fit into 32 bits.
const maxMarks = math.MaxInt32 / 2

// check names what is wrong with the input; errors wrap ErrInput.
func (in *Input) check() error {
	switch {
	case in.Bags < 1 || in.Annotators < 1 || in.Bags > math.MaxInt32 || in.Annotators > math.MaxInt32/2:
		return fmt.Errorf("annotators: %d samples and %d annotators: %w", in.Bags, in.Annotators, ErrInput)
	case in.Classes < 1 || in.Classes > math.MaxInt32:
		return fmt.Errorf("annotators: %d classes; no annotator gave a label, and no vocabulary names one: %w", in.Classes,
			ErrInput)
	case in.Logits != nil && (len(in.Logits)/in.Classes != in.Bags || len(in.Logits)%in.Classes != 0):
		return fmt.Errorf("annotators: %d logits for %d samples × %d classes: %w", len(in.Logits), in.Bags, in.Classes,
			ErrInput)
	}
	marks := 0
	for i := range in.Rows {
		r := &in.Rows[i]
		if err := in.checkRow(r); err != nil {
			return fmt.Errorf("annotators: row %d: %w: %w", i+1, err, ErrInput)
		}
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
	return in.checkRepeats()
}

func (in *Input) checkRow(r *Row) error {
	if r.Bag < 0 || int(r.Bag) >= in.Bags || r.Annotator < 0 || int(r.Annotator) >= in.Annotators {
		return fmt.Errorf("sample %d of %d, annotator %d of %d", r.Bag, in.Bags, r.Annotator, in.Annotators)
	}
	for _, list := range [][]int32{r.Given, r.Unknown, r.Asked} {
		for i, k := range list {
			if k < 0 || int(k) >= in.Classes || i > 0 && k <= list[i-1] {
				return fmt.Errorf("classes %v are not ascending numbers below %d", list, in.Classes)
			}
		}
	}
	for _, k := range r.Given {
		_, unknown := slices.BinarySearch(r.Unknown, k)
		if _, asked := slices.BinarySearch(r.Asked, k); unknown || r.Asked != nil && !asked {
			return fmt.Errorf("class %d is given, and unknown or not asked", k)
		}
	}
	return nil
}

// checkRepeats refuses an annotator with two rows for one bag.
func (in *Input) checkRepeats() error {
	first := make(map[int64]int, len(in.Rows))
	for i, r := range in.Rows {
		key := int64(r.Bag)<<32 | int64(r.Annotator)
		if at, ok := first[key]; ok {
			return fmt.Errorf("annotators: rows %d and %d have the same annotator and the same sample: %w", at+1, i+1, ErrInput)
		}
		first[key] = i
	}
	return nil
}
