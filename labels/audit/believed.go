package audit

import (
	"math"

	"nmn/internal/parallel"
	"nmn/labels/rates"
)

// judge tells of a class what a score says about a label.
type judge struct {
	// One noise model: its calibration, and the evidence of a label 0 and 1.
	a, b    float64
	logOdds [2]float64
	// Several models: tables over the scores of the class, of the log-odds that a label 0 and a label 1 is wrong, and of
	// those of p(y=1). Between two places they are linear, so that the scores of a class keep their order.
	first, perLogit float64
	tables          [3][]float64
	// What people have decided corrects the log-odds of either; nil for nothing.
	recalibration *Recalibration
}

// places is how many scores a table has: 20 logits are .04 apart.
const places = 512

// margin is the log-odds that a label is wrong. With one model and s = a o + b + L_z the logit of rho, it is s where z = 0
// and -s where z = 1.
func (j *judge) margin(z uint8, score float32) float64 {
	m := j.uncorrected(z, score)
	if j.recalibration != nil {
		return j.recalibration.of(z, m)
	}
	return m
}

func (j *judge) uncorrected(z uint8, score float32) float64 {
	if j.tables[z] != nil {
		return j.at(int(z), score)
	}
	s := j.a*float64(score) + j.b + j.logOdds[z]
	if z == 1 {
		return -s
	}
	return s
}

// logit is that of p(y=1|I).
func (j *judge) logit(score float32) float64 {
	if j.tables[2] != nil {
		return j.at(2, score)
	}
	return j.a*float64(score) + j.b
}

func (j *judge) at(table int, score float32) float64 {
	values := j.tables[table]
	place := max((float64(score)-j.first)*j.perLogit, 0)
	i := min(int(place), len(values)-2)
	return values[i] + (place-float64(i))*(values[i+1]-values[i])
}

// judges are those of all classes.
func (in *Input) judges() []judge {
	out := make([]judge, in.Classes)
	for c := range out {
		j := &out[c]
		j.recalibration = in.Recalibration
		if j.a = 1; in.A != nil {
			j.a, j.b = in.A[c], in.B[c]
		}
		for z := range j.logOdds {
			j.logOdds[z] = rates.LabelLogOdds(uint8(z), in.Rates.Q01[c], in.Rates.Q10[c])
		}
	}
	if in.Beliefs == nil {
		return out
	}
	low, high := make([]float32, in.Classes), make([]float32, in.Classes)
	copy(low, in.Logits)
	copy(high, in.Logits)
	for i, o := range in.Logits {
		c := i % in.Classes
		low[c], high[c] = min(low[c], o), max(high[c], o)
	}
	parallel.Each(in.Classes, func(c int) {
		if in.Beliefs[c] != nil {
			out[c].tabulate(in.Beliefs[c], float64(low[c]), float64(high[c]))
		}
	})
	return out
}

// tabulate averages what the models say of scores from one up to another:
//
//	p(wrong|z,o) = sum over models m of  weight_m p_m(y≠z|z,o)
func (j *judge) tabulate(models []rates.Belief, low, high float64) {
	if high <= low {
		high = low + 1
	}
	j.first, j.perLogit = low, (places-1)/(high-low)
	for z := range j.tables {
		j.tables[z] = make([]float64, places)
	}
	for i := range places {
		score := low + float64(i)/j.perLogit
		var is, isNot [3]float64 // of each table the probability, and that of the contrary, which may be far smaller than 1
		for _, m := range models {
			o := m.A*score + m.B
			for z, s := range [3]float64{o + rates.LabelLogOdds(0, m.Q01, m.Q10), -o - rates.LabelLogOdds(1, m.Q01, m.Q10), o} {
				is[z] += m.Weight * rates.Sigmoid(s)
				isNot[z] += m.Weight * rates.Sigmoid(-s)
			}
		}
		for z := range j.tables {
			j.tables[z][i] = math.Log(is[z]) - math.Log(isNot[z])
		}
	}
}
