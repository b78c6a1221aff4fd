package misplaced

import "nmn/internal/rng"

// othersRoom is the memory of byOthers.
type othersRoom struct {
	counts []uint8 // mentions of each word of the union in the own captions
	places []int32 // of each class in the union; 0 for none, and otherwise one more
}

// byOthers judges the captions of a unit with many captions one by one, from the other captions that seem the bag's
// own. Next to it, a caption of another bag is judged in the place of each.
func (j *judge) byOthers() {
	f, x, n := j.f, &j.others, j.unit.captions
	if len(x.counts) < len(j.union) {
		x.counts = make([]uint8, 2*len(j.union))
	}
	if x.places == nil {
		x.places = make([]int32, f.in.Classes)
	}
	counts := x.counts[:len(j.union)]
	clear(counts)
	for i, class := range j.union {
		x.places[class] = int32(i + 1)
	}
	votes, size := f.votes[j.unit.first:j.unit.first+n], 0
	for c, v := range votes {
		if v >= .5 {
			j.count(counts, c, 1)
			size++
		}
	}
	other := &f.units[f.partners[j.number]]
	if j.final {
		j.sums.together += j.allOwn(counts)
	}
	for c, v := range votes {
		rest := size
		if v >= .5 {
			j.count(counts, c, -1)
			rest--
		}
		without := j.ownLikelihood(counts, rest)
		silent := j.ownLikelihood(counts, rest+1)
		t := silent + j.said(counts, rest+1, f.in.Captions[j.unit.bag][j.unit.first-f.first[j.unit.bag]+c])
		f.own[j.unit.first+c] = temper * (t - without - j.alone[c])
		foreign := f.of(other)[c%other.captions]
		t = silent + j.said(counts, rest+1, foreign)
		f.null[j.unit.first+c] = temper * (t - without - j.aloneOf(foreign))
		if v >= .5 {
			j.count(counts, c, 1)
		}
	}
	for _, class := range j.union {
		x.places[class] = 0
	}
	if !j.final {
		j.learnFrom(counts, size)
	}
}

// count adds the words of a caption to the counts, by times.
func (j *judge) count(counts []uint8, c, by int) {
	for _, place := range j.f.index.placesOf(j.unit.first + c) {
		counts[place] += uint8(by)
	}
}

// ownLikelihood is the log likelihood of n own captions with these mentions.
func (j *judge) ownLikelihood(counts []uint8, n int) float64 {
	if n == 0 {
		return 0
	}
	sum, t := j.silence(n), j.f.tables
	for i, m := range counts {
		if m > 0 {
			sum += j.spoken(t, int(j.union[i]), n, int(m))
		}
	}
	return sum
}

func (j *judge) silence(n int) float64 {
	if j.scores != nil {
		return j.scores.silence[n]
	}
	return j.f.tables.silence[n]
}

// spoken is what m mentions add to the log likelihood of n own captions.
func (j *judge) spoken(t *tables, class, n, m int) float64 {
	switch {
	case m == 0:
		return 0
	case j.scores != nil:
		return j.scores.spoken(class, n, m)
	}
	return t.spoken[class*t.width+row(n)+m]
}

// said is what the words of a caption add to the log likelihood of n own captions with it. counts are the
// mentions of the others.
func (j *judge) said(counts []uint8, n int, caption []int32) float64 {
	sum, t := 0.0, j.f.tables
	for _, class := range caption {
		m := 0
		if place := j.others.places[class]; place > 0 {
			m = int(counts[place-1])
		}
		sum += j.spoken(t, int(class), n, m+1) - j.spoken(t, int(class), n, m)
	}
	return sum
}

// aloneOf is the log likelihood of a caption by itself.
func (j *judge) aloneOf(caption []int32) float64 {
	t := j.f.tables
	sum := t.silence[1]
	for _, class := range caption {
		sum += t.spoken[int(class)*t.width+row(1)+1]
	}
	return sum
}

// allOwn is the sum of the log likelihood ratios of the captions, each given all others, to captions of random
// bags.
func (j *judge) allOwn(own []uint8) float64 {
	n, sum := j.unit.captions, 0.0
	counts := make([]uint8, len(own))
	for c := range n {
		j.count(counts, c, 1)
	}
	all := j.ownLikelihood(counts, n)
	for c := range n {
		j.count(counts, c, -1)
		sum += temper * (all - j.ownLikelihood(counts, n-1) - j.alone[c])
		j.count(counts, c, 1)
	}
	return sum
}

// learnFrom adds the own captions as a group, and each other caption by itself. A single caption is both, by
// its probability.
func (j *judge) learnFrom(counts []uint8, size int) {
	f, n := j.f, j.unit.captions
	votes, weight := f.votes[j.unit.first:j.unit.first+n], 1.
	if n == 1 {
		clear(counts)
		j.count(counts, 0, 1)
		size, weight = 1, votes[0]
	}
	switch {
	case size == 0:
	case j.scores != nil:
		j.scores.begin()
		j.scores.group(j.sums, j.union, counts, size, weight)
		j.scores.end(j.sums)
	default:
		j.sums.group(f.tables, j.union, counts, size, weight)
	}
	for c, v := range votes {
		if n == 1 || v < .5 {
			clear(counts)
			j.count(counts, c, 1)
			rest := 1.
			if n == 1 {
				rest -= v
			}
			j.sums.group(f.tables, j.union, counts, 1, rest)
		}
	}
}

// pair gives each unit that is judged by its others another one, at random: a random order in which each is
// compared with the next, and the last with the first.
func (f *finder) pair() {
	var order []int
	for i := range f.units {
		if u := &f.units[i]; !u.exactly() && f.witnessed(u) {
			order = append(order, i)
		}
	}
	if len(order) == 0 {
		return
	}
	f.own, f.null = make([]float64, f.captions), make([]float64, f.captions)
	f.partners, f.compared = map[int]int{}, map[kind]*densities{}
	stream := rng.New(f.seed)
	stream.Shuffle(order)
	for i, n := range order {
		f.partners[n] = order[(i+1)%len(order)]
	}
}

// kind is what units that are judged by others have in common, so that their captions are compared together.
type kind struct{ scored, single bool }

var kinds = [...]kind{{false, false}, {true, false}, {true, true}}

func (f *finder) kindOf(u *unit) kind { return kind{f.scored(u.bag), u.captions == 1} }

// vote gives the captions of large units their probabilities, from all units whose number is a multiple of
// stride. It returns the log of the likelihood ratio of these captions to captions of random bags.
func (f *finder) vote(stride int) float64 {
	likelihood := 0.0
	clear(f.compared)
	for _, k := range kinds {
		var own, null, votes []float64
		each := func(handle func(u *unit, from, to int)) {
			for i := 0; i < len(f.units); i += stride {
				if u := &f.units[i]; !u.exactly() && k == f.kindOf(u) {
					handle(u, u.first, u.first+u.captions)
				}
			}
		}
		each(func(_ *unit, from, to int) {
			own, null = append(own, f.own[from:to]...), append(null, f.null[from:to]...)
			votes = append(votes, f.votes[from:to]...)
		})
		if len(own) == 0 {
			continue
		}
		d := compare(own, null, votes)
		f.compared[k] = d
		likelihood += gain(own)
		each(func(u *unit, from, to int) {
			for at := from; at < to; at++ {
				f.votes[at] = d.own(f.own[at])
			}
		})
	}
	return likelihood
}
