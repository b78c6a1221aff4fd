package eval

import (
	"math"

	"nmn/format/table"
)

// mostLogOdds bounds log-odds in the log loss: an infinite one, of a probability that has rounded to 0
// or 1, costs no more than this.
const mostLogOdds = 100

// logLoss is the mean over bags of the negative log-likelihood of their known labels, summed over classes.
func logLoss(scores []float32, labels []uint8, logits bool, bags int) Number {
	sum := 0.0
	for i, s := range scores {
		if labels[i] == table.Unknown {
			continue
		}
		o := float64(s)
		if !logits {
			p := min(max(o, 0), 1)
			o = math.Log(p) - math.Log1p(-p)
		}
		o = min(max(o, -mostLogOdds), mostLogOdds)
		if labels[i] == 1 {
			o = -o
		}
		sum += softplus(o)
	}
	return Number(sum / float64(bags))
}

// softplus is log(1+exp(x)), without overflow.
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }
