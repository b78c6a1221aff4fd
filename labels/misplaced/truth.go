package misplaced

import (
	"cmp"
	"slices"

	"nmn/eval"
)

// Judgement compares the result with captions that are known to be foreign or not. Figures without data are
// undefined.
type Judgement struct {
	Foreign     int         `json:"foreign"`      // captions that are
	AUC         eval.Number `json:"auc"`          // probability that a foreign caption ranks below one of its bag's own
	Precision   eval.Number `json:"precision"`    // share of dropped captions that are foreign
	Recall      eval.Number `json:"recall"`       // share of foreign captions that are dropped
	ForeignKept eval.Number `json:"foreign_kept"` // share of kept captions that are foreign
}

// Judge holds the captions that are kept, and the order of all by their probability, against the truth.
func (r *Result) Judge(foreign, kept [][]bool) Judgement {
	type caption struct {
		own     float64
		foreign bool
	}
	var all []caption
	var j Judgement
	dropped, right := 0, 0
	for n, of := range foreign {
		for c, f := range of {
			all = append(all, caption{r.Own[n][c], f})
			if f {
				j.Foreign++
			}
			if !kept[n][c] {
				dropped++
				if f {
					right++
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b caption) int { return cmp.Compare(a.own, b.own) })
	below, sum := 0.0, 0.0 // foreign captions below, and pairs in order; equal ones count half
	for i := 0; i < len(all); {
		own, others := 0.0, 0.0
		for at := all[i].own; i < len(all) && all[i].own == at; i++ {
			if all[i].foreign {
				others++
			} else {
				own++
			}
		}
		sum += own * (below + others/2)
		below += others
	}
	j.AUC = eval.Number(sum / (float64(j.Foreign) * float64(len(all)-j.Foreign))) // NaN for 0/0
	j.Precision, j.Recall = eval.Share(right, dropped), eval.Share(right, j.Foreign)
	j.ForeignKept = eval.Share(j.Foreign-right, len(all)-dropped)
	return j
}
