package annotators

import (
	"math"

	"nmn/labels/rates"
)

// information is the observed information of an annotator's pair, on the scale of logits (Louis, JRSS B 44,
// 1982): the information if the truth were known, less the part lost because it is hidden. The other
// annotators are held fixed.
type information struct{ i01, both, i10 float64 }

// uncertain are sums of p(y=1) p(y=0) over the labels of an annotator, those that it gave and those that it did not.
type uncertain struct{ given, absent float64 }

func (q pair) information(t confusion, u uncertain, weight pair) information {
	return information{
		i01: (t.missed+t.found+weight.q01)*q.q01*(1-q.q01) -
			u.absent*(1-q.q01)*(1-q.q01) - u.given*q.q01*q.q01,
		i10: (t.absent+t.invented+weight.q10)*q.q10*(1-q.q10) -
			u.absent*q.q10*q.q10 - u.given*(1-q.q10)*(1-q.q10),
		both: -(u.absent*(1-q.q01)*q.q10 + u.given*q.q01*(1-q.q10)),
	}
}

// covariance inverts the information; ok is false where labels leave the pair open.
func (i information) covariance() (v information, ok bool) {
	det := i.i01*i.i10 - i.both*i.both
	if !(i.i01 > 0 && det > 1e-12*i.i01*i.i10) {
		return information{}, false
	}
	return information{i.i10 / det, -i.both / det, i.i01 / det}, true
}

// unbounded are the intervals of an annotator whose rates are not its own.
func unbounded() (q01, q10 rates.Interval) {
	nan := math.NaN()
	return rates.Interval{Low: nan, High: nan}, rates.Interval{Low: nan, High: nan}
}

// around is the interval of a rate by the normal distribution of its logit.
func around(q, variance, z float64) rates.Interval {
	o, reach := math.Log(q)-math.Log1p(-q), z*math.Sqrt(variance)
	low, _ := sigmoidSoftplus(o - reach)
	high, _ := sigmoidSoftplus(o + reach)
	return rates.Interval{Low: low, High: high}
}

// informedness is 1 - q01 - q10 with its standard error.
func (q pair) informedness(v information) (value, deviation float64) {
	d01, d10 := q.q01*(1-q.q01), q.q10*(1-q.q10)
	return 1 - q.q01 - q.q10, math.Sqrt(max(d01*d01*v.i01+d10*d10*v.i10+2*d01*d10*v.both, 0))
}

// quantile is how many standard deviations hold so much of a normal distribution.
func quantile(confidence float64) float64 { return math.Sqrt2 * math.Erfinv(confidence) }
