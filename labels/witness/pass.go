package witness

import "math"

// table is what bags without scores have in common: their words that no caption mentions.
type table struct {
	prior []float64 // logits of p(y=1)
	// unsaid is, at each node of the grid, how much more likely it is of an own caption than of a foreign one to mention
	// none of all words: the sum over classes of log (1-s)/(1-pi).
	unsaid []float64
}

// node computes one for the rates of a round.
func (t *table) node(w *words, j int) {
	x, sum := nodeVotes(j), logSum{product: 1}
	for c, prior := range t.prior {
		sum.times((1 - w.said(c, prior+x*w.absent[c])) * w.unsaid[c])
	}
	t.unsaid[j] = sum.log()
}

// logSum adds logarithms by multiplying, and takes the logarithm of several factors at once. Factors must lie between
// 1e-9 and 1e9.
type logSum struct {
	product, sum float64
	factors      int
}

func (s *logSum) times(factor float64) {
	s.product *= factor
	if s.factors++; s.factors == 32 {
		s.sum += math.Log(s.product)
		s.product, s.factors = 1, 0
	}
}

func (s *logSum) log() float64 { return s.sum + math.Log(s.product) }

// judge is one goroutine's working memory.
type judge struct {
	f    *finder
	sums *sums

	// The bag at hand: its number, and its scores if it has any.
	now    int
	scores []float32

	place  []int32   // of a class in the union of a bag's words, where stamp is that of the bag
	stamp  []int32   // number of the bag that place belongs to
	union  []int32   // classes that the captions of the bag mention
	base   []float64 // logits of p(y=1) without captions, of the union
	total  []float64 // the same with the votes of all captions
	row    []float64 // rho of words that nobody mentions, of all classes; with scores
	unsaid []float64 // as in table, of a bag with scores
	low    int       // node of unsaid[0]
	said   []float64 // for each of the union: log s/pi - log (1-s)/(1-pi)
}

func newJudge(f *finder, s *sums) *judge {
	k := len(f.words.pi)
	j := &judge{f: f, sums: s, place: make([]int32, k), stamp: make([]int32, k)}
	if f.in.Scores != nil {
		j.row = make([]float64, k)
	}
	for c := range j.stamp {
		j.stamp[c] = -1
	}
	return j
}

// bag judges the captions of a bag, and adds it to the sums.
func (j *judge) bag(n int) {
	f := j.f
	captions, votes := f.in.Captions[n], f.votes[f.first[n]:f.first[n+1]]
	if len(captions) == 0 {
		return
	}
	trusted := 0.0
	for _, r := range votes {
		trusted += r
	}
	j.now, j.scores = n, f.scoresOf(n)
	j.unite(captions)
	if j.scores != nil {
		j.scored(trusted, votes)
	} else {
		j.plain(trusted)
	}
	j.weigh(captions, votes, trusted)
	j.count(captions, votes, trusted)
	partner := f.in.Captions[f.partner[n]]
	for c, caption := range captions {
		at := f.first[n] + c
		others := max(trusted-votes[c], 0)
		f.own[at], f.null[at] = j.caption(caption, partner[c%len(partner)], votes[c], others)
	}
}

// unite lists the words that the captions mention.
func (j *judge) unite(captions [][]int32) {
	j.union = j.union[:0]
	for _, caption := range captions {
		for _, class := range caption {
			if j.stamp[class] != int32(j.now) {
				j.stamp[class], j.place[class] = int32(j.now), int32(len(j.union))
				j.union = append(j.union, class)
			}
		}
	}
	if len(j.base) < len(j.union) {
		j.base, j.total = make([]float64, 2*len(j.union)), make([]float64, 2*len(j.union))
		j.said = make([]float64, 2*len(j.union))
	}
}

// plain prepares a bag without scores.
func (j *judge) plain(votes float64) {
	t := j.f.table
	for i, class := range j.union {
		j.base[i] = t.prior[class]
	}
	l := interpolation(votes)
	for i, w := range l.weight {
		j.sums.nodes[l.at+i] += w * votes
	}
}

