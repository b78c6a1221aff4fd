package rates

import "slices"

// Diagnosis is something that a reader of a rate must know.
type Diagnosis string

// The diagnoses. With the first three the rates of the class are not to be believed: they say what the
// other classes are like, or nothing.
const (
	// TooFew observed labels, present or absent, to learn from.
	TooFew Diagnosis = "too few labels"
	// NotPredicted means that the scores hardly tell who carries the label, so that noise cannot be told
	// from what the classifier does not know.
	NotPredicted Diagnosis = "not predictable"
	// AtLimit means that a rate wants to go further than it may.
	AtLimit Diagnosis = "rate at its limit"
	// MostlyPooled means that the prior, and thus the other classes, outweighs the class's own true
	// labels in q01.
	MostlyPooled Diagnosis = "q01 mostly from the other classes"
	// MaybeNoMissing means that the interval of q01 holds 0: no missing labels, or missing ones that
	// depend on how hard a bag is, which cannot be seen from scores.
	MaybeNoMissing Diagnosis = "q01 not told from 0"
	// MaybeNoIncorrect is the same of q10.
	MaybeNoIncorrect Diagnosis = "q10 not told from 0"
)

const (
	leastAUC          = .6 // of scores that tell something
	leastAUCDeviation = 3  // from .5, in standard deviations of scores that tell nothing
)

// Usable tells whether the rates of the class are its own and can be believed.
func (c Class) Usable() bool {
	return !slices.ContainsFunc(c.Diagnoses, func(d Diagnosis) bool { return d == TooFew || d == NotPredicted || d == AtLimit })
}

func (c Class) diagnose(o Options, column column) []Diagnosis {
	found := []Diagnosis{}
	add := func(d Diagnosis, holds bool) {
		if holds {
			found = append(found, d)
		}
	}
	few := o.tooFew(column)
	add(TooFew, few)
	add(NotPredicted, !few && (c.A <= o.MinSlope || float64(c.AUC) < leastAUC ||
		float64(c.AUC) < .5+leastAUCDeviation*aucDeviation(len(column.present), len(column.absent))))
	add(AtLimit, c.Q01 >= maxQ01 || c.Q10 >= maxQ10)
	add(MostlyPooled, c.TruePositives < o.Strength01)
	add(MaybeNoMissing, c.Q01Interval.Low == 0)
	add(MaybeNoIncorrect, c.Q10Interval.Low == 0)
	return found
}

// tooFew tells of a class without enough labels of either kind.
func (o Options) tooFew(c column) bool {
	return min(len(c.present), len(c.absent)) < max(o.MinPositives, 1)
}
