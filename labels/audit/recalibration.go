package audit

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"nmn/labels/rates"
	"nmn/text"
)

// Recalibration corrects the log-odds m that labels are wrong, given a reviewer's decisions on some of them:
//
//	m' = s·g(m) + t_z
//	g(m) = m up to ±8, and ±(8 + log(1+|m|-8)/10) beyond
//
// s is the slope, which all labels share. t_z is the shift of the labels z: t_0 for labels that may be
// missing, t_1 for labels that may be incorrect. As s is above 0 and g increases, labels of a kind keep their
// order. Weak nets give some labels very large log-odds; g bounds these, so that decisions can move them. The
// parameters are the most probable ones given the decisions, if an accepted suspect is wrong and a rejected
// one is right,
//
//	max  Σ log σ(±m') - (log s)²/(2·¼²) - (t_0² + t_1²)/2
//
// with the sum over the decided labels of audited classes, + if the label was accepted. The standard
// deviations ¼ and 1 of these priors leave .99 at .94 after one rejection of .99, and bring it to .3 after 61
// of 83.
type Recalibration struct {
	Slope float64    `json:"slope"` // s
	Shift [2]float64 `json:"shift"` // t_z
}

// Standard deviations of the priors, and the log-odds from which g flattens.
const (
	slopeDeviation = .25
	shiftDeviation = 1
	flatFrom       = 8
)

// flattened is g.
func flattened(m float64) float64 {
	if beyond := math.Abs(m) - flatFrom; beyond > 0 {
		return math.Copysign(flatFrom+math.Log1p(beyond)/10, m)
	}
	return m
}

// of returns m' of a label z.
func (r *Recalibration) of(z uint8, m float64) float64 { return r.Slope*flattened(m) + r.Shift[z] }

// Decided compares the reviewer's decisions with the expectation for these labels before them. Only labels of
// audited classes count.
type Decided struct {
	Labels   int     `json:"labels"`
	Suspects int     `json:"suspects"` // over the labels, before the recalibration
	Wrong    int     `json:"wrong"`    // accepted
	Expected float64 `json:"expected"` // labels that were expected to be wrong
	// Recalibration is what follows from it for all labels.
	Recalibration
	Note string `json:"note"` // the comparison as a sentence
}

// verdictOn is a verdict on a label z whose log-odds of being wrong are m.
type verdictOn struct {
	z     uint8
	m     float64
	wrong bool
}

// compare compares decisions with what was expected, and fits the recalibration; it is nil without a decision on an
// audited class. Suspects are wrong with at least the probability minError.
func (in *Input) compare(d Decisions, minError float64) *Decided {
	posteriors := in.posteriors()
	var all []verdictOn
	for _, cell := range slices.SortedFunc(maps.Keys(d), func(a, b Cell) int {
		return cmp.Or(cmp.Compare(a.Bag, b.Bag), cmp.Compare(a.Class, b.Class))
	}) {
		bag, class := int(cell.Bag), int(cell.Class)
		if in.audited(class) {
			at := bag*in.Classes + class
			m := posteriors[class].uncorrected(in.Labels[at], in.judged()[at])
			all = append(all, verdictOn{in.Labels[at], m, d[cell] == Accept})
		}
	}
	if len(all) == 0 {
		return nil
	}
	out, variance := &Decided{Labels: len(all), Recalibration: recalibrated(all)}, 0.0
	for _, v := range all {
		p := rates.Sigmoid(v.m)
		out.Expected += p
		variance += p * (1 - p)
		if v.wrong {
			out.Wrong++
		}
		if p >= minError {
			out.Suspects++
		}
	}
	out.Note = out.sentence(variance)
	return out
}

// sentence compares the shares only if their difference is beyond chance: 1.96 standard deviations and half a label.
func (d *Decided) sentence(variance float64) string {
	labels := text.Count(d.Labels, "labels")
	if math.Abs(float64(d.Wrong)-d.Expected) <= 1.96*math.Sqrt(variance)+.5 {
		return fmt.Sprintf("Of %s with decisions, %d were wrong and %d were right.", labels, d.Wrong, d.Labels-d.Wrong)
	}
	return fmt.Sprintf("Of %s with decisions, %.1f %% were expected to be wrong and %.1f %% are, so the probabilities of "+
		"all labels are corrected.", labels, 100*d.Expected/float64(d.Labels), 100*float64(d.Wrong)/float64(d.Labels))
}

// recalibrated fits a recalibration by Newton's method on log s, t_0 and t_1, with the expected curvature, which is
// positive, and halved steps.
func recalibrated(verdicts []verdictOn) Recalibration {
	var at [3]float64
	cost, gradient, curvature := penalty(verdicts, at)
	for range 200 {
		step := rates.Solve(curvature[:], gradient[:])
		length := 1.0
		for ; length > 1e-9; length /= 2 {
			next := at
			for i := range next {
				next[i] -= length * step[i]
			}
			c, g, h := penalty(verdicts, next)
			if c < cost {
				at, cost, gradient, curvature = next, c, g, h
				break
			}
		}
		if length <= 1e-9 {
			break
		}
	}
	return Recalibration{Slope: math.Exp(at[0]), Shift: [2]float64{at[1], at[2]}}
}

// penalty returns the negative logarithm of the posterior probability of log s, t_0 and t_1, up to a
// constant, with its gradient and expected curvature. Only the lower triangle of the curvature is set.
func penalty(verdicts []verdictOn, at [3]float64) (cost float64, gradient [3]float64, curvature [9]float64) {
	for i, deviation := range []float64{slopeDeviation, shiftDeviation, shiftDeviation} {
		precision := 1 / (deviation * deviation)
		cost += at[i] * at[i] * precision / 2
		gradient[i], curvature[4*i] = at[i]*precision, precision
	}
	r := Recalibration{Slope: math.Exp(at[0]), Shift: [2]float64{at[1], at[2]}}
	for _, v := range verdicts {
		m := r.of(v.z, v.m)
		p := rates.Sigmoid(m)
		off := p
		if v.wrong {
			off, m = p-1, -m
		}
		cost += rates.Softplus(m)
		slope, shift := r.Slope*flattened(v.m), 1+int(v.z)
		gradient[0] += off * slope
		gradient[shift] += off
		w := p * (1 - p)
		curvature[0] += w * slope * slope
		curvature[3*shift] += w * slope
		curvature[4*shift] += w
	}
	return cost, gradient, curvature
}
