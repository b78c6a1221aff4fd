package misplaced

import (
	"math"
	"slices"
)

// table is what bags without scores have in common: their words that no caption mentions. Its columns have a row of
// nodes for each class.
type table struct {
	prior []float64 // logits of p(y=1), of each class
	nodes int
	// unsaid is, at each node of the grid, the log likelihood ratio of an own caption to a foreign one for
	// mentioning none of all words: the sum over classes of each, log (1-s)/(1-pi).
	unsaid, each []float64
	holds        []float64 // probabilities that words hold
}

func newTable(votes float64, classes int) *table {
	nodes := gridNodes(votes)
	return &table{nodes: nodes, unsaid: make([]float64, nodes), each: make([]float64, nodes*classes),
		holds: make([]float64, nodes*classes)}
}

// node computes one for the rates of a round.
func (t *table) node(w *words, j int) {
	x, sum := nodeVotes(j), 0.0
	for c, prior := range t.prior {
		at := c*t.nodes + j
		t.holds[at] = sigmoid(prior + x*w.absent[c])
		t.each[at] = math.Log((1 - w.e[c] - (w.a[c]-w.e[c])*t.holds[at]) * w.unsaid[c])
		sum += t.each[at]
	}
	t.unsaid[j] = sum
}

// at are the values of a class from a node on.
func (t *table) at(column []float64, class int32, node int) []float64 {
	from := int(class) * t.nodes
	return column[from+node : from+t.nodes]
}

// word is one of the union of a bag.
type word struct {
	class           int32
	a, e            float64 // how often own captions mention it, against foreign ones: a/pi and e/pi
	notA, notE      float64 // how often they do not: (1-a)/(1-pi) and (1-e)/(1-pi)
	absent, present float64 // evidence of a caption for it
	holds           float64 // rho
	against         float64 // odds against it by all captions: exp(-logit)
	decay           float64 // factor of the odds without a caption that does not mention it
	without         float64 // the odds without the caption at hand
}

// judge is one goroutine's working memory.
type judge struct {
	f    *finder
	sums *sums

	// The bag at hand: its number, and its scores if it has any.
	now     int
	scores  []float32
	trusted float64 // votes of its captions, in all

	union  []word
	total  []float64 // logits of the union with the votes of all captions
	unsaid []float64 // at nodes from low on: as in table, of all words that no caption of the bag mentions
	low    int
	voted  float64 // vote that decay belongs to; NaN for none

	// With scores, per class: odds against it by the scores, and rho if no caption mentions it.
	against, row []float64
}

