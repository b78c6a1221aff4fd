package claims

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Result is one figure of one trained net: a measure over some words, for one seed.
type Result struct {
	// Part names the part that the figure was made for, such as "table1". Claims do not use it.
	Part string
	Data string // Scenes, MovingScenes, COCO, MSRVTT or SmallProblem
	// Arm is the name of the arm, with the suffix MIL for an arm with MIL, as in "nmn-fd-mil". On videos an
	// arm without MIL classifies frames, and an arm with MIL classifies videos.
	Arm     string
	Missing float64 // the share of captions that were replaced, 0 to 1: what takes right labels away and adds wrong ones
	Seed    uint64
	Words   string  // All, a part of speech ("NN", "VB", "JJ", ...), or one word by Word
	Metric  string  // the measure, one of the constants below
	Value   float64 // in percent points if the paper prints percent: AP of 29.13, CIDEr of 34.8
}

// Data that claims are checked on.
const (
	Scenes       = "scenes"
	MovingScenes = "moving-scenes"
	COCO         = "coco"
	MSRVTT       = "msrvtt"
	SmallProblem = "small problem" // of the appendix: see package appendix
)

// MIL ends the name of an arm with multiple-instance learning.
const MIL = "-mil"

// Metrics of results.
const (
	AP         = "AP"          // average precision with human agreement, as the paper's Tables 1 to 3 have it
	APObserved = "AP observed" // the same of the prediction p(z=1|I) of the observed labels
	APTruth    = "AP truth"    // against true labels, where they are known
	OF1        = "OF1"         // F1 over all labels at probability 0.5, against true labels where they are known
	Brier      = "Brier"       // mean squared error of the probabilities; less is better
	NLL        = "NLL"         // negative log-likelihood of the noisy training labels, per bag; less is better

	GradientGap   = "gradient gap"    // largest difference between the gradients of EM and of joint training
	FixedPointGap = "fixed-point gap" // mean difference of the rates that EM and joint training end at

	CIDEr  = "CIDEr" // the four of Table 4
	Bleu4  = "Bleu-4"
	ROUGEL = "ROUGE-L"
	METEOR = "METEOR"
)

// All stands for the mean over all words of the vocabulary, or the score over all captions.
const All = "all"

const wordPrefix = "word:"

// Word names the results of a single word.
func Word(word string) string { return wordPrefix + word }

// OfWord reports whether the result belongs to one word, a unit of the second paired test.
func (r Result) OfWord() bool { return strings.HasPrefix(r.Words, wordPrefix) }

// String names the result in messages.
func (r Result) String() string {
	return fmt.Sprintf("%s of %s on %s at %.4g %%, seed %d, words %s", r.Metric, r.Arm, r.Data, 100*r.Missing, r.Seed,
		r.Words)
}

// Validate reports the first result that no claim can be checked with: a value that is not finite, a level outside of
// 0 to 1, unknown data, or two different values of the same figure.
func Validate(results []Result) error {
	known := []string{Scenes, MovingScenes, COCO, MSRVTT, SmallProblem}
	seen := map[Result]float64{}
	for _, r := range slices.SortedFunc(slices.Values(results), order) {
		switch {
		case !finite(r.Value):
			return fmt.Errorf("claims: %v is %v: a run that diverged has no figure; leave it out, or run it again", r, r.Value)
		case !(r.Missing >= 0 && r.Missing <= 1):
			return fmt.Errorf("claims: %v: the level is %v, want 0 to 1", r, r.Missing)
		case !slices.Contains(known, r.Data):
			return fmt.Errorf("claims: %v: the data are %q, want one of %q", r, r.Data, known)
		}
		if v, ok := seen[r.key()]; ok && v != r.Value {
			return fmt.Errorf("claims: %v is given twice, as %v and %v", r, v, r.Value)
		}
		seen[r.key()] = r.Value
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// key is the result without its value and the part that it was made for. Levels are compared in steps of 1e-6, for
// 0.6 may be 1 - 0.4.
func (r Result) key() Result {
	r.Part, r.Value = "", 0
	r.Missing = math.Round(1e6*r.Missing) / 1e6
	return r
}

// order sorts results by everything but their value, so that nothing depends on the order of input.
func order(a, b Result) int {
	return cmp.Or(cmp.Compare(a.Data, b.Data), cmp.Compare(a.Arm, b.Arm), cmp.Compare(a.Missing, b.Missing),
		cmp.Compare(a.Seed, b.Seed), cmp.Compare(a.Words, b.Words), cmp.Compare(a.Metric, b.Metric),
		cmp.Compare(a.Part, b.Part), cmp.Compare(a.Value, b.Value))
}
