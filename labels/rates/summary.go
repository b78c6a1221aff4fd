package rates

import (
	"math"

	"nmn/eval"
)

// cell stands for the bags of a class whose calibrated logits lie close together: their mean score
// and how many of them carry the label and how many do not.
type cell struct {
	score           float64
	present, absent float64
}

// summary is a column in so few cells that its likelihood can be maximised again and again. Cells are
// in the order of their scores.
type summary struct{ cells []cell }

const (
	cellsPerLogit = 32
	cellRange     = 20 // logits; beyond it a sigmoid hardly moves
)

func cellOf(s float64) int {
	return int((within(s, -cellRange, cellRange) + cellRange) * cellsPerLogit)
}

func summarise(m model, c column) summary {
	all := make([]cell, 2*cellRange*cellsPerLogit+1)
	for _, o := range c.present {
		at := &all[cellOf(m.a*float64(o)+m.b)]
		at.present++
		at.score += float64(o)
	}
	for _, o := range c.absent {
		at := &all[cellOf(m.a*float64(o)+m.b)]
		at.absent++
		at.score += float64(o)
	}
	var s summary
	for _, at := range all {
		if n := at.present + at.absent; n > 0 {
			at.score /= n
			s.cells = append(s.cells, at)
		}
	}
	return s
}

// auc is the area under the curve of true against false positives, with bags of one cell tied.
func (s summary) auc() eval.Number {
	var wins, present, absent float64
	for _, c := range s.cells {
		wins += c.present * (absent + c.absent/2)
		present += c.present
		absent += c.absent
	}
	if present == 0 || absent == 0 {
		return eval.Undefined()
	}
	return eval.Number(wins / (present * absent))
}

// aucDeviation is the standard deviation of the area where scores predict nothing (Mann and Whitney).
func aucDeviation(present, absent int) float64 {
	p, a := float64(present), float64(absent)
	return math.Sqrt((p + a + 1) / (12 * p * a))
}
