package annotators

import "context"

// Ridge of the calibration of logits: slopes are drawn to 1 and offsets to 0, as with captions as witnesses.
const (
	slopeRidge  = 50.
	offsetRidge = 5.
)

// slope holds the sums for a Newton step of a class's calibration: gradient and curvature over bags.
type slope struct{ ga, gb, haa, hab, hbb float64 }

func (s *slope) add(o *slope) {
	s.ga += o.ga
	s.gb += o.gb
	s.haa += o.haa
	s.hab += o.hab
	s.hbb += o.hbb
}

// move changes the expected label of a bag with logit o.
func (s *slope) move(difference, o float64) {
	s.ga += difference * o
	s.gb += difference
}

// step is the Newton step of slope a and offset b.
func (s *slope) step(a, b float64) (da, db float64) {
	ga, gb := s.ga-slopeRidge*(a-1), s.gb-offsetRidge*b
	haa, hbb := s.haa+slopeRidge, s.hbb+offsetRidge
	det := haa*hbb - s.hab*s.hab
	return (hbb*ga - s.hab*gb) / det, (haa*gb - s.hab*ga) / det
}

// calibrate makes a Newton step of the logistic regression of the posterior on the logits, class by class.
func (e *estimator) calibrate() {
	for k := range e.a {
		e.stepA[k], e.stepB[k] = e.total.calibrated[k].step(e.a[k], e.b[k])
		e.a[k] += e.stepA[k]
		e.b[k] += e.stepB[k]
	}
}

// retreat halves the last step of the calibration until the objective is no lower than before: far from the maximum a
// Newton step may lead beyond it. The rates keep theirs, which never lowers the objective.
func (e *estimator) retreat(ctx context.Context, last float64) error {
	for range 30 {
		for k := range e.a {
			e.stepA[k] /= 2
			e.stepB[k] /= 2
			e.a[k] -= e.stepA[k]
			e.b[k] -= e.stepB[k]
		}
		if err := e.expect(ctx); err != nil || e.objective >= last {
			return err
		}
	}
	return nil
}

// scored is the background of bags with logits.
type scored struct{ e *estimator }

func (b scored) bag(s *sums, bag int) (expected, likelihood float64) {
	e := b.e
	row := e.in.Logits[bag*e.in.Classes : (bag+1)*e.in.Classes]
	for k, logit := range row {
		o := float64(logit)
		base := e.a[k]*o + e.b[k]
		p, soft := sigmoidSoftplus(base)
		rho, with := sigmoidSoftplus(base + e.whole[bag])
		expected += rho
		likelihood += with - soft
		s.class[k] += rho
		v := p * (1 - p)
		s.calibrated[k].add(&slope{ga: (rho - p) * o, gb: rho - p, haa: v * o * o, hab: v * o, hbb: v})
	}
	return expected, likelihood
}

func (b scored) finish(*sums) {}
