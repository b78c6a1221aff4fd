package eval

import (
	"math"

	"nmn/format/table"
)

// OneClass holds the measures of data in which each bag has exactly one of K classes.
type OneClass struct {
	Bags     int    `json:"samples"`           // with exactly one label
	Accuracy Number `json:"accuracy"`          // share of bags whose most probable class is the label
	Top5     Number `json:"top5_accuracy"`     // share with the label among the five most probable; undefined up to K = 5
	Balanced Number `json:"balanced_accuracy"` // mean over the labels of the share that is found
	// Confusion counts bags, K×K with the row of the label and the column of the most probable class. It is
	// nil above 200 classes.
	Confusion []int `json:"confusion,omitempty"`
}

const (
	topFive       = 5
	mostConfusion = 200 // the largest number of classes whose confusion is kept
)

// oneClass adds the measures of exclusive classes, and replaces the log loss by that of the one class.
func (m *MultiLabel) oneClass(in *Input, scores []float32, labels []uint8) {
	if !in.Exclusive {
		return
	}
	k := in.Classes
	o, confusion := &OneClass{Top5: Undefined()}, make([]int, k*k)
	right, top, nats := 0, 0, 0.0
	for bag := range in.Bags {
		label := int(table.OnlyClass(labels[bag*k : (bag+1)*k]))
		if label == table.UnknownClass {
			continue
		}
		row := scores[bag*k : (bag+1)*k]
		best, above := 0, 0
		for c, s := range row {
			if s > row[best] {
				best = c
			}
			if s > row[label] || s == row[label] && c < label {
				above++
			}
		}
		o.Bags++
		confusion[label*k+best]++
		if best == label {
			right++
		}
		if above < topFive {
			top++
		}
		nats += oneClassNats(row[label], in.Logits)
	}
	o.Accuracy, m.LogLoss = Share(right, o.Bags), Number(nats/float64(o.Bags))
	if k > topFive {
		o.Top5 = Share(top, o.Bags)
	}
	found := make([]Number, k)
	for label := range k {
		all := 0
		for _, n := range confusion[label*k : (label+1)*k] {
			all += n
		}
		found[label] = Share(confusion[label*k+label], all)
	}
	o.Balanced, _ = mean(found)
	if k <= mostConfusion {
		o.Confusion = confusion
	}
	m.OneClass = o
}

// oneClassNats is the negative log-likelihood of a class with this score.
func oneClassNats(score float32, logits bool) float64 {
	if !logits {
		return min(-math.Log(max(float64(score), 0)), mostLogOdds)
	}
	o := min(max(float64(score), -mostLogOdds), mostLogOdds)
	return softplus(-o)
}
