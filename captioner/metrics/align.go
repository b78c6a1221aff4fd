package metrics

import (
	"cmp"
	"slices"
)

// match is a phrase of the candidate that means the same as a phrase of the reference.
type match struct {
	by             module
	at, length     int // in the reference
	from, fromSize int // in the candidate
}

// aligner finds the best alignment of captions. It is for one goroutine.
type aligner struct {
	meteor  *Meteor
	stems   *stemmer
	senses  map[string][]int32
	words   [2][]string
	matches [][]match // by where they start in the reference
	covered [2][]int  // by how many matches a word is
}

func (m *Meteor) aligner() *aligner {
	return &aligner{meteor: m, stems: newStemmer(), senses: map[string][]int32{}}
}

// best scores a candidate against each reference and returns the counts of the best, the first of equals.
func (a *aligner) best(it item) meteorCount {
	var best meteorCount
	highest := -1.
	candidate := a.meteor.normalise(it.candidate)
	for _, reference := range it.references {
		c := a.align(candidate, a.meteor.normalise(reference))
		if s := c.score(a.meteor.modules()); s > highest {
			best, highest = c, s
		}
	}
	return best
}

// align finds all matches by all modules, and searches for the alignment that covers most.
func (a *aligner) align(candidate, reference []string) meteorCount {
	a.begin(candidate, reference)
	last := a.meteor.last
	if slices.Equal(candidate, reference) {
		last = exact // the search could otherwise miss the alignment of equals
	}
	a.matchWords(exact, func(c, r string) bool { return c == r })
	if last >= stem {
		a.matchWords(stem, func(c, r string) bool { return c != r && a.stems.stem(c) == a.stems.stem(r) })
	}
	if last >= synonym {
		a.matchWords(synonym, func(c, r string) bool { return c != r && a.shareSense(c, r) })
	}
	if last >= paraphrase {
		a.matchPhrases()
	}
	return a.count(a.search(a.certain()))
}

func (a *aligner) begin(candidate, reference []string) {
	a.words = [2][]string{candidate, reference}
	for side, words := range a.words {
		a.covered[side] = append(a.covered[side][:0], make([]int, len(words))...)
	}
	for len(a.matches) < len(reference) {
		a.matches = append(a.matches, nil)
	}
	a.matches = a.matches[:len(reference)]
	for i := range a.matches {
		a.matches[i] = a.matches[i][:0]
	}
}

// matchWords adds every pair of words that are alike.
func (a *aligner) matchWords(by module, alike func(c, r string) bool) {
	for j, r := range a.words[1] {
		for i, c := range a.words[0] {
			if alike(c, r) {
				a.add(match{by: by, at: j, length: 1, from: i, fromSize: 1})
			}
		}
	}
}

func (a *aligner) add(m match) {
	a.matches[m.at] = append(a.matches[m.at], m)
	for k := range m.fromSize {
		a.covered[0][m.from+k]++
	}
	for k := range m.length {
		a.covered[1][m.at+k]++
	}
}

// shareSense reports whether two words are in one set of synonyms.
func (a *aligner) shareSense(c, r string) bool {
	of := func(w string) []int32 {
		senses, ok := a.senses[w]
		if !ok {
			senses = a.meteor.synonyms.senses(w)
			a.senses[w] = senses
		}
		return senses
	}
	one, other := of(c), of(r)
	for i, j := 0, 0; i < len(one) && j < len(other); {
		switch cmp.Compare(one[i], other[j]) {
		case 0:
			return true
		case -1:
			i++
		default:
			j++
		}
	}
	return false
}

// path is an alignment of the reference up to a word.
type path struct {
	chosen []*match // by where they start in the reference
	used   [2][]bool
	next   int // first word of the reference after the last match
	end    int // word of the candidate after the last match, if that reaches up to here; -1 otherwise
	// What paths are compared by. METEOR counts the matches with whole numbers, in which one word that is
	// not matched exactly is worth nothing, and a pair of them one.
	weight           [2]int
	chunks, distance int
}

func (p *path) clone() *path {
	q := *p
	q.chosen = slices.Clone(p.chosen)
	q.used = [2][]bool{slices.Clone(p.used[0]), slices.Clone(p.used[1])}
	return &q
}

func (p *path) free(m *match) bool {
	return !slices.Contains(p.used[0][m.from:m.from+m.fromSize], true) &&
		!slices.Contains(p.used[1][m.at:m.at+m.length], true)
}

