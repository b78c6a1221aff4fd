package misplaced

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
)

// ready is a finder of pictures after two rounds, with all that the next pass needs. Captions may be similar.
func ready(t *testing.T, in Input) *finder {
	t.Helper()
	f := finderOf(t, in)
	f.prior.similar, f.scoresDecide = .4, true
	for round := range 2 {
		s := expect.Value(f.pass(t.Context(), round, 1))(t)
		s.finish(f.tables)
		f.words.update(s)
		f.prior.update(s)
		f.prior.similar = .4
	}
	return f
}

// group is the log likelihood of a group of captions, and p(y=1) of each class, computed for all classes as
// the model says. p are the probabilities of words without captions.
func (f *finder) groupByEquation(captions [][]int32, p []float64) (log float64, holds []float64) {
	w := f.words
	for class := range f.in.Classes {
		x, y := p[class], 1-p[class]
		for _, caption := range captions {
			if slices.Contains(caption, int32(class)) {
				x, y = x*w.a[class], y*w.e[class]
			} else {
				x, y = x*(1-w.a[class]), y*(1-w.e[class])
			}
		}
		log += math.Log(x + y)
		holds = append(holds, x/(x+y))
	}
	return log, holds
}

// similarByEquation is the log likelihood of a caption of a picture that is similar to that of own captions.
func (f *finder) similarByEquation(caption []int32, own [][]int32) (log float64) {
	w := f.words
	_, holds := f.groupByEquation(own, w.p)
	for class := range f.in.Classes {
		single := w.p[class]*w.a[class] + (1-w.p[class])*w.e[class]
		a, e := (1-near)*single+near*w.a[class], (1-near)*single+near*w.e[class]
		said := holds[class]*a + (1-holds[class])*e
		if slices.Contains(caption, int32(class)) {
			log += math.Log(said)
		} else {
			log += math.Log(1 - said)
		}
	}
	return log
}

// priorOf are the probabilities of words in a bag without its captions.
func (f *finder) priorOf(n int) []float64 {
	scores := f.scoresOf(n)
	if scores == nil {
		return f.words.p
	}
	p := make([]float64, len(scores))
	for class, o := range scores {
		p[class] = sigmoid(f.words.alpha[class]*float64(o) + f.words.beta[class])
	}
	return p
}

// labelings are all ways to give captions to groups: 0 for the bag's own, and others numbered by their first.
func labelings(n int) (all [][]int) {
	var add func(labels []int, most int)
	add = func(labels []int, most int) {
		if len(labels) == n {
			all = append(all, slices.Clone(labels))
			return
		}
		for l := 0; l <= most+1; l++ {
			add(append(labels, l), max(most, l))
		}
	}
	add(nil, 0)
	return all
}

// byEquation computes the probabilities of a unit's captions to be its bag's own, and the log of the ratio of
// the captions' likelihood to that of captions of random bags.
func (f *finder) byEquation(n int) (own []float64, likelihood float64) {
	w, captions := f.words, f.in.Captions[n]
	size, p := len(captions), f.priorOf(n)
	own = make([]float64, size)
	total := 0.0
	for _, labels := range labelings(size) {
		groups := make([][][]int32, size+1)
		for c, l := range labels {
			groups[l] = append(groups[l], captions[c])
		}
		foreign, largest := size-len(groups[0]), 1
		for _, g := range groups[1:] {
			largest = max(largest, len(g))
		}
		if !f.scored(n) && len(groups[0]) < largest && (len(groups[0]) > 0 || largest > 1) {
			continue
		}
		weight, alone := f.prior.foreign[size][foreign], 0.0
		weight /= math.Round(math.Exp(lchoose(size, foreign)))
		seen := map[int]int{}
		for c, l := range labels { // Ewens, caption after caption
			if l == 0 {
				continue
			}
			joins := float64(seen[l])
			if joins == 0 {
				joins = f.prior.together
			}
			before := 0
			for _, other := range labels[:c] {
				if other > 0 {
					before++
				}
			}
			weight *= joins / (f.prior.together + float64(before))
			seen[l]++
		}
		log := 0.0
		for l, g := range groups {
			if len(g) == 0 {
				continue
			}
			of := w.p
			if l == 0 {
				of = p
			}
			sum, _ := f.groupByEquation(g, of)
			if l > 0 && len(g) == 1 && len(groups[0]) > 1 {
				single, _ := f.groupByEquation(g, w.p)
				s := f.prior.similar
				alone += math.Log(1 - s + s*math.Exp(temper*(f.similarByEquation(g[0], groups[0])-single)))
			}
			for _, caption := range g {
				single, _ := f.groupByEquation([][]int32{caption}, w.p)
				sum -= single
			}
			log += temper * sum
		}
		weight *= math.Exp(log + alone)
		total += weight
		for c, l := range labels {
			if l == 0 {
				own[c] += weight
			}
		}
	}
	for c := range own {
		own[c] /= total
	}
	return own, math.Log(total)
}

func lchoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// Captions are judged as the model says, by a sum over all ways to give them to groups.
func TestJudge_IsTheEquation(t *testing.T) {
	p := replaced(120, 2)
	k, all := p.classes, p.scored(1)
	for n := range p.captions {
		size := 2 + n%4
		if n%3 == 0 { // two captions with scores are not arranged
			size = max(size, MostByScores+1)
		}
		p.captions[n] = p.captions[n][:size]
	}
	in := Input{Classes: k, Captions: p.captions}
	for n := 0; n < 120; n += 3 { // the others have none
		in.Scored = append(in.Scored, n)
		in.Scores = append(in.Scores, all[n*k:(n+1)*k]...)
	}
	f := ready(t, in)
	s := expect.Value(f.pass(t.Context(), 2, 1))(t)
	likelihood := 0.0
	for n := range p.captions {
		if !f.units[n].exact {
			continue
		}
		want, log := f.byEquation(n)
		likelihood += log
		for c, v := range f.votes[f.first[n]:f.first[n+1]] {
			if !(math.Abs(v-want[c]) < 1e-4) {
				t.Errorf("bag %d, scores %t, caption %d: own %g, want %g", n, f.scored(n), c, v, want[c])
			}
		}
		foreign := 0.0
		for k, q := range f.countsOf(n) {
			foreign += float64(k) * float64(q)
		}
		for _, v := range want {
			foreign -= 1 - v
		}
		if math.Abs(foreign) > 1e-3 {
			t.Errorf("bag %d: the counts of foreign captions are off by %g", n, foreign)
		}
	}
	if math.Abs(s.likelihood-likelihood) > 1e-6*math.Abs(likelihood) {
		t.Errorf("likelihood %g, want %g", s.likelihood, likelihood)
	}
}

// Rates follow from the groups. Here each arrangement is certain, since nothing is foreign.
func TestUpdate_IsTheEquation(t *testing.T) {
	p := replaced(200, 0)
	k, all := p.classes, p.scored(1)
	for _, scores := range [][]float32{nil, all} {
		f := ready(t, Input{Classes: k, Captions: p.captions, Scores: scores})
		f.prior.foreign[5] = []float64{1, 0, 0, 0, 0, 0}
		s := expect.Value(f.pass(t.Context(), 2, 1))(t)
		s.finish(f.tables)
		holds, mentions, mistakes := make([]float64, k), make([]float64, k), make([]float64, k)
		for n, of := range p.captions {
			_, rho := f.groupByEquation(of, f.priorOf(n))
			for class := range k {
				holds[class] += 5 * rho[class]
				for _, caption := range of {
					if slices.Contains(caption, int32(class)) {
						mentions[class] += rho[class]
						mistakes[class] += 1 - rho[class]
					}
				}
			}
		}
		f.words.update(s)
		for class := range k {
			a := min(max((mentions[class]+.5)/(holds[class]+1), leastRate), mostRate)
			e := min(max((mistakes[class]+.1)/(1000-holds[class]+10), leastChance), a/2)
			if math.Abs(f.words.a[class]-a) > 1e-6 || math.Abs(f.words.e[class]-e) > 1e-6 {
				t.Errorf("scores %t, class %d: a %g and e %g, want %g and %g", scores != nil, class, f.words.a[class],
					f.words.e[class], a, e)
			}
		}
	}
}

