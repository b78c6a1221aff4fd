package misplaced

import (
	"context"

	"nmn/eval"
)

// Outcome reports the dropped captions, and where the others are written.
type Outcome struct {
	File      string `json:"file"`
	Kept      int    `json:"kept"`
	Dropped   int    `json:"dropped"`
	Automatic int    `json:"automatic"` // dropped by the threshold
	Decided   int    `json:"decided"`   // dropped by a reviewer
	Rescued   int    `json:"rescued"`   // below the threshold, kept by a reviewer
	// EmptyBags have no caption left, and had one.
	EmptyBags int `json:"empty_samples"`
	// ExpectedPrecision is the mean probability to be foreign of the automatic ones.
	ExpectedPrecision eval.Number `json:"expected_precision"`
}

// Apply writes the file of captions without the dropped ones, in the form in which they were read: see
// annotation.Bags.WriteWithout. The reviewer's decisions, which may be nil, are applied whatever the
// probabilities are. After a refusal only decisions drop captions.
func (r *Report) Apply(ctx context.Context, path string, decisions Decisions) (*Outcome, error) {
	o := &Outcome{File: path}
	dropped := map[string]bool{}
	sum := 0.0
	for b, captions := range r.Captions {
		left := 0
		for c, caption := range captions {
			switch verdict := decisions[caption.ID]; {
			case verdict == Drop:
				o.Decided++
			case r.Dropped[b][c] && verdict == Keep:
				o.Rescued++
				left++
				continue
			case r.Dropped[b][c]:
				o.Automatic++
				sum += 1 - r.Own[b][c]
			default:
				left++
				continue
			}
			dropped[caption.ID] = true
		}
		if left == 0 && len(captions) > 0 {
			o.EmptyBags++
		}
	}
	o.Dropped = len(dropped)
	o.Kept = r.Len() - o.Dropped
	o.ExpectedPrecision = eval.Number(sum / float64(o.Automatic)) // NaN for 0/0
	return o, r.WriteWithout(ctx, path, dropped)
}
