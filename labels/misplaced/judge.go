package misplaced

import (
	"math"
	"math/bits"
)

// temper weakens the likelihoods of groups, because the words of a caption are not independent: a racket comes
// with a court. Measured on captions of COCO, where .6 to 1 found the foreign captions equally well, and .8
// their share best.
const temper = .8

// judge is one goroutine's working memory.
type judge struct {
	f      *finder
	priors [2][mostExact + 1][]float64
	sums   *sums
	final  bool // nothing is learned any more

	// The unit at hand.
	number int
	unit   *unit
	union  []int32
	masks  []uint8               // captions that mention each word of the union
	alone  [mostTogether]float64 // log likelihood of each caption by itself
	scores *scoredUnit           // nil without scores
	room   scoredUnit

	exact  exactRoom
	others othersRoom
}

func newJudge(f *finder, priors [2][mostExact + 1][]float64) *judge {
	return &judge{f: f, priors: priors}
}

// judge judges the captions of a unit, and adds it to the sums.
func (j *judge) judge(number int) {
	f := j.f
	j.number, j.unit, j.union = number, &f.units[number], f.index.unionOf(number)
	j.sums.members += float64(j.unit.captions)
	for c, caption := range f.of(j.unit) {
		j.alone[c] = j.aloneOf(caption)
	}
	j.scores = nil
	if scores := f.scoresOf(j.unit.bag); scores != nil && !(f.scoresMislead && j.unit.exact) {
		j.room.f, j.room.scores = f, scores
		j.scores = &j.room
	}
	if j.unit.exact {
		j.compareAll()
	} else {
		j.byOthers()
	}
}

// similarTo returns the log of the likelihood ratio of a single foreign caption that may come from a similar
// picture, to one of a random bag; ratio is the same of one that does come from a similar picture. similar is
// the probability that it does.
func (j *judge) similarTo(ratio float64) (log, similar float64) {
	s := j.f.prior.similar
	x := s * math.Exp(min(temper*ratio, mostExponent))
	return math.Log(1 - s + x), x / (1 - s + x)
}

// mostExponent bounds exponents.
const mostExponent = 500

// leastWeighed is the probability below which arrangements and groups are neglected.
const leastWeighed = 1e-6

// exactRoom is the memory of compareAll, by sets of captions.
type exactRoom struct {
	plain, own [1 << mostExact]float64 // log likelihood ratio of a group to single captions
	product    [1 << mostExact]float64
	weight     [1 << mostExact]float64            // probability that the set is a plain group
	ownWeight  [1 << mostExact]float64            // probability that the set is the bag's own, with scores
	near       [1 << mostExact][mostExact]float64 // log likelihood ratio of similar captions next to own ones
	similar    [1 << mostExact][mostExact]float64
	logs       []float64 // of arrangements
	counts     []uint8
}

func (j *judge) compareAll() {
	f, x, n := j.f, &j.exact, j.unit.captions
	sets := 1 << n
	j.findMasks()
	j.groupLikelihoods()
	scored, own := j.scores != nil, &x.plain
	if scored {
		j.scores.prepare(1, n)
		j.ownLikelihoods()
		own = &x.own
	}
	kind := 0
	if scored && f.scoresDecide {
		kind = 1
	}
	if f.prior.similar > 0 {
		j.nearLikelihoods()
	}
	all, priors := f.exact[kind][n], j.priors[kind][n]
	if cap(x.logs) < len(all) {
		x.logs = make([]float64, len(all))
	}
	x.logs = x.logs[:len(all)]
	most := math.Inf(-1)
	for i := range all {
		a := &all[i]
		sum := priors[i] + own[a.own]
		for _, g := range a.groups {
			sum += x.plain[g]
		}
		if f.prior.similar > 0 && onesOf(a.own) > 1 {
			for _, c := range a.singles {
				sum += x.near[a.own][c]
			}
		}
		x.logs[i] = sum
		most = max(most, sum)
	}
	total := 0.0
	for _, l := range x.logs {
		total += math.Exp(l - most)
	}
	j.sums.likelihood += most + math.Log(total)
	j.sums.together += own[sets-1]
	clear(x.weight[:sets])
	clear(x.ownWeight[:sets])
	counts := f.countsOf(j.number)
	clear(counts)
	var foreign [mostExact]float64
	for i := range all {
		p := math.Exp(x.logs[i]-most) / total
		if p < leastWeighed {
			continue
		}
		a := &all[i]
		j.arranged(a, p, scored)
		counts[a.foreign(n)] += float32(p)
		for c := range n {
			if a.own>>c&1 == 0 {
				foreign[c] += p
			}
		}
	}
	for c := range n {
		f.votes[j.unit.first+c] = min(max(1-foreign[c], 0), 1)
	}
	if j.final {
		return
	}
	if scored {
		j.scores.begin()
	}
	for set := 1; set < sets; set++ {
		plain, own, size := x.weight[set], x.ownWeight[set], onesOf(uint8(set))
		if max(plain, own) > leastWeighed {
			j.countIn(uint8(set))
		}
		if plain > leastWeighed {
			j.sums.group(f.tables, j.union, x.counts, size, plain)
		}
		if own > leastWeighed {
			j.scores.group(j.sums, j.union, x.counts, size, own)
		}
	}
	if scored {
		j.scores.end(j.sums)
	}
}

