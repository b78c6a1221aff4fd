package em

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"nmn/eval"
	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/labels"
	"nmn/labels/rates"
)

// linear is a logistic classifier of each class on a few features; the first is 1.
type linear struct {
	features [][]float64 // N×D
	weights  [][]float64 // K×D
}

func (l *linear) logit(i, c int) (o float64) {
	for d, x := range l.features[i] {
		o += l.weights[c][d] * x
	}
	return o
}

func (l *linear) Logits(out []float64) error {
	k := len(l.weights)
	for i := range out {
		out[i] = l.logit(i/k, i%k)
	}
	return nil
}

// Fit maximises the auxiliary function by Newton's method.
func (l *linear) Fit(_ context.Context, posteriors []float64) error {
	for c := range l.weights {
		for range 6 {
			l.newton(c, posteriors)
		}
	}
	return nil
}

func (l *linear) newton(c int, posteriors []float64) {
	d := len(l.features[0])
	g, h := make([]float64, d), make([][]float64, d)
	for j := range h {
		h[j] = make([]float64, d)
	}
	for i, x := range l.features {
		p := rates.Sigmoid(l.logit(i, c))
		for j := range x {
			g[j] += (posteriors[i*len(l.weights)+c] - p) * x[j]
			for k := range x {
				h[j][k] += p * (1 - p) * x[j] * x[k]
			}
		}
	}
	for j := range h { // Gauss and Jordan; h is positive definite
		for k := range h {
			if k != j {
				f := h[k][j] / h[j][j]
				for m := range h {
					h[k][m] -= f * h[j][m]
				}
				g[k] -= f * g[j]
			}
		}
	}
	for j := range g {
		l.weights[c][j] += g[j] / h[j][j]
	}
}

const bags, classes, features = 600, 2, 3

// problem draws features, a linear truth and noisy labels.
func problem() (*linear, []uint8) {
	s := rng.New(8)
	truth := [][]float64{{-.5, 3, -2}, {.3, -2, -3}}
	l := &linear{}
	labels := make([]uint8, bags*classes)
	for i := range bags {
		x := []float64{1, s.Normal(0, 1), s.Normal(0, 1)}
		l.features = append(l.features, x)
		for c, w := range truth {
			o := 0.0
			for d := range x {
				o += w[d] * x[d]
			}
			y := s.Float64() < rates.Sigmoid(o)
			if y && s.Float64() >= .3 || !y && s.Float64() < .1 {
				labels[i*classes+c] = 1
			}
		}
	}
	for range classes {
		l.weights = append(l.weights, make([]float64, features))
	}
	return l, labels
}

func startRates() labels.Rates {
	return labels.Rates{Q01: []float64{.2, .2}, Q10: []float64{.05, .05}}
}

func run(t *testing.T, c Classifier, labels []uint8, change func(*Options)) *Result {
	t.Helper()
	o := DefaultOptions()
	o.Rounds = 3000
	o.Tolerance = 1e-13
	if change != nil {
		change(&o)
	}
	r, err := Run(t.Context(), c, labels, bags, classes, startRates(), o)
	expect.OK(t, err)
	return r
}

// A run continues from the classifier and the rates of its last round, with the same final result.
func TestRun_GoesOnFromARound(t *testing.T) {
	rounds := func(n int) func(*Options) { return func(o *Options) { o.Rounds, o.Tolerance = n, 0 } }
	whole, z := problem()
	want := run(t, whole, z, rounds(7))
	l, _ := problem()
	part := run(t, l, z, rounds(3))
	got, err := Run(t.Context(), l, z, bags, classes, part.Rates, Options{NoiseStep: ByCounts, Rounds: 4})
	expect.OK(t, err)
	if !slices.Equal(got.Rates.Q01, want.Rates.Q01) || !slices.Equal(got.Rates.Q10, want.Rates.Q10) {
		t.Errorf("rates %+v, without a stop %+v", got.Rates, want.Rates)
	}
	if all := append(part.LogLikelihood, got.LogLikelihood[1:]...); !slices.Equal(all, want.LogLikelihood) {
		t.Errorf("likelihoods %v, without a stop %v", all, want.LogLikelihood)
	}
}

