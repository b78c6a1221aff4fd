package misplaced

import (
	"fmt"
	"math"
)

// Input are the captions of bags, as the words that they mention.
type Input struct {
	// Classes is the number of words K.
	Classes int
	// Captions lists, for each bag and caption, the classes that it mentions, ascending and without repeats, as
	// loader.Set.Captions does. Bags may have any number of captions, also none; captions may mention nothing.
	Captions [][][]int32
	// Scores are logits of p(z=1) for the bags in Scored, len(Scored)×K, from a net that has not learned the
	// labels of these bags. Nil uses the captions alone.
	Scores []float32
	// Scored lists the bag of each row of Scores, each once, as numbers in Captions; nil for all bags in
	// order.
	Scored []int
}

// mostBags bounds the bags, which are numbered in 32 bits, and so are captions.
const mostBags = math.MaxInt32

// Check reports what is wrong with an input.
func (in *Input) Check() error {
	total := int64(0)
	for _, captions := range in.Captions {
		total += int64(len(captions))
	}
	rows := len(in.Captions)
	if in.Scored != nil {
		rows = len(in.Scored)
	}
	switch {
	case in.Classes < 1:
		return fmt.Errorf("misplaced: %d classes, want at least 1", in.Classes)
	case len(in.Captions) > mostBags:
		return fmt.Errorf("misplaced: %d pictures, at most %d can be judged at once", len(in.Captions), mostBags)
	case total > mostBags:
		return fmt.Errorf("misplaced: %d captions, at most %d can be judged at once", total, mostBags)
	case in.Scores != nil && len(in.Scores) != rows*in.Classes:
		return fmt.Errorf("misplaced: %d scores, want %d pictures × %d classes", len(in.Scores), rows, in.Classes)
	}
	for i, o := range in.Scores {
		if math.IsNaN(float64(o)) || math.IsInf(float64(o), 0) {
			return fmt.Errorf("misplaced: row %d of the scores, class %d: %g is no logit", i/in.Classes, i%in.Classes, o)
		}
	}
	return nil
}

// Options set how captions are judged.
type Options struct {
	// Seed draws which captions of other bags are compared with, and the resampled bags of intervals.
	Seed uint64
	// Resamples is how often bags are drawn anew for the interval of the share of foreign captions; 0 for no interval.
	Resamples int
	// Progress, if not nil, is called before each part of the work with its number, from 1, and the number of
	// parts.
	Progress func(part, parts int)
}

// DefaultOptions returns the options of the recipe: 200 resamples.
func DefaultOptions() Options { return Options{Resamples: 200} }