// countIn counts the mentions of each word of the union in a set of captions.
func (j *judge) countIn(set uint8) {
	j.exact.counts = j.exact.counts[:0]
	for _, mask := range j.masks {
		j.exact.counts = append(j.exact.counts, uint8(onesOf(mask&set)))
	}
}

// arranged adds an arrangement of probability p to the weights and to the sums for the prior.
func (j *judge) arranged(a *arrangement, p float64, scored bool) {
	x := &j.exact
	if scored {
		x.ownWeight[a.own] += p
		j.sums.scoresGain += p * (x.own[a.own] - x.plain[a.own]) / temper
	} else {
		x.weight[a.own] += p
	}
	for _, g := range a.groups {
		x.weight[g] += p
		j.sums.inGroups += p * float64(onesOf(g))
	}
	for _, c := range a.singles {
		x.weight[1<<c] += p
		if onesOf(a.own) > 1 {
			j.sums.alone += p
			j.sums.similar += p * x.similar[a.own][c]
		}
	}
	j.sums.groupsForeign += p * float64(len(a.groups)+len(a.singles))
	j.sums.unit(scored, j.unit.captions, a.foreign(j.unit.captions), p)
}

func (j *judge) findMasks() {
	j.masks = j.masks[:0]
	for range j.union {
		j.masks = append(j.masks, 0)
	}
	for c := range j.unit.captions {
		for _, place := range j.f.index.placesOf(j.unit.first + c) {
			j.masks[place] |= 1 << c
		}
	}
}

// groupLikelihoods computes plain for all sets.
func (j *judge) groupLikelihoods() {
	t, x := j.f.tables, &j.exact
	sets := 1 << j.unit.captions
	for set := 1; set < sets; set++ {
		x.plain[set] = t.silence[onesOf(uint8(set))]
	}
	for i, class := range j.union {
		of, mask := t.spoken[int(class)*t.width:][:t.width], j.masks[i]
		for set := 1; set < sets; set++ {
			if m := onesOf(mask & uint8(set)); m > 0 {
				x.plain[set] += of[row(onesOf(uint8(set)))+m]
			}
		}
	}
	x.plain[0] = 0
	for set := 1; set < sets; set++ {
		x.plain[set] = temper * (x.plain[set] - j.aloneAll(uint8(set)))
	}
}

// aloneAll is the log likelihood of the captions of a set if each came alone.
func (j *judge) aloneAll(set uint8) float64 {
	sum := 0.0
	for ; set != 0; set &= set - 1 {
		sum += j.alone[bits.TrailingZeros8(set)]
	}
	return sum
}

// nearLikelihoods computes near and similar of captions next to sets of two own captions or more.
func (j *judge) nearLikelihoods() {
	t, x, n := j.f.tables, &j.exact, j.unit.captions
	full := uint8(1<<n - 1)
	for set := uint8(1); set < full; set++ {
		size := onesOf(set)
		if size < 2 {
			continue
		}
		missed := t.nearSilence[size]
		var spoken [mostExact]float64
		at := row(size)
		for i, class := range j.union {
			from := int(class)*t.width + at
			m := onesOf(j.masks[i] & set)
			missed += t.nearMissed[from+m]
			said := t.nearSpoken[from+m]
			for rest := j.masks[i] &^ set; rest != 0; rest &= rest - 1 {
				spoken[bits.TrailingZeros8(rest)] += said
			}
		}
		for rest := full &^ set; rest != 0; rest &= rest - 1 {
			c := bits.TrailingZeros8(rest)
			x.near[set][c], x.similar[set][c] = j.similarTo(missed + spoken[c])
		}
	}
}

// ownLikelihoods computes own for all sets, with the scores.
func (j *judge) ownLikelihoods() {
	t, x, sets := j.f.tables, &j.exact, 1<<j.unit.captions
	for set := 1; set < sets; set++ {
		x.own[set], x.product[set] = j.scores.silence[onesOf(uint8(set))], 1
	}
	for i, class := range j.union {
		mask, from := j.masks[i], int(class)*(t.most+1)
		oddsA, oddsE := t.oddsA[from:from+t.most+1], t.oddsE[from:from+t.most+1]
		var none [mostExact + 1]float64
		for n := 1; n <= j.unit.captions; n++ {
			none[n] = j.scores.none(int(class), n)
		}
		for set := 1; set < sets; set++ {
			if m := onesOf(mask & uint8(set)); m > 0 {
				holds := none[onesOf(uint8(set))]
				x.product[set] *= holds*oddsA[m] + (1-holds)*oddsE[m]
			}
		}
		if i%6 == 5 || i == len(j.union)-1 { // before products grow out of bounds
			for set := 1; set < sets; set++ {
				x.own[set] += math.Log(x.product[set])
				x.product[set] = 1
			}
		}
	}
	x.own[0] = 0
	for set := 1; set < sets; set++ {
		x.own[set] = temper * (x.own[set] - j.aloneAll(uint8(set)))
	}
}
