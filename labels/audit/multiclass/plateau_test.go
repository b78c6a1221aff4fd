package multiclass

import (
	"context"
	"math"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
)

// simulated are rows of six classes and the scores of a classifier that has learned their labels. sharp is how
// well it separates classes, pairs the share of labels that are the next class instead, and blur the deviation of the
// errors of its log-odds.
func simulated(rows int, sharp, pairs, blur float64) *Input {
	const k = 6
	in := &Input{Rows: rows, Classes: k, Scores: make([]float32, rows*k), Labels: make([]int32, rows),
		Truth: make([]int32, rows)}
	stream := rng.New(5)
	for i := range rows {
		y := i % k
		p, sum := make([]float64, k), 0.
		for c := range p {
			o := 1.2 * stream.Normal(0, 1)
			if c == y {
				o += sharp
			}
			p[c] = math.Exp(o)
			sum += p[c]
		}
		given, noisy := y, 0.
		if stream.Float64() < pairs {
			given = (y + 1) % k
		}
		seen := make([]float64, k)
		for c := range p {
			seen[c] = (1-pairs)*p[c]/sum + pairs*p[(c+k-1)%k]/sum
			seen[c] = (seen[c] + 1e-3) * math.Exp(blur*stream.Normal(0, 1))
			noisy += seen[c]
		}
		for c := range p {
			in.Scores[i*k+c] = float32(seen[c] / noisy)
		}
		in.Labels[i], in.Truth[i] = int32(given), int32(y)
	}
	return in
}

func TestPlateau_FindsADirectionThatTheClassifierHasLearned(t *testing.T) {
	o := DefaultOptions()
	o.Plateau = true
	r := expect.Value(Audit(context.Background(), simulated(12000, 5, .4, .6), o))(t)
	found := r.T
	if r.Noise != Directed {
		t.Fatalf("the noise is %v", r.Noise)
	}
	off := 0.
	for y := range 6 {
		sum := 0.
		for z := range 6 {
			want := 0.
			switch z {
			case y:
				want = .6
			case (y + 1) % 6:
				want = .4
			}
			sum += found[y*6+z]
			off += math.Abs(found[y*6+z]-want) / 36
			if math.Abs(found[y*6+z]-want) > .15 {
				t.Errorf("T of %d and %d is %.3f, want %.1f", y, z, found[y*6+z], want)
			}
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("row %d sums to %v", y, sum)
		}
	}
	if off > .05 {
		t.Errorf("T is off by %.3f in the mean", off)
	}
}

// Classifiers that are unsure, or sure, of labels without noise.
func TestPlateau_OfLabelsWithoutNoiseIsNone(t *testing.T) {
	for _, sharp := range []float64{.3, 1, 2, 3, 5, 8} {
		in, o := simulated(12000, sharp, 0, .6), DefaultOptions()
		without := expect.Value(Audit(context.Background(), in, o))(t)
		o.Plateau = true
		r := expect.Value(Audit(context.Background(), in, o))(t)
		if r.Noise != without.Noise || r.Noise == Directed {
			t.Errorf("sharpness %g: %v, %v", sharp, r.Noise, r.T[:6])
		}
	}
}
