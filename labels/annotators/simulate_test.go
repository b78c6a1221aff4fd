package annotators

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
)

// crowd describes simulated annotators: rates, how many look at a bag, and how frequent the classes are.
type crowd struct {
	bags     int
	pairs    []pair
	prior    []float64
	each     int // annotators of a bag
	seed     uint64
	informed float64 // logits are this times 2y-1, with unit noise; 0 for none
}

// simulated draws labels with their truth, N×K.
func (c crowd) simulated() (Input, []bool) {
	in := Input{Bags: c.bags, Annotators: len(c.pairs), Classes: len(c.prior)}
	truth := make([]bool, c.bags*len(c.prior))
	s := rng.New(c.seed)
	for i := range c.bags {
		for k, p := range c.prior {
			truth[i*len(c.prior)+k] = s.Float64() < p
		}
		order := make([]int32, len(c.pairs))
		key := make([]float64, len(c.pairs))
		for j := range order {
			order[j], key[j] = int32(j), s.Float64()
		}
		slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(key[a], key[b]) })
		for _, j := range order[:c.each] {
			row := Row{Bag: int32(i), Annotator: j, Given: []int32{}}
			for k := range c.prior {
				u := s.Float64()
				if y := truth[i*len(c.prior)+k]; y && u >= c.pairs[j].q01 || !y && u < c.pairs[j].q10 {
					row.Given = append(row.Given, int32(k))
				}
			}
			in.Rows = append(in.Rows, row)
		}
	}
	if c.informed > 0 {
		in.Logits = make([]float32, len(truth))
		for at, y := range truth {
			mean := -c.informed
			if y {
				mean = c.informed
			}
			p := c.prior[at%len(c.prior)]
			// The log-odds of y given a normal score: the best that any classifier can do.
			in.Logits[at] = float32(2*c.informed*s.Normal(mean, 1) + math.Log(p/(1-p)))
		}
	}
	return in, truth
}

func estimated(t testing.TB, in Input) *Result {
	t.Helper()
	r := expect.Value(Estimate(t.Context(), in, DefaultOptions()))(t)
	finite(t, r)
	return r
}

// some are n annotators whose rates are spread evenly between two pairs.
func some(n int, from, to pair) []pair {
	list := make([]pair, n)
	for j := range list {
		share := float64(j) / float64(max(n-1, 1))
		list[j] = pair{from.q01 + share*(to.q01-from.q01), from.q10 + share*(to.q10-from.q10)}
	}
	return list
}

func frequencies(n int, from, to float64) []float64 {
	list := make([]float64, n)
	for k := range list {
		list[k] = from + (to-from)*float64(k)/float64(max(n-1, 1))
	}
	return list
}

// permuted is a permutation of 0 to n-1.
func permuted(s *rng.Stream, n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	s.Shuffle(list)
	return list
}
