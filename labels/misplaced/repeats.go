package misplaced

import (
	"cmp"
	"context"
	"math"
	"slices"

	"nmn/internal/parallel"
)

// leastRepeats is the least number of bags with a word from which repeats can be estimated.
const leastRepeats = 30

// Unsaid estimates, for each class, the probability that no caption of a bag mentions a word that holds, from
// how often captions repeat words of others of their bag. NaN stands for words that too few bags with several
// captions mention.
//
// In a bag for which the word holds, m of C captions mention it, and m is beta-binomial: the probability of a
// mention differs from bag to bag. Bags without a mention give no evidence, because the word may not hold.
// The likelihood of the others, P(m)/(1-P(0)), gives mean and spread, and these give P(0).
func Unsaid(ctx context.Context, captions [][][]int32, classes int) ([]float64, error) {
	counts := make([]map[[2]int]float64, classes) // bags by captions, and how many of these mention the word
	most := 0
	times := map[int32]int{}
	for _, of := range captions {
		most = max(most, len(of))
		clear(times)
		for _, caption := range of {
			for _, class := range caption {
				times[class]++
			}
		}
		for class, m := range times {
			if counts[class] == nil {
				counts[class] = map[[2]int]float64{}
			}
			counts[class][[2]int{len(of), m}]++
		}
	}
	out := make([]float64, classes)
	err := parallel.Run(ctx, classes, 0, func() func(int) {
		b := newBetaBinomial(most)
		return func(class int) { out[class] = b.unsaid(counts[class]) }
	})
	return out, err
}

// betaBinomial computes likelihoods of counts.
type betaBinomial struct {
	alpha, beta, both, choose []float64 // sums of logarithms: alpha+i for i < n, and so on; log n!
	cells                     []cell
}

type cell struct {
	captions, mentions int
	bags               float64
}

func newBetaBinomial(most int) *betaBinomial {
	b := &betaBinomial{alpha: make([]float64, most+1), beta: make([]float64, most+1), both: make([]float64, most+1),
		choose: make([]float64, most+1)}
	for n := 1; n <= most; n++ {
		b.choose[n] = b.choose[n-1] + math.Log(float64(n))
	}
	return b
}

// set takes the mean and the correlation of captions of one bag, both between 0 and 1.
func (b *betaBinomial) set(mean, spread float64) {
	size := (1 - spread) / spread
	for n := 1; n < len(b.alpha); n++ {
		i := float64(n - 1)
		b.alpha[n] = b.alpha[n-1] + math.Log(mean*size+i)
		b.beta[n] = b.beta[n-1] + math.Log((1-mean)*size+i)
		b.both[n] = b.both[n-1] + math.Log(size+i)
	}
}

// none returns P(0) for the given number of captions.
func (b *betaBinomial) none(captions int) float64 {
	return math.Exp(b.beta[captions] - b.both[captions])
}

// log returns the log of the probability of k of n.
func (b *betaBinomial) log(n, k int) float64 {
	return b.chosen(n, k) + b.alpha[k] + b.beta[n-k] - b.both[n]
}

// chosen returns the log of the number of ways to choose k of n.
func (b *betaBinomial) chosen(n, k int) float64 { return b.choose[n] - b.choose[k] - b.choose[n-k] }

// repeats is the log likelihood of the cells.
func (b *betaBinomial) repeats() float64 {
	sum := 0.0
	for _, c := range b.cells {
		p := b.log(c.captions, c.mentions)
		sum += c.bags * (p - math.Log(max(1-b.none(c.captions), math.SmallestNonzeroFloat64)))
	}
	return sum
}

// unsaid returns P(0) for the bags in which the word holds, at the greatest likelihood.
func (b *betaBinomial) unsaid(counts map[[2]int]float64) float64 {
	b.cells = b.cells[:0]
	several := 0.0
	for key, bags := range counts {
		b.cells = append(b.cells, cell{key[0], key[1], bags})
		if key[0] > 1 {
			several += bags
		}
	}
	if several < leastRepeats {
		return math.NaN()
	}
	sortCells(b.cells)
	b.fit(b.repeats)
	missing, holds := 0.0, 0.0
	for _, c := range b.cells {
		none := b.none(c.captions)
		holds += c.bags / (1 - none)
		missing += c.bags * none / (1 - none)
	}
	return missing / holds
}

// fit finds the mean and the spread of the greatest likelihood, by a search that halves its steps, in logits.
func (b *betaBinomial) fit(likelihood func() float64) {
	const least, most = -5, 4 // logits of both
	at, best := [2]float64{-1, -1.5}, math.Inf(-1)
	for step := 2.0; step > .01; {
		from := at
		for x := -1.0; x <= 1; x++ {
			for y := -1.0; y <= 1; y++ {
				try := [2]float64{min(max(from[0]+x*step, least), most), min(max(from[1]+y*step, least), most)}
				b.set(sigmoid(try[0]), sigmoid(try[1]))
				if l := likelihood(); l > best {
					best, at = l, try
				}
			}
		}
		if at == from {
			step /= 2
		}
	}
	b.set(sigmoid(at[0]), sigmoid(at[1]))
}

// sortCells puts sums into a fixed order.
func sortCells(cells []cell) {
	slices.SortFunc(cells, func(a, b cell) int {
		return cmp.Or(cmp.Compare(a.captions, b.captions), cmp.Compare(a.mentions, b.mentions))
	})
}
