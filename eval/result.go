package eval

import "fmt"

// Result is the evaluation of one model. Figures are fractions, not percent.
type Result struct {
	Bags              int          `json:"samples"`
	Classes           int          `json:"classes"`
	CaptionsPerSample int          `json:"captions_per_sample,omitempty"`
	GroupSize         ByGroup[int] `json:"group_size"` // classes of each group
	TopK              int          `json:"top_k"`
	// OutsideRange counts the scores that are no probability; 0 with log-odds. If it is not 0, the Brier
	// score, the calibration errors and everything at a threshold mean little.
	OutsideRange int         `json:"outside_range,omitempty"`
	Measures                 // for Scores, the clean-label prediction p(y=1|I)
	Observed     *Measures   `json:"observed,omitempty"`   // for the observed-label prediction p(z=1|I)
	Transition   *Transition `json:"transition,omitempty"` // for estimated noise rates
	Words        []Word      `json:"by_class"`             // in class order
}

// Unmeasure removes the measures, of scores that were learned from the same labels or cannot be ranked.
// Thresholds and noise rates stay.
func (r *Result) Unmeasure() {
	r.Measures = Measures{Threshold: r.Threshold, PlugIn: r.PlugIn}
	r.Observed = nil
	for c := range r.Words {
		r.Words[c].WordMeasures, r.Words[c].Observed = WordMeasures{}, nil
	}
}

// Measured reports whether there are measures, against whichever labels.
func (r *Result) Measured() bool { return r.Human != nil || r.Labels != nil || r.Truth != nil }

// Unseparated returns why the average precisions show nothing; empty if they do. Some class must have bags with it and
// bags without it, which one bag alone cannot have.
func (r *Result) Unseparated() string {
	judged := false
	for i := range r.Words {
		for _, w := range []*WordLabels{r.Words[i].Labels, r.Words[i].Truth} {
			if judged = judged || w != nil; w != nil && w.Positives > 0 && w.Positives < r.Bags {
				return ""
			}
		}
	}
	if !judged {
		return ""
	}
	return fmt.Sprintf("each label is on all or on none of what is measured (%d), and any order of the scores is right",
		r.Bags)
}

// Measures are the figures of one matrix of scores, against each reference there is.
type Measures struct {
	Threshold float64     `json:"threshold"`         // for MultiLabel.AtThreshold
	PlugIn    float64     `json:"plug_in_threshold"` // for MultiLabel.AtPlugIn
	Human     *Human      `json:"human,omitempty"`
	Labels    *MultiLabel `json:"labels,omitempty"`
	Truth     *MultiLabel `json:"truth,omitempty"`
}

// Human averages the measures of [Agreement] over the words of each group that were ever
// mentioned; their number is Seen.
type Human struct {
	AP                     ByGroup[Number] `json:"ap"`
	Precision              ByGroup[Number] `json:"human_precision"`
	Recall                 ByGroup[Number] `json:"human_recall"`
	PrecisionAtHumanRecall ByGroup[Number] `json:"precision_at_human_recall"`
	Seen                   ByGroup[int]    `json:"seen"`
}

// MultiLabel holds the usual measures against labels of 0 or 1.
type MultiLabel struct {
	// AP averages [AveragePrecision] over the classes with a positive label, whose number is Seen:
	// AP.All is the mAP. StableAP is the form that breaks ties by row.
	AP       ByGroup[Number] `json:"ap"`
	StableAP ByGroup[Number] `json:"stable_ap"`
	Seen     ByGroup[int]    `json:"seen"`

	AtThreshold ByGroup[F1] `json:"at_threshold"` // predicted where p >= Measures.Threshold
	AtPlugIn    ByGroup[F1] `json:"at_plug_in"`   // predicted where p >= Measures.PlugIn
	// AtTopK predicts exactly the k best classes of each bag, the lower class index first among equal scores.
	// AtTopKThreshold predicts those with p >= Measures.Threshold.
	AtTopK          ByGroup[F1] `json:"at_top_k"`
	AtTopKThreshold ByGroup[F1] `json:"at_top_k_threshold"`

	Brier         ByGroup[Number] `json:"brier"`          // mean of (p - z)^2 over all cells of the group
	ECE           ByGroup[Number] `json:"ece"`            // calibration error of p(y=1), cells of the group pooled
	ConfidenceECE ByGroup[Number] `json:"confidence_ece"` // the calibration error of max(p, 1-p) against correctness
	// LogLoss is the mean over bags of -sum_c log p(label of class c), in nats: the loss that training minimises.
	LogLoss Number `json:"log_loss"`
	// OneClass holds the measures of classes that exclude each other; nil for others.
	OneClass *OneClass `json:"one_class,omitempty"`
}