func newJudge(f *finder, s *sums) *judge {
	j := &judge{f: f, sums: s}
	if f.in.Scores != nil {
		k := len(f.words.pi)
		j.against, j.row = make([]float64, k), make([]float64, k)
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
	j.now, j.scores, j.trusted, j.voted = n, f.scoresOf(n), 0, math.NaN()
	for _, r := range votes {
		j.trusted += r
	}
	union := f.index.unionOf(n)
	j.makeRoom(len(union), votes)
	if j.scores != nil {
		j.scored(union)
	} else {
		j.plain(union)
	}
	own, other := f.index.own[f.index.owns[n]:], f.index.other[f.index.others[n]:]
	j.weigh(union, captions, votes, own)
	j.count(captions, votes, own)
	var replaced []int32
	for c, caption := range captions {
		at := f.first[n] + c
		replaced, other = nextOther(other)
		f.own[at], f.null[at] = j.caption(own[:len(caption)], replaced, votes[c])
		own = own[len(caption):]
	}
}

// others are the votes of a bag's other captions.
func (j *judge) others(vote float64) float64 { return max(j.trusted-vote, 0) }

// makeRoom finds the nodes around the votes that remain without each of a bag's captions.
func (j *judge) makeRoom(union int, votes []float64) {
	if cap(j.union) < union {
		j.union, j.total = make([]word, 2*union), make([]float64, 2*union)
	}
	j.union, j.total = j.union[:union], j.total[:union]
	j.low = interpolation(j.others(slices.Max(votes))).at
	nodes := interpolation(j.others(slices.Min(votes))).at + 4 - j.low
	if cap(j.unsaid) < nodes {
		j.unsaid = make([]float64, 2*nodes)
	}
	j.unsaid = j.unsaid[:nodes]
}

// plain prepares a bag without scores.
func (j *judge) plain(union []int32) {
	t := j.f.table
	copy(j.unsaid, t.unsaid[j.low:])
	l := interpolation(j.trusted)
	for i, w := range l.weight {
		j.sums.nodes[l.at+i] += w * j.trusted
	}
	for i, class := range union {
		for q, each := range t.at(t.each, class, j.low)[:len(j.unsaid)] {
			j.unsaid[q] -= each
		}
		j.total[i] = t.prior[class]
		j.union[i].holds = l.of(t.at(t.holds, class, 0)) // as if no caption mentioned it
	}
}

// scored prepares a bag with scores, which computes every class.
func (j *judge) scored(union []int32) {
	w, trusted := j.f.words, j.trusted
	k := len(j.scores)
	alpha, beta, absent := w.alpha[:k], w.beta[:k], w.absent[:k]
	odds, row, holds, regression := j.against[:k], j.row[:k], j.sums.holds[:k], j.sums.regression[:k]
	for class, o := range j.scores {
		logit := alpha[class]*float64(o) + beta[class]
		z, zd := exp(-within(logit, mostBase)), exp(-within(logit+trusted*absent[class], mostBase))
		both := 1 / ((1 + z) * (1 + zd))
		p, rho := (1+zd)*both, (1+z)*both
		odds[class], row[class] = z, rho
		holds[class] += trusted * rho
		regression[class].add(rho-p, p*(1-p), float64(o))
	}
	clear(j.unsaid)
	for from := 0; from < len(j.unsaid); from += atOnce {
		j.nodes(j.unsaid[from:min(from+atOnce, len(j.unsaid))], j.low+from, union)
	}
	for i, class := range union {
		j.total[i] = w.alpha[class]*float64(j.scores[class]) + w.beta[class]
		j.union[i].holds = j.row[class]
	}
}

// atOnce is how many nodes are computed at once.
const atOnce = 8

// nodes computes unsaid for a bag with scores at nodes from low on: over all classes, less the classes of the
// union.
func (j *judge) nodes(unsaid []float64, low int, union []int32) {
	f := j.f
	var numerator, denominator, product [atOnce]float64
	for i := range unsaid {
		numerator[i], denominator[i], product[i] = 1, 1, 1
	}
	for class, z := range j.against {
		silent := f.silent[class]
		for i, decay := range f.decay[class*f.nodes+low:][:len(unsaid)] {
			odds := z * decay
			if odds > mostOdds {
				odds = mostOdds
			}
			numerator[i] *= silent.notA + silent.notE*odds
			denominator[i] *= 1 + odds
		}
		if class%quotientsAtOnce == quotientsAtOnce-1 {
			for i := range unsaid {
				product[i] *= numerator[i] / denominator[i]
				numerator[i], denominator[i] = 1, 1
			}
		}
		if class%logsAtOnce == logsAtOnce-1 {
			for i := range unsaid {
				unsaid[i] += math.Log(product[i])
				product[i] = 1
			}
		}
	}
	for i := range unsaid {
		q := newQuotients()
		for _, class := range union {
			odds := min(j.against[class]*f.decay[int(class)*f.nodes+low+i], mostOdds)
			q.times(1+odds, f.silent[class].notA+f.silent[class].notE*odds)
		}
		unsaid[i] += math.Log(product[i]*numerator[i]/denominator[i]) + q.log()
	}
}

// weigh computes the evidence of all captions together on the union.
func (j *judge) weigh(union []int32, captions [][]int32, votes []float64, own []int32) {
	w := j.f.words
	for i, class := range union {
		a, e, unsaid := w.a[class], w.e[class], w.unsaid[class]
		j.union[i] = word{class: class, a: a / w.pi[class], e: e / w.pi[class], notA: (1 - a) * unsaid,
			notE: (1 - e) * unsaid, absent: w.absent[class], present: w.present[class], holds: j.union[i].holds}
		j.total[i] += j.trusted * w.absent[class]
	}
	for c, caption := range captions {
		for _, place := range own[:len(caption)] {
			j.total[place] += votes[c] * (j.union[place].present - j.union[place].absent)
		}
		own = own[len(caption):]
	}
	for i, logit := range j.total {
		j.union[i].against = against(logit, mostLogit)
	}
}

// count adds the bag to the sums. Words of the union were counted as if no caption mentioned them.
func (j *judge) count(captions [][]int32, votes []float64, own []int32) {
	s := j.sums
	s.votes += j.trusted
	for i := range j.union {
		word := &j.union[i]
		more := 1/(1+word.against) - word.holds
		s.holds[word.class] += j.trusted * more
		if j.scores != nil {
			s.regression[word.class].add(more, 0, float64(j.scores[word.class]))
		}
		word.holds += more
	}
	for c, caption := range captions {
		for i, class := range caption {
			rho := j.union[own[i]].holds
			s.mentions[class] += votes[c] * rho
			s.mistakes[class] += votes[c] * (1 - rho)
		}
		own = own[len(caption):]
	}
}

// caption returns the log likelihood ratio, in nats, of a caption belonging to this bag against another, from
// the votes of the other captions and the scores. null is that of a caption of another bag in its place.
// Words of both are given as their positions in the union.
func (j *judge) caption(own, other []int32, vote float64) (t, null float64) {
	j.leaveOut(own, vote)
	others := j.others(vote)
	l := interpolation(others)
	l.at -= j.low
	silent := newQuotients()
	for i := range j.union {
		word := &j.union[i]
		silent.times(word.notA+word.notE*word.without, 1+word.without)
	}
	t = l.of(j.unsaid) + silent.log() // mentioning nothing
	null = t
	said := newQuotients()
	for _, place := range own {
		said.times(j.union[place].mention())
	}
	t += said.log()
	said = newQuotients()
	for _, place := range other {
		if place >= 0 {
			said.times(j.union[place].mention())
		} else {
			said.times(j.mention(^place, others))
		}
	}
	return t, null + said.log()
}

// leaveOut finds the odds against the words of the union without a caption, by its places in it.
func (j *judge) leaveOut(own []int32, vote float64) {
	if vote != j.voted { // captions often have the same
		for i := range j.union {
			j.union[i].decay = exp(vote * j.union[i].absent)
		}
		j.voted = vote
	}
	for i := range j.union {
		j.union[i].without = j.union[i].against * j.union[i].decay
	}
	for _, place := range own {
		word := &j.union[place]
		word.without *= exp(vote * (word.present - word.absent))
	}
}

// mention returns the likelihood ratio of a mentioned word over one that is not mentioned: with s = (a + e
// z)/(1 + z) for odds z, the quotient of s/(1-s) and pi/(1-pi).
func (w *word) mention() (numerator, denominator float64) {
	return w.a + w.e*w.without, w.notA + w.notE*w.without
}

// mention is word.mention for a word that no caption of the bag mentions.
func (j *judge) mention(class int32, others float64) (numerator, denominator float64) {
	w := j.f.words
	logit := others * w.absent[class]
	if j.scores == nil {
		logit += j.f.table.prior[class]
	} else {
		logit += w.alpha[class]*float64(j.scores[class]) + w.beta[class]
	}
	a, e, z := w.a[class], w.e[class], against(logit, mostLogit)
	return (a + e*z) / w.pi[class], (1 - a + (1-e)*z) * w.unsaid[class]
}