func TestRun_LikelihoodNeverFalls(t *testing.T) {
	for _, step := range []NoiseStep{ByCounts, ByLikelihood} {
		l, labels := problem()
		r := run(t, l, labels, func(o *Options) { o.NoiseStep = step })
		for i := 1; i < len(r.LogLikelihood); i++ {
			if r.LogLikelihood[i] < r.LogLikelihood[i-1]-1e-9 {
				t.Errorf("%s: round %d: log likelihood falls from %.12f to %.12f",
					step, i, r.LogLikelihood[i-1], r.LogLikelihood[i])
			}
		}
		rounds := len(r.LogLikelihood) - 1
		if gain := r.LogLikelihood[rounds] - r.LogLikelihood[0]; rounds == 3000 || gain < 10 {
			t.Errorf("%s: %d rounds, gain %g", step, rounds, gain)
		}
		for c, q := range r.Rates.Q01 {
			if math.Abs(q-.3) > .12 || math.Abs(r.Rates.Q10[c]-.1) > .08 {
				t.Errorf("%s: class %d: q01 %.3f, q10 %.3f, drawn with .3 and .1", step, c, q, r.Rates.Q10[c])
			}
		}
	}
}

// joint climbs log p(z) along its gradient in classifier and rates at once, as training through the
// noise model does: dL/do = p1 - rho_1, and dL/dO_ij = -rho_j (delta_iz - q_ij) for its logits O.
type joint struct {
	*linear
	labels []uint8
	o01    []float64 // O_01 - O_11 of each class
	o10    []float64 // O_10 - O_00
}

func (j *joint) rates(c int) (q01, q10 float64) {
	return rates.Sigmoid(j.o01[c]), rates.Sigmoid(j.o10[c])
}

func (j *joint) logLikelihood() (sum float64) {
	for i, z := range j.labels {
		q01, q10 := j.rates(i % classes)
		p := rates.Sigmoid(j.logit(i/classes, i%classes))
		observed := (1-q01)*p + q10*(1-p)
		if z == 0 {
			observed = 1 - observed
		}
		sum += math.Log(observed)
	}
	return sum
}

// gradient is the gradient of the log likelihood: weights, then both logits of the rates, class by class.
func (j *joint) gradient() [][]float64 {
	out := make([][]float64, classes)
	for c := range out {
		g := make([]float64, features+2)
		q01, q10 := j.rates(c)
		for i, x := range j.features {
			z := j.labels[i*classes+c]
			o := j.logit(i, c)
			rho := rates.Posterior(o, z, q01, q10)
			for d := range x {
				g[d] += (rho - rates.Sigmoid(o)) * x[d]
			}
			// O_01 moves against O_11, and O_10 against O_00: half of the step each is the whole of the difference.
			if z == 0 {
				g[features] += rho * (1 - q01)
				g[features+1] -= (1 - rho) * q10
			} else {
				g[features] -= rho * q01
				g[features+1] += (1 - rho) * (1 - q10)
			}
		}
		out[c] = g
	}
	return out
}

func (j *joint) move(direction [][]float64, by float64) {
	for c, d := range direction {
		for k := range features {
			j.weights[c][k] += by * d[k]
		}
		j.o01[c] += by * d[features]
		j.o10[c] += by * d[features+1]
	}
}

// train goes along conjugate gradients (Polak and Ribière) with halved steps.
func (j *joint) train() {
	value, g := j.logLikelihood(), j.gradient()
	direction := g
	step := 1e-3
	for range 4000 {
		slope, norm := inner(direction, g), inner(g, g)
		if norm < 1e-16 {
			return
		}
		if slope <= 0 {
			direction, slope = g, norm
		}
		for step *= 4; ; step /= 2 {
			j.move(direction, step)
			if now := j.logLikelihood(); now >= value+1e-4*step*slope || step < 1e-14 {
				value = now
				break
			}
			j.move(direction, -step)
		}
		next := j.gradient()
		beta := max(0, (inner(next, next)-inner(next, g))/norm)
		g, direction = next, combined(next, beta, direction)
	}
}

func inner(a, b [][]float64) (sum float64) {
	for c := range a {
		for k := range a[c] {
			sum += a[c][k] * b[c][k]
		}
	}
	return sum
}

