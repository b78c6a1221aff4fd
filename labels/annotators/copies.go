package annotators

import (
	"cmp"
	"math"
	"slices"
)

// Thresholds above which an annotator counts as a copy of another one: the number of bags that both answered
// alike, and the excess over the agreement that their agreement with others explains, as a share and in
// standard deviations.
const (
	leastPairs     = 20
	leastAlike     = .9
	leastExcess    = .2
	leastDeviation = 5
	mostOfBag      = 16 // annotators of a bag that are compared
)

// copies marks the answers that repeat another annotator's answer for the same bag. Two annotators copy if
// they answer nearly always alike although neither agrees as much with others. A copy is no second witness.
// If annotators err independently, two of them agree, beyond chance, as often as the product of their
// agreements with a typical annotator. Annotators who make the same mistakes independently agree less than
// copies do. n is the number of annotators who repeat another one.
func (in *Input) copies() (repeats []bool, n int) {
	repeats = make([]bool, len(in.Rows))
	rows := gathered(in.Annotators, len(in.Rows), func(i int) int { return int(in.Rows[i].Annotator) },
		func(i int) int32 { return int32(i) }).all
	bags := gathered(in.Bags, len(rows), func(i int) int { return int(in.Rows[rows[i]].Bag) },
		func(i int) int32 { return rows[i] }) // per bag: rows ascending by annotator
	first := in.first(in.alike(bags))
	copier := make([]bool, in.Annotators)
	type given struct{ first, class int32 }
	for i := range in.Bags {
		seen := map[given]bool{}
		for _, row := range bags.of(i) {
			a := given{first[in.Rows[row].Annotator], in.Rows[row].Given[0]}
			if repeats[row] = seen[a]; repeats[row] && !copier[in.Rows[row].Annotator] {
				copier[in.Rows[row].Annotator] = true
				n++
			}
			seen[a] = true
		}
	}
	return repeats, n
}

// pairOf is two annotators, the lower number first, and alike how many bags they share and answer alike.
type (
	pairOf struct{ a, b int32 }
	alike  struct{ bags, same float64 }
)

func (in *Input) alike(bags lists[int32]) map[pairOf]alike {
	pairs := map[pairOf]alike{}
	for i := range in.Bags {
		rows := bags.of(i)
		rows = rows[:min(len(rows), mostOfBag)]
		for n, row := range rows {
			for _, other := range rows[:n] {
				at := pairOf{in.Rows[other].Annotator, in.Rows[row].Annotator}
				c := pairs[at]
				if c.bags++; in.Rows[row].Given[0] == in.Rows[other].Given[0] {
					c.same++
				}
				pairs[at] = c
			}
		}
	}
	return pairs
}

// first returns, for each annotator, the first annotator of its group of copies.
func (in *Input) first(pairs map[pairOf]alike) []int32 {
	chance, classes := 0., make([]float64, in.Classes)
	for i := range in.Rows {
		classes[in.Rows[i].Given[0]] += 1 / float64(len(in.Rows))
	}
	for _, p := range classes {
		chance += p * p
	}
	agree := make([][]float64, in.Annotators)
	for at, c := range pairs {
		if c.bags >= leastPairs {
			rate := (c.same/c.bags - chance) / (1 - chance) // not a number if all answers are one class
			agree[at.a], agree[at.b] = append(agree[at.a], rate), append(agree[at.b], rate)
		}
	}
	typical := make([]float64, in.Annotators)
	var all []float64
	for j, rates := range agree {
		if len(rates) > 0 {
			typical[j] = max(median(rates), .02)
			all = append(all, typical[j])
		}
	}
	first := make([]int32, in.Annotators)
	for j := range first {
		first[j] = int32(j)
	}
	if len(all) == 0 {
		return first
	}
	middle := median(all)
	var copied []pairOf
	for at, c := range pairs {
		expected := chance + (1-chance)*min(typical[at.a]*typical[at.b]/middle, 1)
		rate, deviation := c.same/c.bags, math.Sqrt(expected*(1-expected)/c.bags)
		if c.bags >= leastPairs && min(len(agree[at.a]), len(agree[at.b])) >= 3 && rate >= leastAlike &&
			rate-expected > max(leastExcess, leastDeviation*deviation) {
			copied = append(copied, at)
		}
	}
	slices.SortFunc(copied, func(p, q pairOf) int { return cmp.Or(cmp.Compare(p.a, q.a), cmp.Compare(p.b, q.b)) })
	for _, at := range copied {
		from, to := max(first[at.a], first[at.b]), min(first[at.a], first[at.b])
		for j := range first {
			if first[j] == from {
				first[j] = to
			}
		}
	}
	return first
}

func median(list []float64) float64 {
	slices.Sort(list)
	return (list[(len(list)-1)/2] + list[len(list)/2]) / 2
}
