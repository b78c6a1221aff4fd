package misplaced

import "nmn/internal/rng"

// othersRoom is the memory of byOthers.
type othersRoom struct {
	counts []uint8 // mentions of each word of the union in the own captions
	less   []uint8 // 1 for the words of the caption at hand, if it is one of the own captions
	size   int     // own captions
	places []int32 // of each class in the union; 0 for none, and otherwise one more
	// spoken is, next to size own captions, what mentions of each word add to the log likelihood: of size-1 to
	// size+1 captions, with one mention less than the counts to one more. all are their log likelihoods with as many
	// mentions as the counts.
	spoken [3][3][]float64
	all    [3]float64
}

// byOthers judges the captions of a unit with many captions one by one, from the other captions that seem the bag's
// own. Next to it, a caption of another bag is judged in the place of each.
func (j *judge) byOthers() {
	f, x, n := j.f, &j.others, j.unit.captions
	if len(x.counts) < len(j.union) {
		x.counts, x.less = make([]uint8, 2*len(j.union)), make([]uint8, 2*len(j.union))
	}
	if x.places == nil {
		x.places = make([]int32, f.in.Classes)
	}
	votes := f.votes[j.unit.first : j.unit.first+n]
	if j.final {
		j.prepare(votes, 0) // all are own
		for c := range n {
			j.sums.together += j.given(c, true, f.index.placesOf(j.unit.first+c), j.alone[c])
		}
	}
	size := j.prepare(votes, .5)
	for i, class := range j.union {
		x.places[class] = int32(i + 1)
	}
	other := &f.units[f.partners[j.number]]
	var replaced []int32
	for c, v := range votes {
		foreign := f.of(other)[c%other.captions]
		replaced = replaced[:0]
		for _, class := range foreign {
			if place := x.places[class]; place > 0 {
				replaced = append(replaced, place-1)
			} else {
				replaced = append(replaced, ^class)
			}
		}
		at := j.unit.first + c
		f.own[at] = j.given(c, v >= .5, f.index.placesOf(at), j.alone[c])
		f.null[at] = j.given(c, v >= .5, replaced, j.aloneOf(foreign))
	}
	for _, class := range j.union {
		x.places[class] = 0
	}
	if !j.final {
		j.learnFrom(x.counts[:len(j.union)], size)
	}
}

// prepare counts the captions whose votes are at least as given, and computes what they say. It returns their number.
func (j *judge) prepare(votes []float64, least float64) (size int) {
	x := &j.others
	counts := x.counts[:len(j.union)]
	clear(counts)
	for c, v := range votes {
		if v >= least {
			j.count(counts, c, 1)
			size++
		}
	}
	x.size = size
	if j.scores != nil {
		j.scores.prepare(max(size-1, 0), min(size+1, len(votes)))
	}
	for i := range x.spoken {
		n := size - 1 + i
		for k := range x.spoken[i] {
			if len(x.spoken[i][k]) < len(j.union) {
				x.spoken[i][k] = make([]float64, 2*len(j.union))
			}
		}
		x.all[i] = 0
		if n < 0 || n > len(votes) {
			continue
		}
		x.all[i] = j.silence(n)
		for u, class := range j.union {
			for k := range x.spoken[i] {
				if m := int(counts[u]) + k - 1; m >= 0 && m <= n {
					x.spoken[i][k][u] = j.spoken(int(class), n, m)
				}
			}
			x.all[i] += x.spoken[i][1][u]
		}
	}
	return size
}

// count adds the words of a caption to the counts, by times.
func (j *judge) count(counts []uint8, c, by int) {
	for _, place := range j.f.index.placesOf(j.unit.first + c) {
		counts[place] += uint8(by)
	}
}

// given is t of a caption in the place of caption c: the log of the ratio of its likelihood, given the own captions
// but c, to its likelihood alone. own is set if c is one of these. Words are given as places in the union, or
// as ^class outside of it.
func (j *judge) given(c int, own bool, words []int32, alone float64) float64 {
	x, less := &j.others, j.others.less
	without := 1 // of spoken and all
	sum := 0.0
	if own {
		without = 0
		for _, place := range j.f.index.placesOf(j.unit.first + c) {
			less[place] = 1
			sum += x.spoken[1][0][place] - x.spoken[1][1][place] - x.spoken[0][0][place] + x.spoken[0][1][place]
		}
	}
	sum += x.all[without+1] - x.all[without]
	for _, place := range words {
		if place < 0 {
			sum += j.spoken(int(^place), x.size+without, 1)
			continue
		}
		m := 1 - less[place]
		sum += x.spoken[without+1][m+1][place] - x.spoken[without+1][m][place]
	}
	if own {
		for _, place := range j.f.index.placesOf(j.unit.first + c) {
			less[place] = 0
		}
	}
	return temper * (sum - alone)
}

func (j *judge) silence(n int) float64 {
	if j.scores != nil {
		return j.scores.silence[n]
	}
	return j.f.tables.silence[n]
}

// spoken is what m mentions add to the log likelihood of n own captions.
func (j *judge) spoken(class, n, m int) float64 {
	switch t := j.f.tables; {
	case m == 0:
		return 0
	case j.scores != nil:
		_, log := j.scores.mentions(class, n, m)
		return log
	default:
		return t.spoken[class*t.width+row(n)+m]
	}
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
		if u := &f.units[i]; !u.exact && f.witnessed(u) {
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
				if u := &f.units[i]; !u.exact && k == f.kindOf(u) {
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