func combined(a [][]float64, by float64, b [][]float64) [][]float64 {
	out := make([][]float64, len(a))
	for c := range a {
		out[c] = slices.Clone(a[c])
		for k := range out[c] {
			out[c][k] += by * b[c][k]
		}
	}
	return out
}

// EM and training through the noise model end at the same point.
func TestRun_EndsWhereJointTrainingEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: trains to the end")
	}
	l, labels := problem()
	j := &joint{linear: l, labels: labels, o01: []float64{logit(.2), logit(.2)}, o10: []float64{logit(.05), logit(.05)}}
	j.train()
	for _, step := range []NoiseStep{ByCounts, ByLikelihood} {
		own, _ := problem()
		r := run(t, own, labels, func(o *Options) { o.NoiseStep = step })
		last := r.LogLikelihood[len(r.LogLikelihood)-1]
		t.Logf("%s: log likelihood %.9f after %d rounds, jointly %.9f",
			step, last, len(r.LogLikelihood)-1, j.logLikelihood())
		if math.Abs(last-j.logLikelihood()) > 1e-6 {
			t.Errorf("%s: log likelihood %.9f, jointly %.9f", step, last, j.logLikelihood())
		}
		for c := range classes {
			q01, q10 := j.rates(c)
			if math.Abs(r.Rates.Q01[c]-q01) > 1e-4 || math.Abs(r.Rates.Q10[c]-q10) > 1e-4 {
				t.Errorf("%s: class %d: rates %.6f, %.6f, jointly %.6f, %.6f",
					step, c, r.Rates.Q01[c], r.Rates.Q10[c], q01, q10)
			}
			for d := range features {
				if math.Abs(own.weights[c][d]-l.weights[c][d]) > 2e-3 {
					t.Errorf("%s: weight %d of class %d is %.6f, jointly %.6f",
						step, d, c, own.weights[c][d], l.weights[c][d])
				}
			}
		}
	}
}

func logit(p float64) float64 { return math.Log(p / (1 - p)) }

// The gradient of the likelihood is rho_1 - p1, on which Classifier.Fit trains.
func TestPosterior_HasTheGradientOfTheLikelihood(t *testing.T) {
	const q01, q10, h = .3, .1, 1e-5
	for _, o := range []float64{-12, -3, -.4, 0, 1.7, 9} {
		for z := range uint8(2) {
			rho := rates.Posterior(o, z, q01, q10)
			want := rho - rates.Sigmoid(o)
			likelihood := func(o float64) float64 {
				p := rates.Sigmoid(o)
				observed := q10 + (1-q01-q10)*p
				if z == 0 {
					observed = 1 - observed
				}
				return math.Log(observed)
			}
			if got := (likelihood(o+h) - likelihood(o-h)) / (2 * h); !(math.Abs(got-want) < 1e-8) {
				t.Errorf("o = %g, z = %d: the derivative of the likelihood is %.10f, rho - p = %.10f", o, z, got, want)
			}
		}
	}
}

// broken fails at its second M-step.
type broken struct {
	Fixed
	fits int
}

var errBroken = errors.New("broken")

func (b *broken) Fit(context.Context, []float64) error {
	if b.fits++; b.fits == 2 {
		return errBroken
	}
	return nil
}

