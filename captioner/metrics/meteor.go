package metrics

import (
	"math"
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// module is a way in which words match. Earlier ones are surer.
type module int

const (
	exact module = iota
	stem
	synonym
	paraphrase
	allModules
)

// METEOR 1.5 (Denkowski and Lavie, 2014) as tuned for ranking English: weights of the modules, of
// precision against recall, of fragmentation, and of content words against function words.
var moduleWeights = [allModules]float64{exact: 1, stem: .6, synonym: .8, paraphrase: .6}

const (
	alpha = .85
	beta  = .2
	gamma = .6
	delta = .75
)

// Meteor is METEOR 1.5 for English with the resources it has. It is safe for concurrent use.
type Meteor struct {
	functions   map[string]bool
	synonyms    *synonyms
	paraphrases paraphrases
	prefixes    map[string]bool // words that keep their full stop; the value says only before a number
	last        module          // the last module that is used
}

// NewMeteor needs no files: it matches words and stems. Its function words are a short list of our own, so
// that scores differ by a little from those with METEOR's list, which LoadMeteor takes.
func NewMeteor() *Meteor {
	m := &Meteor{functions: map[string]bool{}, last: stem}
	for _, w := range strings.Fields(functionWords) {
		m.functions[w] = true
	}
	return m
}

// functionWords are words of the closed classes.
const functionWords = `a an the this that these those some any no all each every both other
i you he she it we they him her them his its their my your our who which what there
of to in on at by for with from into over up out about as than through between under after before near
and or but if so not when while is are was were be been being am has have had do does did can could will would may
's n't ' , . -lrb- -rrb- one two`

// Modules names those that are used.
func (m *Meteor) Modules() string {
	names := [allModules]string{"exact", "stem", "synonym", "paraphrase"}
	return strings.Join(names[:m.last+1], " ")
}

func (m *Meteor) modules() int { return int(m.last) + 1 }

// meteorCount is what METEOR is computed from; sides are candidate and reference.
type meteorCount struct {
	length, functions [2]float64
	content, function [2][allModules]float64 // matched words
	chunks            float64                // runs of matches that are adjacent and in order on both sides
}

func (c *meteorCount) add(d meteorCount) {
	for side := range 2 {
		c.length[side] += d.length[side]
		c.functions[side] += d.functions[side]
		for m := range allModules {
			c.content[side][m] += d.content[side][m]
			c.function[side][m] += d.function[side][m]
		}
	}
	if !d.perfect() {
		c.chunks += d.chunks
	}
}

// perfect reports whether a caption is its reference: one chunk, which counts as no fragmentation.
func (c *meteorCount) perfect() bool {
	return c.matched(0) == c.length[0] && c.matched(1) == c.length[1] && c.chunks == 1
}

func (c *meteorCount) matched(side int) float64 {
	sum := 0.
	for m := range allModules {
		sum += c.content[side][m] + c.function[side][m]
	}
	return sum
}

// share is the weighted share of the words of a side that are matched: precision or recall.
func (c *meteorCount) share(side, modules int) float64 {
	matches := 0.
	for m, weight := range moduleWeights[:modules] {
		matches += weight * (delta*c.content[side][m] + (1-delta)*c.function[side][m])
	}
	return matches / (delta*(c.length[side]-c.functions[side]) + (1-delta)*c.functions[side])
}

func (c *meteorCount) score(modules int) float64 {
	precision, recall := c.share(0, modules), c.share(1, modules)
	mean := 1 / ((1-alpha)/precision + alpha/recall)
	fragments := 0.
	if !c.perfect() {
		fragments = c.chunks / ((c.matched(0) + c.matched(1)) / 2)
	}
	score := mean * (1 - gamma*math.Pow(fragments, beta))
	if math.IsNaN(score) { // nothing matched, or nothing there
		return 0
	}
	return max(score, 0)
}

// stemmer is Snowball's stemmer for English. It caches stems, because captions repeat their words.
type stemmer struct {
	env   *snowballstem.Env
	known map[string]string
}

func newStemmer() *stemmer {
	return &stemmer{snowballstem.NewEnv(""), map[string]string{}}
}

func (s *stemmer) stem(word string) string {
	if out, ok := s.known[word]; ok {
		return out
	}
	s.env.SetCurrent(word)
	english.Stem(s.env)
	out := s.env.Current()
	s.known[word] = out
	return out
}
