package claims

import "nmn/eval"

// Outcome is what became of a claim or of one comparison of it.
type Outcome string

// The outcomes. They stand in words wherever they are shown.
const (
	Confirmed    Outcome = "confirmed"
	NotConfirmed Outcome = "not confirmed"
	NotTested    Outcome = "not tested"
)

// Verdict is the outcome of a claim on one kind of data.
type Verdict struct {
	ID    string `json:"id"`
	Claim string `json:"claim"`           // the claim in a sentence
	Where string `json:"where,omitempty"` // where the paper makes it; empty for what goes beyond the paper
	// Beyond is set if the paper does not claim it.
	Beyond bool `json:"-"`
	// Data names the data of the results. It is empty if there are no results for this claim. The comparisons
	// then hold published figures alone.
	Data string `json:"data,omitempty"`
	// Outcome is Confirmed where all comparisons are, NotConfirmed where one of them is the other way beyond chance,
	// and else NotTested. Reason says why in the last two cases.
	Outcome     Outcome      `json:"outcome"`
	Reason      string       `json:"reason,omitempty"`
	Comparisons []Comparison `json:"comparisons,omitempty"`
}

// Comparison is one arm and measure against another. Differences are left minus right; better is more, or less where
// the measure is an error.
type Comparison struct {
	Left, Right Side
	Missing     float64
	Words       string // All or a part of speech
	// Bound is the upper bound for the left side if the right side has no arm.
	Bound float64
	// Published is the paper's difference, from two figures of one table; undefined if the paper prints none.
	Published eval.Number
	// Seeds are the seeds that both sides have, in order. Differences has one difference for each seed.
	Seeds       []uint64
	Differences []float64
	// Mean and Spread (sample standard deviation) are over seeds, and P is the two-sided probability of the
	// paired t test. They are undefined if there are too few seeds.
	Mean, Spread, P eval.Number
	// Units is the paired test over single words, whose differences are means over seeds. It does not decide: its
	// probability is about other words for the same nets.
	Units   Units
	Outcome Outcome
	Reason  string
}

// Side is one side of a comparison.
type Side struct {
	Arm, Metric string
	Published   eval.Number // undefined where the paper prints none
	Mean        eval.Number // ours over the seeds of the comparison
}

// Units is a paired test over words.
type Units struct {
	Count int // 0 without single results
	Ahead int // units on which left is better
	P     eval.Number
}