// Word holds the figures of one class.
type Word struct {
	Word         string        `json:"class"`
	POS          string        `json:"pos,omitempty"`
	WordMeasures               // for Scores
	Observed     *WordMeasures `json:"observed,omitempty"`
	Q01          Number        `json:"q01"` // estimated rates, null if there are none
	Q10          Number        `json:"q10"`
	T01          Number        `json:"t01"` // true rates, null where unknown
	T10          Number        `json:"t10"`
	// RateRemark explains why this word has no estimated rates while others have; empty if there is nothing to explain.
	RateRemark string `json:"rate_remark,omitempty"`
}

// WordMeasures are the figures of one class and one matrix of scores.
type WordMeasures struct {
	Human  *Agreement  `json:"human,omitempty"`
	Labels *WordLabels `json:"labels,omitempty"`
	Truth  *WordLabels `json:"truth,omitempty"`
}

// WordLabels are the usual measures of one class.
type WordLabels struct {
	Positives int    `json:"positives"`
	AP        Number `json:"ap"`
	StableAP  Number `json:"stable_ap"`
	Precision Number `json:"precision"` // at Measures.Threshold, 0/0 = 0
	Recall    Number `json:"recall"`
	F1        Number `json:"f1"`
	Brier     Number `json:"brier"`
	ECE       Number `json:"ece"`
}

// newMultiLabel summarises the tallies of all classes, one for each.
func newMultiLabel(g groups, tallies []tally) *MultiLabel {
	means := func(f func(*tally) Number) ByGroup[Number] {
		return groupMeans(g, func(c int) Number { return f(&tallies[c]) })
	}
	f1 := func(f func(*tally) confusion) ByGroup[F1] {
		return eachGroup(g, func(classes []int) F1 {
			return newF1(classes, func(c int) confusion { return f(&tallies[c]) })
		})
	}
	pooled := eachGroup(g, func(classes []int) *calibration {
		var all calibration
		for _, c := range classes {
			all.merge(&tallies[c].calibration)
		}
		return &all
	})
	return &MultiLabel{
		AP:              means(func(t *tally) Number { return t.ap }),
		StableAP:        means(func(t *tally) Number { return t.stableAP }),
		Seen:            groupSeen(g, func(c int) Number { return tallies[c].ap }),
		AtThreshold:     f1(func(t *tally) confusion { return t.threshold }),
		AtPlugIn:        f1(func(t *tally) confusion { return t.plugIn }),
		AtTopK:          f1(func(t *tally) confusion { return t.topK }),
		AtTopKThreshold: f1(func(t *tally) confusion { return t.topKThreshold }),
		Brier:           mapGroups(pooled, (*calibration).brier),
		ECE:             mapGroups(pooled, func(c *calibration) Number { return c.probability.error() }),
		ConfidenceECE:   mapGroups(pooled, func(c *calibration) Number { return c.confidence.error() }),
	}
}

func mapGroups[A, B any](g ByGroup[A], f func(A) B) ByGroup[B] {
	out := ByGroup[B]{All: f(g.All)}
	for _, v := range g.Group {
		out.Group = append(out.Group, f(v))
	}
	return out
}

func newHuman(g groups, words []Agreement) *Human {
	means := func(f func(Agreement) Number) ByGroup[Number] {
		return groupMeans(g, func(c int) Number { return f(words[c]) })
	}
	return &Human{
		AP:                     means(func(a Agreement) Number { return a.AP }),
		Precision:              means(func(a Agreement) Number { return a.Precision }),
		Recall:                 means(func(a Agreement) Number { return a.Recall }),
		PrecisionAtHumanRecall: means(func(a Agreement) Number { return a.PrecisionAtHumanRecall }),
		Seen:                   groupSeen(g, func(c int) Number { return words[c].AP }),
	}
}
