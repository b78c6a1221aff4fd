package misplaced

import "nmn/eval"

// Summary is a report as JSON has it.
type Summary struct {
	Captions int `json:"captions"`
	Bags     int `json:"samples"`
	Words    int `json:"words"`
	// Foreign estimates the share of captions that belong to other bags, undefined if none could be compared;
	// the true share is probably in the interval.
	Foreign  eval.Number `json:"foreign"`
	Interval *Interval   `json:"foreign_interval,omitempty"`
	Gain     eval.Number `json:"gain"` // nats a caption by which they are foretold better when some may be foreign
	// Refused explains why nothing is dropped; empty if captions may be dropped.
	Refused string   `json:"refused"`
	Remarks []string `json:"remarks"`
	// Dropped are the captions below the threshold, and ExpectedPrecision their mean probability to be foreign, which is
	// at least Precision.
	Precision         float64     `json:"precision"`
	Threshold         float64     `json:"threshold"`
	Dropped           int         `json:"dropped"`
	ExpectedPrecision eval.Number `json:"expected_precision"`
	Worst             []Finding   `json:"worst"`
	Truth             *Judgement  `json:"truth,omitempty"`
	Applied           *Outcome    `json:"applied,omitempty"`
}

// Finding is a caption with what speaks against it.
type Finding struct {
	Caption string  `json:"annotation_id"`
	Bag     string  `json:"image_id"`
	Own     float64 `json:"own"`
	Text    string  `json:"caption"`
	// Against are words of the caption that speak against it, Lacks those that it lacks although its bag speaks of them.
	Against []string `json:"against"`
	Lacks   []string `json:"lacks"`
}

// ReasonsShown is how many words against a caption are listed.
const ReasonsShown = 6

// Worst are the findings of the least probable captions, at most n. Those that nothing speaks against, of their bags
// with probability 1, are not among them.
func (r *Report) Worst(n int) []Finding {
	out := []Finding{}
	for _, p := range r.Lowest(max(n, 0)) {
		if r.Own[p[0]][p[1]] == 1 {
			break
		}
		caption := r.Captions[p[0]][p[1]]
		f := Finding{Caption: caption.ID, Bag: r.IDs[p[0]], Own: r.Own[p[0]][p[1]], Text: caption.Text,
			Against: []string{}, Lacks: []string{}}
		has, lacks := r.Against(p[0], p[1], ReasonsShown)
		f.Against, f.Lacks = append(f.Against, has...), append(f.Lacks, lacks...)
		out = append(out, f)
	}
	return out
}

// Summary lists at most worst captions. outcome may be nil.
func (r *Report) Summary(worst int, outcome *Outcome) Summary {
	s := Summary{
		Captions: r.Len(), Bags: len(r.IDs), Words: r.Vocabulary.Len(), Foreign: eval.Number(r.Foreign),
		Gain: eval.Number(r.Gain), Refused: string(r.Refusal), Remarks: append([]string{}, r.Remarks...),
		Precision: r.Options.Precision, Threshold: r.Threshold, Worst: r.Worst(worst), Truth: r.Judgement,
		Applied: outcome,
	}
	if i := r.Interval; i.Low.Defined() {
		s.Interval = &i
	}
	if !r.judged {
		s.Foreign, s.Gain = eval.Undefined(), eval.Undefined()
	}
	s.Dropped, s.ExpectedPrecision = r.Drops()
	return s
}
