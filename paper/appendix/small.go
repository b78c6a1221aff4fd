package appendix

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"nmn/internal/rng"
	"nmn/labels"
	"nmn/labels/rates"
	"nmn/labels/rates/em"
	"nmn/paper/claims"
)

// Size of the small problem: bags, classes, and features. The first feature is 1.
const (
	bags     = 400
	classes  = 2
	features = 3
)

// Where both ways begin: rates, and weights of 0.
const startQ01, startQ10 = .2, .05

// Solution is the small problem solved by both ways.
type Solution struct {
	Seed        uint64
	GradientGap float64 // the largest difference between the gradients that both give the classifier
	// RateGap is the mean difference of the final noise rates, and LikelihoodGap the difference of the final
	// log-likelihoods, in nats a bag.
	RateGap, LikelihoodGap float64
	// Rounds counts the rounds of EM. Each round fits the classifier completely. Gradients counts the
	// gradients over all bags in joint training.
	Rounds, Gradients int
}

// Solve draws a small problem (a logistic classifier, noise that depends on the true label) and solves it by EM as the
// appendix has it, rates by the likelihood, and by joint training: conjugate gradients of classifier and rates at once.
func Solve(ctx context.Context, seed uint64) (*Solution, error) {
	p := draw(seed)
	s := &Solution{Seed: seed}
	var err error
	if s.GradientGap, err = gradientGap(seed); err != nil {
		return nil, fmt.Errorf("appendix: %w", err)
	}
	o := em.DefaultOptions()
	o.NoiseStep, o.Rounds, o.Tolerance = em.ByLikelihood, 2000, 1e-11
	start := labels.Rates{
		Q01: slices.Repeat([]float64{startQ01}, classes), Q10: slices.Repeat([]float64{startQ10}, classes),
	}
	found, err := em.Run(ctx, p, p.labels, bags, classes, start, o)
	if err != nil {
		return nil, fmt.Errorf("appendix: EM: %w", err)
	}
	s.Rounds = len(found.LogLikelihood) - 1
	j, gradients := p.joint()
	s.Gradients = gradients
	for c := range classes {
		q01, q10 := j.rates(c)
		s.RateGap += (math.Abs(q01-found.Rates.Q01[c]) + math.Abs(q10-found.Rates.Q10[c])) / (2 * classes)
	}
	s.LikelihoodGap = math.Abs(j.surprise()+found.LogLikelihood[s.Rounds]) / bags
	return s, nil
}

// Results are the figures of a solution that package claims checks.
func (s *Solution) Results() []claims.Result {
	gradient := claims.Result{Part: "em", Data: claims.SmallProblem, Arm: "em", Seed: s.Seed, Words: claims.All,
		Metric: claims.GradientGap, Value: s.GradientGap}
	point := gradient
	point.Metric, point.Value = claims.FixedPointGap, s.RateGap
	return []claims.Result{gradient, point}
}

// problem is a logistic classifier of each class on a few features, with noisy labels.
type problem struct {
	x       [][]float64 // bags × features
	labels  []uint8     // bags × classes
	weights [][]float64 // classes × features
}

