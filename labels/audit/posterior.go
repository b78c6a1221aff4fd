package audit

import (
	"math"

	"nmn/internal/parallel"
	"nmn/labels/rates"
)

// posterior turns a score of one class into the log-odds that a label is wrong.
type posterior struct {
	// One noise model: its calibration, and the evidence of a label 0 and 1.
	a, b    float64
	logOdds [2]float64
	// Several models: three tables over the scores of the class. They hold the log-odds that a label 0 is wrong, that a
	// label 1 is, and that y=1. Between two places a table is linear, so that the scores of a class keep their order.
	first, perLogit float64
	tables          [3][]float64
	// recalibration corrects the log-odds of both kinds by the reviewer's decisions; nil corrects nothing.
	recalibration *Recalibration
}

// places is how many scores a table has: 20 logits are .04 apart.
const places = 512

// margin is the log-odds that a label is wrong. With one model and s = a o + b + L_z the logit of rho, it is s where z
// = 0 and -s where z = 1.
func (p *posterior) margin(z uint8, score float32) float64 {
	m := p.uncorrected(z, score)
	if p.recalibration != nil {
		return p.recalibration.of(z, m)
	}
	return m
}

func (p *posterior) uncorrected(z uint8, score float32) float64 {
	if p.tables[z] != nil {
		return p.at(int(z), score)
	}
	s := p.a*float64(score) + p.b + p.logOdds[z]
	if z == 1 {
		return -s
	}
	return s
}

// logit returns the logit of p(y=1|I).
func (p *posterior) logit(score float32) float64 {
	if p.tables[2] != nil {
		return p.at(2, score)
	}
	return p.a*float64(score) + p.b
}

func (p *posterior) at(table int, score float32) float64 {
	values := p.tables[table]
	place := max((float64(score)-p.first)*p.perLogit, 0)
	i := min(int(place), len(values)-2)
	return values[i] + (place-float64(i))*(values[i+1]-values[i])
}

func (in *Input) posteriors() []posterior {
	out := make([]posterior, in.Classes)
	for c := range out {
		p := &out[c]
		p.recalibration = in.Recalibration
		if p.a = 1; in.A != nil {
			p.a, p.b = in.A[c], in.B[c]
		}
		for z := range p.logOdds {
			p.logOdds[z] = rates.LabelLogOdds(uint8(z), in.Rates.Q01[c], in.Rates.Q10[c])
		}
	}
	if in.Beliefs == nil {
		return out
	}
	low, high := make([]float32, in.Classes), make([]float32, in.Classes)
	copy(low, in.judged())
	copy(high, in.judged())
	for bag := range in.Bags {
		for c, o := range in.judged()[bag*in.Classes:][:in.Classes] {
			low[c], high[c] = min(low[c], o), max(high[c], o)
		}
	}
	parallel.Blocks(in.Classes, 1, func(c, _ int) {
		if in.Beliefs[c] != nil {
			out[c].tabulate(in.Beliefs[c], float64(low[c]), float64(high[c]))
		}
	})
	return out
}

// tabulate fills the tables for scores from low to high with the mean over all models:
//
//	p(wrong|z,o) = sum over models m of  weight_m p_m(y≠z|z,o)
func (p *posterior) tabulate(models []rates.Belief, low, high float64) {
	if high <= low {
		high = low + 1
	}
	p.first, p.perLogit = low, (places-1)/(high-low)
	for table := range p.tables {
		p.tables[table] = make([]float64, places)
	}
	logOdds := make([][2]float64, len(models))
	for i, m := range models {
		logOdds[i] = [2]float64{rates.LabelLogOdds(0, m.Q01, m.Q10), rates.LabelLogOdds(1, m.Q01, m.Q10)}
	}
	for at := range places {
		score := low + float64(at)/p.perLogit
		var is, isNot [3]float64 // per table: the probability and its complement, because 1 - p would round
		for i, m := range models {
			o := m.A*score + m.B
			for table, s := range [3]float64{o + logOdds[i][0], -o - logOdds[i][1], o} {
				is[table] += m.Weight * rates.Sigmoid(s)
				isNot[table] += m.Weight * rates.Sigmoid(-s)
			}
		}
		for table := range p.tables {
			p.tables[table][at] = math.Log(is[table]) - math.Log(isNot[table])
		}
	}
}
