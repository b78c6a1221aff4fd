package misplaced

import "math"

// logSum adds logarithms by multiplying, and takes the logarithm of several factors at once. Factors must lie between
// 1e-9 and 1e9.
type logSum struct {
	product, sum float64
	factors      int
}

const logsAtOnce = 32

func (s *logSum) times(factor float64) {
	s.product *= factor
	if s.factors++; s.factors == logsAtOnce {
		s.sum += math.Log(s.product)
		s.product, s.factors = 1, 0
	}
}

func (s *logSum) log() float64 { return s.sum + math.Log(s.product) }

// quotients adds logarithms of quotients. It multiplies numerators and denominators, and so avoids a division
// and a logarithm for each. Both must lie between 1e-36 and 1e36, and quotients between 1e-18 and 1e18.
type quotients struct {
	numerator, denominator, product, sum float64
	factors                              int
}

const quotientsAtOnce = 8

func newQuotients() quotients { return quotients{numerator: 1, denominator: 1, product: 1} }

func (q *quotients) times(numerator, denominator float64) {
	q.numerator *= numerator
	q.denominator *= denominator
	if q.factors++; q.factors%quotientsAtOnce == 0 {
		q.divide()
	}
}

// divide takes the quotients so far together, and the logarithm of twice as many.
func (q *quotients) divide() {
	q.product *= q.numerator / q.denominator
	q.numerator, q.denominator = 1, 1
	if q.factors >= 2*quotientsAtOnce {
		q.sum += math.Log(q.product)
		q.product, q.factors = 1, 0
	}
}

func (q *quotients) log() float64 { return q.sum + math.Log(q.product*(q.numerator/q.denominator)) }

// Odds against a word are exp(-logit). Beyond e^40 the word adds nothing: the rates of mentions are at least
// 1e-7, and differ by less than the rounding.
const (
	mostLogit = 40  // for words that captions mention
	mostBase  = 300 // for scores, and for the votes of captions: finite odds
	mostOdds  = 1e25
)

// against are the odds against a word of a logit of p(y=1).
func against(logit, most float64) float64 { return exp(-within(logit, most)) }

func within(x, most float64) float64 {
	if x > most {
		return most
	}
	if x < -most {
		return -most
	}
	return x
}
