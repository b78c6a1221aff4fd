package misplaced

import (
	"math"
	"slices"
	"testing"

	"nmn/internal/rng"
)

// Positions in the order of many values, and of few, with equal, infinite and very different ones, match
// sorting.
func TestOrdered_IsTheOrderOfNumbers(t *testing.T) {
	unlessShort(t)
	s := rng.New(1)
	for _, n := range []int{1, 100, 70000, 200000} {
		for _, kind := range []string{"normal", "wide", "equal", "close"} {
			f, p := &finder{}, &peers{}
			for i := range n {
				own, null := s.Normal(0, 1), s.Normal(0, 1)
				switch kind {
				case "wide":
					own, null = own*math.Exp(s.Normal(0, 50)), null*math.Exp(s.Normal(0, 5))
				case "equal":
					own, null = math.Round(own)/4, -7
				case "close":
					own, null = 1+own*1e-13, 1
				}
				p.captions = append(p.captions, int32(i))
				f.own, f.null = append(f.own, own), append(f.null, null)
			}
			if kind == "wide" && n > 10 {
				f.own[3], f.own[5], f.null[9] = math.Inf(1), math.Inf(-1), math.MaxFloat64
			}
			want := slices.Concat(f.own, f.null)
			slices.Sort(want)
			var places []int
			for b := 1; b < mostBins; b++ {
				if at := b * 2 * n / mostBins; n > 1 || at == 1 {
					places = append(places, at)
				}
			}
			got := f.ordered(p, places)
			for i, at := range places {
				if got[i] != want[at] {
					t.Fatalf("%d %s values: at %d is %g, want %g", n, kind, at, got[i], want[at])
				}
			}
		}
	}
}

func TestQuotients_AddLogarithms(t *testing.T) {
	s := rng.New(2)
	for _, n := range []int{0, 1, 7, 8, 16, 17, 1000} {
		q, l, want, wantL := newQuotients(), logSum{product: 1}, 0.0, 0.0
		for i := range n {
			a, b := math.Exp(s.Uniform(-80, 80)), 0.0
			b = a * math.Exp(s.Uniform(-40, 40))
			if i%5 == 0 { // the worst
				a, b = 1e36, 1e18
			}
			if b > 1e36 {
				b = 1e36
			}
			q.times(a, b)
			want += math.Log(a) - math.Log(b)
			f := math.Exp(s.Uniform(-20, 20))
			l.times(f)
			wantL += math.Log(f)
		}
		if got := q.log(); !(math.Abs(got-want) < 1e-9*float64(n+1)) {
			t.Errorf("%d quotients: %g, want %g", n, got, want)
		}
		if got := l.log(); !(math.Abs(got-wantL) < 1e-9*float64(n+1)) {
			t.Errorf("%d factors: %g, want %g", n, got, wantL)
		}
	}
}

func TestExp_IsThatOfMath(t *testing.T) {
	s := rng.New(3)
	worst := 0.0
	try := func(x float64) {
		want := math.Exp(x)
		worst = max(worst, math.Abs(exp(x)-want)/want)
	}
	for _, x := range []float64{0, math.Copysign(0, -1), 1, -1, 700, -700, 1e-300, -1e-17, math.Ln2 / 128} {
		try(x)
	}
	for range 300000 {
		try(s.Uniform(-700, 700))
		try(s.Uniform(-5, 5))
		try(s.Uniform(-1e-3, 1e-3))
	}
	if !(worst <= 2e-13) {
		t.Errorf("off by %g", worst)
	}
	if exp(0) != 1 {
		t.Errorf("e^0 is %g", exp(0))
	}
}

func BenchmarkExp(b *testing.B) {
	for name, f := range map[string]func(float64) float64{"own": exp, "math": math.Exp} {
		b.Run(name, func(b *testing.B) {
			x, sum := -30.0, 0.0
			for b.Loop() {
				sum += f(x)
				x += .001
				if x > 30 {
					x = -30
				}
			}
			_ = sum
		})
	}
}

// Scores beyond all odds, words in every caption and in none, and one bag of very many captions overflow nothing.
func TestFind_StaysFinite(t *testing.T) {
	unlessShort(t)
	p := replaced(1500, 2)
	k := p.classes
	for n, captions := range p.captions {
		for c, caption := range captions {
			caption = slices.DeleteFunc(slices.Clone(caption), func(class int32) bool { return class == 0 || class == 1 })
			captions[c] = append([]int32{0}, caption...) // 0 in every caption, 1 in none
		}
		if n > 300 && n < 900 {
			p.captions[7] = append(p.captions[7], captions...)
		}
	}
	scores := p.scored(2)
	for i := range scores {
		switch i % 11 {
		case 0:
			scores[i] *= 1e30
		case 1:
			scores[i] *= 1e4
		case 2:
			scores[i] = math.MaxFloat32
		case 3:
			scores[i] = -math.MaxFloat32
		}
	}
	for _, in := range []Input{{Classes: k, Captions: p.captions}, {Classes: k, Captions: p.captions, Scores: scores}} {
		r := find(t, in)
		finite := func(what string, values ...float64) {
			for i, v := range values {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("scores %t: %s of %d is %g", in.Scores != nil, what, i, v)
				}
			}
		}
		finite("share and gain", r.Foreign, r.Gain)
		finite("a", r.A...)
		finite("e", r.E...)
		finite("t", r.finder.own...)
		finite("t in its place", r.finder.null...)
		for _, own := range r.Own {
			finite("own", own...)
		}
	}
}
