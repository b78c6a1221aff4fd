package annotators

import (
	"math"

	"nmn/internal/parallel"
	"nmn/labels"
)

// Bounds of the power of answers, and numbers of bags that determine it.
const (
	leastPower = .3
	powers     = 8
	someHeld   = 20_000
)

// temper lowers the weight of answers that are not independent given the truth, since bags differ in difficulty. All
// rates are raised to the power that best predicts each answer from the others of its bag.
func (x *exclusive) temper() {
	best, most := 1., math.Inf(-1)
	for n := range powers {
		power := 1 - (1-leastPower)*float64(n)/(powers-1)
		if sum := x.predict(power); sum > most {
			best, most = power, sum
		}
	}
	if best == 1 {
		return
	}
	parallel.Blocks(len(x.rates), 1<<12, func(from, to int) {
		for at, q := range x.rates[from:to] {
			x.rates[from+at] = math.Pow(q, best)
		}
	})
	x.expect()
}

// predict is the log probability of the answers of some bags, each from the others.
func (x *exclusive) predict(power float64) float64 {
	step := max(1, x.in.Bags/someHeld)
	sums := make([]float64, (x.in.Bags+step-1)/step)
	parallel.Blocks(len(sums), 1, func(p, _ int) {
		places, classes := x.bags.of(p*step), x.in.Classes
		if len(places) < 2 {
			return
		}
		all, logs := make([]float64, classes), make([]float64, classes)
		for k, q := range x.before(p * step) {
			all[k] = math.Log(q)
			for _, place := range places {
				all[k] += power * math.Log(x.rates[int(place)*classes+k])
			}
		}
		for _, place := range places {
			sum, right := 0., 0.
			rates := x.rates[int(place)*classes:][:classes]
			for k, q := range rates {
				logs[k] = all[k] - power*math.Log(q)
			}
			top := logs[labels.Largest(logs)]
			for k, q := range rates {
				v := math.Exp(logs[k] - top)
				sum += v
				right += v * q
			}
			sums[p] += math.Log(right / sum)
		}
	})
	total := 0.
	for _, sum := range sums {
		total += sum
	}
	return total
}
