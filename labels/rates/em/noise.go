package em

import (
	"math"

	"nmn/labels/rates"
)

// leastRate keeps rates away from 0 and 1, which EM would never leave.
const leastRate = 1e-6

// expected holds expected numbers: true labels and the missing ones among them, and false labels and the
// observed ones among them.
type expected struct{ true1, missing, true0, incorrect float64 }

func (e *expected) add(rho float64, z uint8) {
	e.true1 += rho
	e.true0 += 1 - rho
	if z == 0 {
		e.missing += rho
	} else {
		e.incorrect += 1 - rho
	}
}

func (e expected) rates() (q01, q10 float64) {
	return share(e.missing, e.true1), share(e.incorrect, e.true0)
}

func share(part, whole float64) float64 {
	if whole == 0 {
		return leastRate
	}
	return min(max(part/whole, leastRate), 1-leastRate)
}

// count sets the rates of all classes from the posteriors.
func (s *state) count() {
	for c := range s.classes {
		var n expected
		for i := c; i < len(s.labels); i += s.classes {
			n.add(s.posteriors[i], s.labels[i])
		}
		s.rates.Q01[c], s.rates.Q10[c] = n.rates()
	}
}

// maximise sets the rates of a class to those with the largest likelihood for the logits as they are,
// by counting until nothing moves. The likelihood is concave in them, so that it is the largest there
// is.
func (s *state) maximise(c int) {
	const rounds, tolerance = 500, 1e-9
	for range rounds {
		logOdds := [2]float64{rates.LabelLogOdds(0, s.rates.Q01[c], s.rates.Q10[c]),
			rates.LabelLogOdds(1, s.rates.Q01[c], s.rates.Q10[c])}
		var n expected
		for i := c; i < len(s.labels); i += s.classes {
			n.add(rates.Sigmoid(s.logits[i]+logOdds[s.labels[i]]), s.labels[i])
		}
		q01, q10 := n.rates()
		moved := math.Abs(q01-s.rates.Q01[c]) + math.Abs(q10-s.rates.Q10[c])
		s.rates.Q01[c], s.rates.Q10[c] = q01, q10
		if moved < tolerance {
			return
		}
	}
}

// logLikelihood is the sum of log p(z) over all cells.
func (s *state) logLikelihood() float64 {
	sum := 0.0
	for i, z := range s.labels {
		q01, q10 := s.rates.Q01[i%s.classes], s.rates.Q10[i%s.classes]
		p, not := rates.Sigmoid(s.logits[i]), rates.Sigmoid(-s.logits[i])
		if z == 1 {
			sum += math.Log((1-q01)*p + q10*not)
		} else {
			sum += math.Log(q01*p + (1-q10)*not)
		}
	}
	return sum
}