func TestRun_TellsWhatWentWrong(t *testing.T) {
	_, z := problem()
	good := Fixed(make([]float64, bags*classes))
	o := DefaultOptions()
	if _, err := Run(t.Context(), &broken{Fixed: good}, z, bags, classes, startRates(),
		Options{NoiseStep: ByCounts, Rounds: 5}); !errors.Is(err, errBroken) || !strings.Contains(err.Error(),
		"round 2 of 5") {
		t.Errorf("a classifier that fails: %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(cancelled, good, z, bags, classes, startRates(), o); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for name, call := range map[string]func() error{
		"labels": func() error { _, err := Run(t.Context(), good, z[1:], bags, classes, startRates(), o); return err },
		"rates": func() error {
			_, err := Run(t.Context(), good, z, bags, classes, labels.Rates{Q01: []float64{.1}, Q10: []float64{.1}}, o)
			return err
		},
		"turned": func() error {
			_, err := Run(t.Context(), good, z, bags, classes,
				labels.Rates{Q01: []float64{.6, .1}, Q10: []float64{.5, .1}}, o)
			return err
		},
		"step": func() error {
			_, err := Run(t.Context(), good, z, bags, classes, startRates(), Options{Rounds: 3})
			return err
		},
		"logits": func() error { _, err := Run(t.Context(), good[1:], z, bags, classes, startRates(), o); return err },
	} {
		if err := call(); !errors.Is(err, eval.ErrShape) && !errors.Is(err, eval.ErrValue) {
			t.Errorf("%s: %v", name, err)
		}
	}
	z[classes+1] = 2
	if _, err := Run(t.Context(), good, z, bags, classes, startRates(), o); !errors.Is(err, eval.ErrValue) ||
		!strings.Contains(err.Error(), "row 2, column 2: label 2") {
		t.Errorf("a label that is none: %v", err)
	}
}

// Labels that the scores explain without noise lead to rates of a millionth, from which EM can come back, not to 0.
func TestRun_RatesStayAwayFromZeroAndOne(t *testing.T) {
	scores, z := make(Fixed, bags*classes), make([]uint8, bags*classes)
	for i := range z {
		if scores[i] = -40; i%3 == 0 {
			scores[i], z[i] = 40, 1
		}
	}
	for _, step := range []NoiseStep{ByCounts, ByLikelihood} {
		r := run(t, scores, z, func(o *Options) { o.NoiseStep = step })
		for c := range classes {
			if r.Rates.Q01[c] != leastRate || r.Rates.Q10[c] != leastRate {
				t.Errorf("%s: class %d: rates %g and %g, want %g", step, c, r.Rates.Q01[c], r.Rates.Q10[c], leastRate)
			}
		}
	}
	q01, q10 := expected{true1: 2, missing: 2, true0: 3, incorrect: 3}.rates()
	if q01 != 1-leastRate || q10 != 1-leastRate {
		t.Errorf("nothing but noise has the rates %g and %g", q01, q10)
	}
}

// The tolerance is a gain for each bag: ten times the same bags gain ten times as much and end after as many rounds.
func TestRun_ConvergesByTheGainOfABag(t *testing.T) {
	l, z := problem()
	copy(l.weights[0], []float64{-.5, 3, -2})
	copy(l.weights[1], []float64{.3, -2, -3})
	scores := make(Fixed, bags*classes)
	expect.OK(t, l.Logits(scores))
	o := DefaultOptions()
	o.Tolerance = 1e-6
	rounds := func(times int) int {
		r, err := Run(t.Context(), Fixed(slices.Repeat(scores, times)), slices.Repeat(z, times), bags*times, classes,
			startRates(), o)
		expect.OK(t, err)
		return len(r.LogLikelihood) - 1
	}
	if once, tenfold := rounds(1), rounds(10); once != tenfold || once < 3 || once == o.Rounds {
		t.Errorf("%d rounds, and %d with ten times the same bags", once, tenfold)
	}
}

// faltering is a classifier that an M-step makes worse before the next one makes it better, as training nets may.
type faltering struct {
	good  Fixed
	steps int
}

func (f *faltering) Logits(out []float64) error {
	if f.steps == 1 {
		clear(out)
		return nil
	}
	return f.good.Logits(out)
}

func (f *faltering) Fit(context.Context, []float64) error {
	f.steps++
	return nil
}

func TestRun_ALikelihoodThatFallsHasNotConverged(t *testing.T) {
	_, z := problem()
	scores := make(Fixed, len(z))
	for i := range scores {
		scores[i] = 4*float64(z[i]) - 2
	}
	r := run(t, &faltering{good: scores}, z, func(o *Options) { o.Rounds, o.Tolerance = 2, 1e-6 })
	if l := r.LogLikelihood; len(l) != 3 || !(l[1] < l[0]) || !(l[2] > l[1]) {
		t.Errorf("log likelihoods %v: want a second round after the one that lost", l)
	}
}

// Fixed is a classifier that stands still: EM then finds the noise rates alone.
type Fixed []float64

// Logits copies the scores.
func (f Fixed) Logits(out []float64) error {
	if len(f) != len(out) {
		return fmt.Errorf("%d fixed logits for %d cells: %w", len(f), len(out), eval.ErrShape)
	}
	copy(out, f)
	return nil
}

// Fit does nothing.
func (f Fixed) Fit(context.Context, []float64) error { return nil }