func (p *path) use(m *match) {
	p.chosen[m.at] = m
	for k := range m.fromSize {
		p.used[0][m.from+k] = true
	}
	for k := range m.length {
		p.used[1][m.at+k] = true
	}
}

// take counts a match at the end of the path.
func (p *path) take(m *match) {
	size := [2]int{m.fromSize, m.length}
	for side, n := range size {
		if m.by != exact {
			n /= 2
		}
		p.weight[side] += n
	}
	if p.end != -1 && m.from != p.end {
		p.chunks++
	}
	p.next, p.end = m.at+m.length, m.from+m.fromSize
}

// certain starts with the matches whose words have no other.
func (a *aligner) certain() *path {
	p := &path{chosen: make([]*match, len(a.matches)), end: -1}
	for side, words := range a.words {
		p.used[side] = make([]bool, len(words))
	}
	for i := range a.matches {
		if len(a.matches[i]) != 1 {
			continue
		}
		m := &a.matches[i][0]
		alone := func(covered []int) bool {
			return !slices.ContainsFunc(covered, func(n int) bool { return n != 1 })
		}
		if alone(a.covered[0][m.from:m.from+m.fromSize]) && alone(a.covered[1][m.at:m.at+m.length]) {
			p.use(m)
		}
	}
	return p
}

// beamWidth is how many paths are followed.
const beamWidth = 40

// search goes through the reference from left to right and returns the best path.
func (a *aligner) search(start *path) *path {
	paths, next := []*path{}, []*path{start}
	for at := range a.matches {
		paths, next = next, paths[:0]
		rank(paths)
		for _, p := range paths[:min(beamWidth, len(paths))] {
			next = a.extend(p, at, next)
		}
		if len(next) == 0 {
			next = append(next, paths[0])
		}
	}
	rank(next)
	next = next[:min(beamWidth, len(next))]
	for _, p := range next {
		if p.end != -1 {
			p.chunks++
		}
	}
	rank(next)
	return next[0]
}

// rank puts paths that cover more first, then those in fewer chunks, then those that move words less;
// equals keep their order.
func rank(paths []*path) {
	slices.SortStableFunc(paths, func(p, q *path) int {
		return cmp.Or(q.weight[0]+q.weight[1]-p.weight[0]-p.weight[1], p.chunks-q.chunks, p.distance-q.distance)
	})
}

// extend appends what becomes of a path at a word of the reference.
func (a *aligner) extend(p *path, at int, next []*path) []*path {
	if p.used[1][at] {
		switch {
		case at < p.next: // inside a phrase
			return append(next, p)
		case p.chosen[p.next] != nil:
			m := p.chosen[p.next]
			p.take(m)
			p.distance += distance(m)
			return append(next, p)
		}
		return next
	}
	for i := range a.matches[at] {
		m := &a.matches[at][i]
		if !p.free(m) {
			continue
		}
		q := p.clone()
		q.use(m)
		q.take(m)
		p.distance += distance(m) // METEOR charges it to the path that does not take the match
		next = append(next, q)
	}
	if p.end != -1 {
		p.chunks++
		p.end = -1
	}
	p.next++
	return append(next, p)
}

func distance(m *match) int { return max(m.at-m.from, m.from-m.at) }

// count sums up an alignment.
func (a *aligner) count(p *path) meteorCount {
	var c meteorCount
	var isFunction [2][]bool
	for side, words := range a.words {
		isFunction[side] = make([]bool, len(words))
		c.length[side] = float64(len(words))
		for i, w := range words {
			if a.meteor.functions[w] {
				isFunction[side][i] = true
				c.functions[side]++
			}
		}
	}
	tally := func(side, from, n int, by module) {
		for _, function := range isFunction[side][from : from+n] {
			if function {
				c.function[side][by]++
			} else {
				c.content[side][by]++
			}
		}
	}
	for _, m := range p.chosen {
		if m != nil {
			tally(0, m.from, m.fromSize, m.by)
			tally(1, m.at, m.length, m.by)
		}
	}
	c.chunks = float64(chunks(p.chosen))
	return c
}

// chunks counts runs of matches that follow each other on both sides.
func chunks(chosen []*match) int {
	n, end := 0, -1
	for at := 0; at < len(chosen); {
		m := chosen[at]
		if m == nil {
			end = -1
			at++
			continue
		}
		if m.from != end {
			n++
		}
		at, end = m.at+m.length, m.from+m.fromSize
	}
	return n
}
