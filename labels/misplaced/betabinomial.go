package misplaced

import "math"

// betaBinomial computes likelihoods of counts.
type betaBinomial struct {
	alpha, beta, both, choose []float64 // sums of logarithms: alpha+i for i < n, and so on; log n!
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

// log returns the log of the probability of k of n.
func (b *betaBinomial) log(n, k int) float64 {
	return b.chosen(n, k) + b.alpha[k] + b.beta[n-k] - b.both[n]
}

// chosen returns the log of the number of ways to choose k of n.
func (b *betaBinomial) chosen(n, k int) float64 { return b.choose[n] - b.choose[k] - b.choose[n-k] }

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