// draw makes features, linear truths and noisy labels. The classifier starts untrained.
func draw(seed uint64) *problem {
	s := rng.New(rng.Derive(seed, "appendix/small"))
	p := &problem{labels: make([]uint8, bags*classes)}
	truth := make([][]float64, classes)
	for c := range truth {
		truth[c] = []float64{s.Normal(0, .4), 2 + s.Float64(), -2 - s.Float64()}
		p.weights = append(p.weights, make([]float64, features))
	}
	for i := range bags {
		p.x = append(p.x, []float64{1, s.Normal(0, 1), s.Normal(0, 1)})
		for c, w := range truth {
			y := s.Float64() < rates.Sigmoid(dot(w, p.x[i]))
			if flip := s.Float64(); y && flip >= .3 || !y && flip < .1 {
				p.labels[i*classes+c] = 1
			}
		}
	}
	return p
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// Logits implements em.Classifier.
func (p *problem) Logits(out []float64) error {
	for i := range out {
		out[i] = dot(p.weights[i%classes], p.x[i/classes])
	}
	return nil
}

// Fit implements em.Classifier: Newton's method on the auxiliary function, to its maximum.
func (p *problem) Fit(_ context.Context, posteriors []float64) error {
	for c, w := range p.weights {
		for range 4 {
			var gradient [features]float64
			var hessian [features * features]float64
			for i, x := range p.x {
				p1 := rates.Sigmoid(dot(w, x))
				for d := range features {
					gradient[d] += (posteriors[i*classes+c] - p1) * x[d]
					for e := range features {
						hessian[d*features+e] += p1 * (1 - p1) * x[d] * x[e]
					}
				}
			}
			var step mat.VecDense
			if err := step.SolveVec(mat.NewSymDense(features, hessian[:]), mat.NewVecDense(features, gradient[:])); err != nil {
				return err
			}
			for d := range w {
				w[d] += step.AtVec(d)
			}
		}
	}
	return nil
}

// together are the weights and the log-odds of both rates of each class, as joint training moves them.
type together struct {
	*problem
	at []float64 // classes × (features + 2)
}

func (t *together) of(c int) []float64 { return t.at[c*(features+2) : (c+1)*(features+2)] }

func (t *together) rates(c int) (q01, q10 float64) {
	return rates.Sigmoid(t.of(c)[features]), rates.Sigmoid(t.of(c)[features+1])
}

// surprise is the sum of -log p(z|I).
func (t *together) surprise() (sum float64) {
	for i, x := range t.x {
		for c := range classes {
			q01, q10 := t.rates(c)
			sum += surprise(dot(t.of(c)[:features], x), t.labels[i*classes+c], q01, q10)
		}
	}
	return sum
}

// gradient is that of surprise: dL/do = p1 - rho_1, and for the log-odds of a rate -rho_j (delta - q).
func (t *together) gradient(out []float64) {
	clear(out)
	for i, x := range t.x {
		for c := range classes {
			g := out[c*(features+2) : (c+1)*(features+2)]
			q01, q10 := t.rates(c)
			z := t.labels[i*classes+c]
			o := dot(t.of(c)[:features], x)
			rho := rates.Posterior(o, z, q01, q10)
			for d := range x {
				g[d] += (rates.Sigmoid(o) - rho) * x[d]
			}
			g[features] -= rho * (float64(1-z) - q01)
			g[features+1] -= (1 - rho) * (float64(z) - q10)
		}
	}
}

// joint minimises the surprise over everything at once, by conjugate gradients (Polak and Ribière), and counts the
// gradients of all bags.
func (p *problem) joint() (t *together, gradients int) {
	t = &together{problem: p, at: make([]float64, classes*(features+2))}
	for c := range classes {
		t.of(c)[features], t.of(c)[features+1] = logit(startQ01), logit(startQ10)
	}
	n := len(t.at)
	g, next, along := make([]float64, n), make([]float64, n), make([]float64, n)
	t.gradient(g)
	floats.ScaleTo(along, -1, g)
	step := 1e-3
	for gradients = 1; gradients < 2000 && floats.Norm(g, 2) > 1e-4; gradients++ {
		if floats.Dot(along, g) >= 0 {
			floats.ScaleTo(along, -1, g)
		}
		step = t.descend(along, floats.Dot(along, g), 4*step)
		t.gradient(next)
		beta := max(0, (floats.Dot(next, next)-floats.Dot(next, g))/floats.Dot(g, g))
		floats.Scale(beta, along)
		floats.Sub(along, next)
		copy(g, next)
	}
	return t, gradients
}

// descend goes along a direction of a slope below 0, by a step that is halved until it lowers the surprise enough.
func (t *together) descend(along []float64, slope, step float64) float64 {
	before := t.surprise()
	for ; ; step /= 2 {
		floats.AddScaled(t.at, step, along)
		if t.surprise() <= before+1e-4*step*slope || step < 1e-14 {
			return step
		}
		floats.AddScaled(t.at, -step, along)
	}
}

func logit(p float64) float64 { return math.Log(p / (1 - p)) }