// In bags of many captions, t of a caption is that of the captions that seem the bag's own, with it and
// without it.
func TestByOthers_IsTheEquation(t *testing.T) {
	p := replaced(90, 2)
	k := p.classes
	var captions [][][]int32
	for n := 0; n < 90; n += 3 {
		captions = append(captions, slices.Concat(p.captions[n:n+3]...))
	}
	for _, scores := range [][]float32{nil, p.scored(1)[:30*k]} {
		f := finderOf(t, Input{Classes: k, Captions: captions, Scores: scores})
		s := rng.New(3)
		var votes []float64
		for i := range f.votes {
			f.votes[i] = s.Float64()
			votes = append(votes, f.votes[i])
		}
		_, err := f.pass(t.Context(), 0, 1)
		expect.OK(t, err)
		for n, of := range captions {
			prior := f.priorOf(n)
			for c := range of {
				var rest [][]int32
				for d, caption := range of {
					if d != c && votes[f.first[n]+d] >= .5 {
						rest = append(rest, caption)
					}
				}
				without, _ := f.groupByEquation(rest, prior)
				for i, caption := range [][]int32{of[c], captions[f.partners[n]][c]} {
					with, _ := f.groupByEquation(append(slices.Clone(rest), caption), prior)
					alone, _ := f.groupByEquation([][]int32{caption}, f.words.p)
					want, got := temper*(with-without-alone), []float64{f.own[f.first[n]+c], f.null[f.first[n]+c]}[i]
					if !(math.Abs(got-want) < 1e-7*(1+math.Abs(want))) {
						t.Fatalf("scores %t, bag %d, caption %d (%d): t is %g, want %g", scores != nil, n, c, i, got, want)
					}
				}
			}
		}
	}
}

// All ways to divide captions are there once. Without scores a largest group is the bag's own.
func TestArrangements_AreAll(t *testing.T) {
	bell := []int{1, 1, 2, 5, 15, 52, 203, 877}
	for n := 1; n <= mostExact; n++ {
		seen := map[string]bool{}
		for _, a := range arrangements(n, false) {
			all, sum := a.own, onesOf(a.own)
			for _, g := range a.groups {
				all, sum = all|g, sum+onesOf(g)
			}
			for _, c := range a.singles {
				all, sum = all|1<<c, sum+1
			}
			if all != 1<<n-1 || sum != n || a.foreign(n) != n-onesOf(a.own) {
				t.Errorf("%d captions: %+v is no division", n, a)
			}
			seen[fmt.Sprint(a)] = true
		}
		if len(seen) != bell[n+1] {
			t.Errorf("%d captions: %d arrangements, want %d", n, len(seen), bell[n+1])
		}
		for _, a := range arrangements(n, true) {
			for _, g := range a.groups {
				if onesOf(g) > onesOf(a.own) {
					t.Errorf("%d captions: a foreign group is larger than the bag's own: %+v", n, a)
				}
			}
		}
	}
}

// A signal ends the work in whatever part it comes, and no part of a result is given.
func TestFind_EndsInEveryPart(t *testing.T) {
	p := replaced(400, 4)
	in := Input{Classes: p.classes, Captions: p.captions, Scores: p.scored(2)}
	for part := 1; part <= exactRounds+1; part += 7 {
		ctx, cancel := context.WithCancel(t.Context())
		reached := false
		r, err := Find(ctx, in, Options{Resamples: 10, Progress: func(now, parts int) {
			if parts != exactRounds+1 {
				t.Errorf("part %d of %d, want %d", now, parts, exactRounds+1)
			}
			if now == part {
				reached = true
				cancel()
			}
		}})
		cancel()
		if !reached || r != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("a signal in part %d (reached: %t): %v, %v", part, reached, r, err)
		}
	}
}

// Captions are numbered in 32 bits; more are refused before they are looked at. Here bags share them.
func TestCheck_RefusesMoreThanCanBeNumbered(t *testing.T) {
	one := make([][]int32, 1<<15)
	in := Input{Classes: 1, Captions: slices.Repeat([][][]int32{one}, 1<<16)}
	want := "2147483648 captions, at most 2147483647"
	if err := in.Check(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
}