// scored prepares a bag with scores: the words that nobody mentions are computed one by one, at the nodes around the
// votes that its captions have.
func (j *judge) scored(votes float64, each []float64) {
	f, w, scores := j.f, j.f.words, j.scores
	most := 0.0
	for _, r := range each {
		most = max(most, r)
	}
	whole := interpolation(votes)
	j.low = interpolation(max(votes-most, 0)).at
	nodes := whole.at + 4 - j.low
	if cap(j.unsaid) < nodes {
		j.unsaid = make([]float64, 2*nodes)
	}
	j.unsaid = j.unsaid[:nodes]
	var factors [64]float64 // of the nodes; more are computed in parts
	clear(j.unsaid)
	for from := 0; from < nodes; from += len(factors) {
		part := j.unsaid[from:min(from+len(factors), nodes)]
		for i := range part {
			factors[i] = 1
		}
		for class, o := range scores {
			z := math.Exp(-(w.alpha[class]*float64(o) + w.beta[class]))
			own, spread := (1-w.e[class])*w.unsaid[class], (w.a[class]-w.e[class])*w.unsaid[class]
			decay := f.decay[class*f.nodes+j.low+from:]
			for i := range part {
				factors[i] *= own - spread/(1+z*decay[i])
			}
			if class%32 == 31 {
				for i := range part {
					part[i] += math.Log(factors[i])
					factors[i] = 1
				}
			}
		}
		for i := range part {
			part[i] += math.Log(factors[i])
		}
	}
	for class, o := range scores {
		z := math.Exp(-(w.alpha[class]*float64(o) + w.beta[class]))
		decay := f.decay[class*f.nodes+whole.at:]
		rho := 0.0
		for i, weight := range whole.weight {
			rho += weight / (1 + z*decay[i])
		}
		j.row[class] = rho
		j.sums.holds[class] += votes * rho
		p := 1 / (1 + z)
		j.sums.regression[class].add(rho-p, p*(1-p), float64(o))
	}
	for i, class := range j.union {
		j.base[i] = w.alpha[class]*float64(scores[class]) + w.beta[class]
	}
}

// weigh finds what all captions together say of the union.
func (j *judge) weigh(captions [][]int32, votes []float64, trusted float64) {
	w := j.f.words
	for i, class := range j.union {
		j.total[i] = j.base[i] + trusted*w.absent[class]
	}
	for c, caption := range captions {
		for _, class := range caption {
			j.total[j.place[class]] += votes[c] * (w.present[class] - w.absent[class])
		}
	}
}

// count adds the bag to the sums. Words of the union were counted as if nobody mentioned them.
func (j *judge) count(captions [][]int32, votes []float64, trusted float64) {
	w, s, scores := j.f.words, j.sums, j.scores
	s.votes += trusted
	for i, class := range j.union {
		rho := sigmoid(j.total[i])
		if scores != nil {
			s.holds[class] += trusted * (rho - j.row[class])
			s.regression[class].add(rho-j.row[class], 0, float64(scores[class]))
		} else {
			s.holds[class] += trusted * (rho - sigmoid(j.base[i]+trusted*w.absent[class]))
		}
		j.said[i] = rho
	}
	for c, caption := range captions {
		for _, class := range caption {
			rho := j.said[j.place[class]]
			s.mentions[class] += votes[c] * rho
			s.mistakes[class] += votes[c] * (1 - rho)
		}
	}
}

// caption is how much more likely a caption is of this bag than of another, in nats, from the votes of the other
// captions and the scores; and the same of a caption of another bag in its place.
func (j *judge) caption(own, other []int32, vote, others float64) (t, null float64) {
	w := j.f.words
	l := interpolation(others)
	if j.scores != nil {
		l.at -= j.low
		t = l.of(j.unsaid)
	} else {
		t = l.of(j.f.table.unsaid)
	}
	for i, class := range j.union {
		j.said[i] = j.total[i] - vote*w.absent[class]
	}
	for _, class := range own {
		j.said[j.place[class]] -= vote * (w.present[class] - w.absent[class])
	}
	silent := logSum{product: 1} // as if it mentioned no word of the union, in place of nobody mentioning any
	for i, class := range j.union {
		s, nobody := w.said(int(class), j.said[i]), w.said(int(class), j.base[i]+others*w.absent[class])
		silent.times((1 - s) / (1 - nobody))
		j.said[i] = s
	}
	t += silent.log()
	null = t
	for _, class := range own {
		t += w.mention(class, j.said[j.place[class]])
	}
	for _, class := range other {
		if j.stamp[class] == int32(j.now) {
			null += w.mention(class, j.said[j.place[class]])
		} else {
			null += w.mention(class, w.said(int(class), j.baseOf(class)+others*w.absent[class]))
		}
	}
	return t, null
}

// baseOf is the logit of p(y=1) of any class without captions.
func (j *judge) baseOf(class int32) float64 {
	if j.scores == nil {
		return j.f.table.prior[class]
	}
	w := j.f.words
	return w.alpha[class]*float64(j.scores[class]) + w.beta[class]
}
