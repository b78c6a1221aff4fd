package misplaced

import (
	"context"
	"math"

	"nmn/internal/parallel"
)

// near is how much a foreign caption of a similar picture shares with the bag: it mentions words as often as
// (1-near) times captions of random bags and near times the bag's own captions. Measured on captions of COCO
// whose foreign captions came from the most similar of 60 pictures, where levels of .2 to .5 gave about the
// same results.
const near = .3

// tables hold, for n captions of a group with m mentions of a word, the values that depend on the rates alone.
// Each class has a row for each n, of n+1 values: m from 0 to n.
type tables struct {
	most, width int // captions of a group at most, and values of a class
	// silence is, for each n, the log likelihood of n captions without a mention of any word.
	silence []float64
	// spoken is what m mentions add to it, in nats. holds is p(y=1).
	spoken, holds []float64
	// The same for a foreign caption of a similar picture, next to n own captions with m mentions: nearSilence
	// is the log likelihood ratio to a caption of a random bag, if neither the caption nor the own ones mention
	// a word. nearMissed is what m mentions of the own ones add if the caption does not mention the word, and
	// nearSpoken what its mention adds further.
	// Units of more than mostExact captions need none of them.
	nearSilence, nearMissed, nearSpoken []float64
	// For units with scores, most+1 values of each class: (1-a)^n, (1-e)^n, (a/(1-a))^n, (e/(1-e))^n, and the
	// inverse of the likelihood of n captions without a mention.
	noA, noE, oddsA, oddsE, silent []float64
}

// row is where the values for n captions begin.
func row(n int) int { return n * (n + 1) / 2 }

func newTables(classes, most int) *tables {
	t := &tables{most: most, width: row(most + 1)}
	t.silence, t.nearSilence = make([]float64, most+1), make([]float64, most+1)
	for _, table := range []*[]float64{&t.spoken, &t.holds, &t.nearMissed, &t.nearSpoken} {
		*table = make([]float64, classes*t.width)
	}
	for _, table := range []*[]float64{&t.noA, &t.noE, &t.oddsA, &t.oddsE, &t.silent} {
		*table = make([]float64, classes*(most+1))
	}
	return t
}

func (t *tables) fill(ctx context.Context, w *words) error {
	const together = 64 // classes
	tasks := (len(w.a) + together - 1) / together
	silence := make([][]float64, tasks) // of each task, silence and then nearSilence
	err := parallel.Run(ctx, tasks, 0, func() func(int) {
		return func(task int) {
			sums := make([]float64, 2*(t.most+1))
			for class := task * together; class < min((task+1)*together, len(w.a)); class++ {
				t.class(w, class, sums)
			}
			silence[task] = sums
		}
	})
	if err != nil {
		return err
	}
	clear(t.silence)
	clear(t.nearSilence)
	for _, sums := range silence {
		for n := range t.silence {
			t.silence[n] += sums[n]
			t.nearSilence[n] += sums[t.most+1+n]
		}
	}
	return nil
}

func (t *tables) class(w *words, class int, silence []float64) {
	from, p := class*t.width, w.p[class]
	a, e := powers(w.a[class]), powers(w.e[class])
	noA, noE := powers(1-w.a[class]), powers(1-w.e[class])
	oddsA, oddsE := powers(a[1]/noA[1]), powers(e[1]/noE[1])
	single := p*a[1] + (1-p)*e[1]
	similarA, similarE := (1-near)*single+near*a[1], (1-near)*single+near*e[1]
	for n := 0; n <= t.most; n++ {
		at := class*(t.most+1) + n
		none := p*noA[n] + (1-p)*noE[n]
		t.noA[at], t.noE[at], t.oddsA[at], t.oddsE[at], t.silent[at] = noA[n], noE[n], oddsA[n], oddsE[n], 1/none
		silence[n] += math.Log(none)
		base := 0.0
		for m := 0; m <= n; m++ {
			i := from + row(n) + m
			x := p * a[m] * noA[n-m]
			likelihood := x + (1-p)*e[m]*noE[n-m]
			rho := x / likelihood
			t.spoken[i], t.holds[i] = math.Log(likelihood/none), rho
			if n > mostExact {
				continue
			}
			said := rho*similarA + (1-rho)*similarE
			missed := math.Log((1 - said) / (1 - single))
			if m == 0 {
				base = missed
			}
			t.nearMissed[i], t.nearSpoken[i] = missed-base, math.Log(said/single)-missed
		}
		silence[t.most+1+n] += base
	}
}

func powers(x float64) (p [mostTogether + 1]float64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * x
	}
	return p
}
