package train

import (
	"math"
	"testing"
)

// The loss of an asl step follows the equation of Ridnik et al., with an exponent for each kind of label: L =
// - z (1-p)^gamma+ log p - (1-z) m^gamma- log(1-m), m = max(p - margin, 0).
func TestLoss_AsymmetricIsThatOfItsEquation(t *testing.T) {
	for _, loss := range []LossConfig{
		{Kind: Asymmetric, GammaPositive: 1, GammaNegative: 3, Margin: .1},
		{Kind: Asymmetric, GammaPositive: 2, GammaNegative: 0, Margin: 0},
		DefaultLoss(Asymmetric),
	} {
		r := newRig()
		r.bags, r.config.BatchSize, r.config.MaxSteps, r.config.Loss = 16, 16, 1, loss
		r.config.ClassifierDeviation, r.config.Flip = 2, false // probabilities of all sizes
		var losses []float64
		r.observers = []Observer{record(&losses)}
		o := r.options(t)
		scores, err := Score(t.Context(), o.Net, o.Data, o.loaderConfig())
		check(t, err)
		want := 0.0
		for i, logit := range scores.Logits.Float32s() {
			p, q := 1/(1+math.Exp(-float64(logit))), 1/(1+math.Exp(float64(logit))) // q = 1 - p
			if o.Data.Labels.Uint8s()[i] == 1 {
				want -= math.Pow(q, loss.GammaPositive) * math.Log(p) / 16
			} else {
				m := max(p-loss.Margin, 0)
				want -= math.Pow(m, loss.GammaNegative) * math.Log(min(q+loss.Margin, 1)) / 16 // log(1-m)
			}
		}
		run(t, newTrainer(t, o))
		if len(losses) != 1 || math.Abs(losses[0]-want) > 1e-5*want {
			t.Errorf("%+v: loss of the step %v, want %v", loss, losses, want)
		}
	}
}
