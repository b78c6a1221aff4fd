package rates

import (
	"cmp"
	"math"
	"slices"
)

// SpreadLevels are the quantiles of a [Spread].
var SpreadLevels = [5]float64{.05, .25, .5, .75, .95}

// Spread is the distribution of the rate of one class over bags, if a noise model gives each bag its own
// rate.
type Spread struct {
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"` // over these bags: the root of the mean squared distance
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
	// Quantiles at SpreadLevels. The log-odds of each are within 1/32 of the log-odds of the value with that
	// rank, for rates from 1e-6 to 1 - 1e-6.
	Quantiles [len(SpreadLevels)]float64 `json:"quantiles"`
}

// Departure is a bag whose rate lies away from the mean of its class.
type Departure struct {
	Bag, Class int
	Rate, Mean float64
}

// Spreads collects the rates of bags one after the other. Memory is bounded for any number of bags: a class
// has a histogram of log-odds (4 KiB) and its lowest and highest bags, one of each per wanted departure.
type Spreads struct {
	most    int
	bags    int
	classes []classSpread
}

// Bins of a histogram: steps of 1/32 from -16 to 16. A float32 rate beyond is 0 or 1 to seven digits.
const (
	binsPerUnit = 32
	binLimit    = 16
	binCount    = 2 * binLimit * binsPerUnit
)

type classSpread struct {
	mean, squares float64 // running mean, and sum of squared distances from it (Welford)
	min, max      float64
	bins          [binCount]uint32
	lowest        []extreme // ascending
	highest       []extreme // descending
}

type extreme struct {
	bag  int
	rate float64
}

// NewSpreads returns Spreads for the given number of classes, with at most the given number of departures.
func NewSpreads(classes, departures int) *Spreads {
	return &Spreads{most: departures, classes: make([]classSpread, classes)}
}

// Add adds the rate of each class for one bag. Rates are in 0 to 1.
func (s *Spreads) Add(bag int, classRates []float32) {
	s.bags++
	for c, rate := range classRates {
		s.classes[c].add(extreme{bag, float64(rate)}, s.bags, s.most)
	}
}

// Bags is the number of bags so far.
func (s *Spreads) Bags() int { return s.bags }

func (c *classSpread) add(e extreme, bags, most int) {
	if bags == 1 {
		c.min, c.max = e.rate, e.rate
	}
	c.min, c.max = min(c.min, e.rate), max(c.max, e.rate)
	off := e.rate - c.mean
	c.mean += off / float64(bags)
	c.squares += off * (e.rate - c.mean)
	c.bins[binOf(e.rate)]++
	c.lowest = keep(c.lowest, e, most, func(a, b float64) bool { return a < b })
	c.highest = keep(c.highest, e, most, func(a, b float64) bool { return a > b })
}

// keep inserts e into a list of at most most entries, ordered by before; on ties the earlier bag stays.
func keep(list []extreme, e extreme, most int, before func(a, b float64) bool) []extreme {
	if len(list) == most && (most == 0 || !before(e.rate, list[most-1].rate)) {
		return list
	}
	at := len(list)
	for at > 0 && before(e.rate, list[at-1].rate) {
		at--
	}
	if len(list) == most {
		list = list[:most-1]
	}
	return slices.Insert(list, at, e)
}

// binOf returns the bin of a rate's log-odds; rates beyond the limits are in the outermost bins.
func binOf(rate float64) int {
	place := (logit(rate) + binLimit) * binsPerUnit
	return int(max(0, min(place, binCount-1)))
}

// Of sums up a class. There must have been a bag.
func (s *Spreads) Of(class int) Spread {
	c := &s.classes[class]
	out := Spread{Mean: c.mean, SD: math.Sqrt(c.squares / float64(s.bags)), Min: c.min, Max: c.max}
	for i, level := range SpreadLevels {
		out.Quantiles[i] = c.quantile(level, s.bags)
	}
	return out
}

// quantile finds the bin of the value of rank ⌈level N⌉, and goes into it as far as the rank does.
func (c *classSpread) quantile(level float64, bags int) float64 {
	rank, before := math.Ceil(level*float64(bags)), 0.0
	for i, n := range c.bins {
		in := float64(n)
		if before+in < rank {
			before += in
			continue
		}
		logit := (float64(i)+(rank-before-.5)/in)/binsPerUnit - binLimit
		return max(c.min, min(Sigmoid(logit), c.max))
	}
	return c.max
}

// Departures are the cells whose rate lies farthest from the mean of the class, the farthest first. A
// class's farthest are among its lowest and its highest, so that none is missed.
func (s *Spreads) Departures() []Departure {
	var all []Departure
	for class := range s.classes {
		c := &s.classes[class]
		taken := map[int]bool{}
		for _, e := range slices.Concat(c.lowest, c.highest) {
			if !taken[e.bag] && e.rate != c.mean {
				taken[e.bag] = true
				all = append(all, Departure{Bag: e.bag, Class: class, Rate: e.rate, Mean: c.mean})
			}
		}
	}
	slices.SortFunc(all, func(a, b Departure) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Rate-b.Mean), math.Abs(a.Rate-a.Mean)), cmp.Compare(a.Bag, b.Bag),
			cmp.Compare(a.Class, b.Class))
	})
	return all[:min(s.most, len(all))]
}
