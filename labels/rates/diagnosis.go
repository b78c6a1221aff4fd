package rates

import (
	"math"
	"slices"
)

// Diagnosis is a warning about a rate.
type Diagnosis string

// The diagnoses. With the first three the rates of the class are not to be believed at all, with the
// fourth only to train with.
const (
	// TooFew observed labels, present or absent, to learn from.
	TooFew Diagnosis = "too few labels"
	// NotPredicted means that the scores do not predict which bags carry the label. Noise then looks the same
	// as errors of the classifier.
	NotPredicted Diagnosis = "not predictable"
	// AtLimit means that a rate wants to go further than it may.
	AtLimit Diagnosis = "rate at its limit"
	// WeaklyPredicted means that the scores predict the label, but so weakly that the rates are nearly those
	// of the other classes. You can train with such rates, since an error of the rate costs little, but not
	// judge single labels.
	WeaklyPredicted Diagnosis = "weakly predicted"
	// MostlyPooled means that the prior, and thus the other classes, outweighs the class's own true
	// labels in q01.
	MostlyPooled Diagnosis = "q01 mostly from the other classes"
	// MaybeNoMissing means that the interval of q01 holds 0: no missing labels, or missing ones that
	// depend on how hard a bag is, which cannot be seen from scores.
	MaybeNoMissing Diagnosis = "q01 may be 0"
	// MaybeNoIncorrect means that the interval of q10 holds 0.
	MaybeNoIncorrect Diagnosis = "q10 may be 0"
)

const (
	leastAUC          = .6 // least AUC of scores that can judge single labels
	leastAUCDeviation = 3  // from .5, in standard deviations of scores that predict nothing
)

// Usable reports whether the rates of the class are its own and can be believed, so that single labels may
// be judged by them.
func (c Class) Usable() bool {
	return c.Trainable() && !slices.Contains(c.Diagnoses, WeaklyPredicted)
}

// Trainable reports whether training with the rates is better than without. It is true if the rates are the
// class's own. It is also true for a class that the scores predict at all, which gets nearly the rates of the
// others.
func (c Class) Trainable() bool {
	return c.NotEstimated() == ""
}

// NotEstimated returns why the class has no rates of its own and gets none; empty if it has rates.
func (c Class) NotEstimated() Diagnosis {
	for _, d := range c.Diagnoses {
		if d == TooFew || d == NotPredicted || d == AtLimit {
			return d
		}
	}
	return ""
}

// WithoutRates is the class with unknown rates and intervals.
func (c Class) WithoutRates() Class {
	unknown := math.NaN()
	c.Q01, c.Q01Interval, c.Q10, c.Q10Interval = unknown, Interval{unknown, unknown}, unknown, Interval{unknown, unknown}
	return c
}

// diagnose warns about the rates of a class. If bags are verified, rates are known even if scores do not predict the
// label.
func (c Class) diagnose(o Options, own *class, verified bool) []Diagnosis {
	diagnoses := []Diagnosis{}
	add := func(d Diagnosis, holds bool) {
		if holds {
			diagnoses = append(diagnoses, d)
		}
	}
	few := o.tooFew(own)
	add(TooFew, few)
	predicted := c.A > o.MinSlope && float64(c.AUC) >= .5+leastAUCDeviation*aucDeviation(own.presentRows,
		own.absentRows)
	add(NotPredicted, !few && !predicted && !verified)
	add(AtLimit, c.Q01 >= maxQ01 || c.Q10 >= maxQ10)
	add(WeaklyPredicted, !few && predicted && !verified && float64(c.AUC) < leastAUC)
	add(MostlyPooled, c.TruePositives < o.Strength01)
	add(MaybeNoMissing, c.Q01Interval.Low == 0)
	add(MaybeNoIncorrect, c.Q10Interval.Low == 0)
	return diagnoses
}

func (o Options) tooFew(c *class) bool {
	return min(c.presentRows, c.absentRows) < max(o.MinPositives, 1)
}
