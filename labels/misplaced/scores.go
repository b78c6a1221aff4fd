package misplaced

import "math"

// scoredUnit computes the likelihoods of a unit's own captions from the scores of its bag: p_k is
// sigmoid(alpha o + beta) instead of the share of all groups.
type scoredUnit struct {
	f      *finder
	scores []float32
	p, q   []float64 // p(y=1) by the scores, per class, and 1-p
	// silence is, for each number of own captions, the log likelihood that they mention no word.
	silence []float64
	sizes   []float64 // weights of own groups by size
}

// leastOdds bounds scores. Beyond, a word holds or does not.
const leastOdds = 40

// prepare computes p, and silence for numbers of own captions from low to high.
func (s *scoredUnit) prepare(low, high int) {
	t, w, k := s.f.tables, s.f.words, len(s.scores)
	if len(s.p) < k {
		s.p, s.q = make([]float64, k), make([]float64, k)
		s.silence, s.sizes = make([]float64, t.most+1), make([]float64, t.most+1)
	}
	copy(s.silence, t.silence)
	together := 16 // classes of a product that stays in bounds
	if high > mostExact {
		together = 4
	}
	var product [mostTogether + 1]float64
	for i := range product {
		product[i] = 1
	}
	for class, o := range s.scores {
		z := math.Exp(-min(max(w.alpha[class]*float64(o)+w.beta[class], -leastOdds), leastOdds))
		p := 1 / (1 + z)
		q := z * p
		s.p[class], s.q[class] = p, q
		from := class*(t.most+1) + low
		noA, noE, silent := t.noA[from:from+high-low+1], t.noE[from:], t.silent[from:]
		for i, a := range noA {
			product[i] *= (p*a + q*noE[i]) * silent[i]
		}
		if class%together == together-1 || class == k-1 {
			for i := range noA {
				s.silence[low+i] += math.Log(product[i])
				product[i] = 1
			}
		}
	}
}

// none returns p(y=1) of a class if n own captions do not mention it.
func (s *scoredUnit) none(class, n int) float64 {
	at := class*(s.f.tables.most+1) + n
	x := s.p[class] * s.f.tables.noA[at]
	return x / (x + s.q[class]*s.f.tables.noE[at])
}

// mentions returns p(y=1) of a word that m of n own captions mention, and what the mentions add to the log
// likelihood.
func (s *scoredUnit) mentions(class, n, m int) (holds, log float64) {
	none, at := s.none(class, n), class*(s.f.tables.most+1)+m
	x := none * s.f.tables.oddsA[at]
	both := x + (1-none)*s.f.tables.oddsE[at]
	return x / both, math.Log(both)
}

// begin forgets the groups so far.
func (s *scoredUnit) begin() { clear(s.sizes) }

// group adds an own group of n captions of the given weight to the sums, apart from what end adds.
func (s *scoredUnit) group(to *sums, union []int32, counts []uint8, n int, weight float64) {
	s.sizes[n] += weight
	to.captions += weight * float64(n)
	to.groups += weight
	for i, m := range counts {
		if m == 0 {
			continue
		}
		class := int(union[i])
		holds, _ := s.mentions(class, n, int(m))
		none := s.none(class, n)
		to.mention(class, n, int(m), weight, holds, none)
		to.regression[class].Add(weight*(holds-none), 0, float64(s.scores[class]))
	}
}

// end adds what all own groups of the unit add for words that they do not mention.
func (s *scoredUnit) end(to *sums) {
	all := 0.0
	for _, w := range s.sizes {
		all += w
	}
	if all == 0 {
		return
	}
	var sizes []int
	for size, w := range s.sizes {
		if w > leastWeighed {
			sizes = append(sizes, size)
		}
	}
	for class, o := range s.scores {
		holds, captions := 0.0, 0.0
		for _, size := range sizes {
			none := s.sizes[size] * s.none(class, size)
			holds += none
			captions += float64(size) * none
		}
		to.holds[class] += captions
		to.grouped[class] += holds
		p := s.p[class]
		to.regression[class].Add(holds-all*p, all*p*(1-p), float64(o))
	}
}
