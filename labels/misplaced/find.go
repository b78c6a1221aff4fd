package misplaced

import (
	"context"
	"math"
	"slices"

	"nmn/internal/parallel"
	"nmn/internal/rng"
)

// finder holds the inference of one input. Captions are numbered through all bags.
type finder struct {
	in   Input
	seed uint64

	captions int
	blocks   int     // blocks of units
	rounds   int     // of EM
	first    []int   // number of each bag's first caption, then the number of all captions
	rows     []int32 // row of each bag's scores; -1 for none, nil if no bag has any
	units    []unit
	index    *index                          // places of words
	exact    [2][mostExact + 1][]arrangement // without scores, and with them

	words  *words
	prior  *prior
	tables *tables

	votes []float64 // probability of each caption to be its bag's own
	// Of units with many captions: t of each caption, t of a foreign one in its place, and the unit that the
	// foreign ones come from.
	own, null []float64
	partners  map[int]int
	compared  map[kind]*densities
	// Until round decideFrom a largest group is the own one, as without scores, and the slopes of the scores are learned
	// from these groups. Then scoresDecide is set if scores predict them better than the frequencies of words do, and
	// scoresMislead if they predict them worse. Scores that mislead judge no bag whose captions can agree.
	scoresDecide, scoresMislead bool
	// counts are, for each unit, the probability of each number of its captions to be foreign; see countsOf.
	counts []float32
}

// unit is a bag whose captions are compared, or a part of a bag of very many captions.
type unit struct {
	bag, first, captions int  // first is the number of its first caption
	exact                bool // all arrangements of its captions are compared
}

const (
	mostTogether = 24      // captions of a unit
	mostTabled   = 1 << 23 // values of a table
)

func newFinder(ctx context.Context, in Input, o Options) (*finder, error) {
	f := &finder{in: in, seed: rng.Derive(o.Seed, "misplaced"), first: make([]int, len(in.Captions)+1)}
	for n, captions := range in.Captions {
		f.first[n+1] = f.first[n] + len(captions)
	}
	f.captions = f.first[len(in.Captions)]
	f.votes = slices.Repeat([]float64{1}, f.captions)
	f.findRows()
	most := f.divide()
	f.pair()
	f.rounds = otherRounds
	for i := range f.units {
		if f.units[i].exact {
			f.rounds = exactRounds
		}
	}
	f.blocks = blocksOf(len(f.units))
	f.counts = make([]float32, f.captions+len(f.units))
	if err := f.makeIndex(ctx); err != nil {
		return nil, err
	}
	f.words = newWords(f.frequencies(), in.Scores != nil)
	f.words.startScores(in.Scores)
	f.prior = newPrior(most)
	f.tables = newTables(in.Classes, most)
	for n := 1; n <= min(most, mostExact); n++ {
		f.exact[0][n], f.exact[1][n] = arrangements(n, true), arrangements(n, false)
	}
	return f, nil
}

func (f *finder) findRows() {
	if f.in.Scores == nil {
		return
	}
	f.rows = make([]int32, len(f.in.Captions))
	for n := range f.rows {
		f.rows[n] = -1
		if f.in.Scored == nil {
			f.rows[n] = int32(n)
		}
	}
	for row, n := range f.in.Scored {
		f.rows[n] = int32(row)
	}
}

func (f *finder) scored(n int) bool { return f.rows != nil && f.rows[n] >= 0 }

// scoresOf returns the scores of a bag; nil for none.
func (f *finder) scoresOf(n int) []float32 {
	if !f.scored(n) {
		return nil
	}
	k := f.in.Classes
	return f.in.Scores[int(f.rows[n])*k : (int(f.rows[n])+1)*k]
}

// divide makes the units, and returns the number of captions of the largest.
func (f *finder) divide() (most int) {
	limit := mostTogether
	for limit > mostExact && row(limit+1)*f.in.Classes > mostTabled {
		limit--
	}
	for n, captions := range f.in.Captions {
		parts := (len(captions) + limit - 1) / limit
		for i := range parts {
			from, to := i*len(captions)/parts, (i+1)*len(captions)/parts
			f.units = append(f.units, unit{bag: n, first: f.first[n] + from, captions: to - from,
				exact: f.isExact(n, to-from)})
			most = max(most, to-from)
		}
	}
	return most
}

// witnessed reports whether a caption of the unit can be compared with others, or with scores.
func (f *finder) witnessed(u *unit) bool { return u.captions > 1 || f.scored(u.bag) }

// MostByScores is the number of captions of a bag up to which its scores judge them, if it has any.
const MostByScores = 2

// isExact reports whether all arrangements of some captions of a bag are compared. One or two captions with scores are
// compared with captions of other bags, like units of many captions: their share depends on the scores, and the model
// of arrangements takes those for independent words.
func (f *finder) isExact(bag, captions int) bool {
	if captions <= MostByScores && f.scored(bag) {
		return false
	}
	return captions > 1 && captions <= mostExact
}

// of are the captions of a unit.
func (f *finder) of(u *unit) [][]int32 {
	from := u.first - f.first[u.bag]
	return f.in.Captions[u.bag][from : from+u.captions]
}

// countsOf are the probabilities of 0 to n foreign captions of a unit of n captions.
func (f *finder) countsOf(number int) []float32 {
	u := &f.units[number]
	from := u.first + number
	return f.counts[from : from+u.captions+1]
}

// frequencies are how often captions mention each word, away from 0 and 1.
func (f *finder) frequencies() []float64 {
	counts := make([]int, f.in.Classes)
	for _, captions := range f.in.Captions {
		for _, caption := range captions {
			for _, class := range caption {
				counts[class]++
			}
		}
	}
	pi := make([]float64, f.in.Classes)
	for c, n := range counts {
		pi[c] = (float64(n) + .5) / (float64(f.captions) + 1)
	}
	return pi
}

const (
	exactRounds = 28 // if there are units whose arrangements are compared
	otherRounds = 10 // if not
	similarFrom = 3  // round from which captions may come from similar pictures
	decideFrom  = 8  // round from which scores decide which group is the own one
	// After round kindsUntil foreign captions come from similar pictures, or in groups, only if as many captions
	// as leastOfKind of all seem to. Some own captions of a picture are unlike the others, and some agree more
	// with each other.
	kindsUntil  = 20
	leastOfKind = .04
	// Rates are learned from at most fewUnits units, and in the last rounds from manyUnits. More would change
	// them little.
	fewUnits, manyUnits = 5000, 20000
	manyRounds          = 4
)

func (f *finder) learn(ctx context.Context, progress func(part int)) error {
	for round := range f.rounds {
		progress(round)
		if round == similarFrom {
			f.prior.similarOff, f.prior.similar = false, startSimilar
		}
		units := fewUnits
		if round >= f.rounds-manyRounds {
			units = manyUnits
		}
		s, err := f.pass(ctx, round, max(len(f.units)/units, 1))
		if err != nil {
			return err
		}
		s.finish(f.tables)
		f.words.update(s)
		if round == decideFrom {
			f.scoresDecide = s.scoresGain > 2*float64(f.in.Classes) // a slope and a level each
			f.scoresMislead = s.scoresGain <= 0
		}
		if round == kindsUntil {
			f.prior.similarOff = s.similar < leastOfKind*s.members
			f.prior.groupsOff = s.inGroups < leastOfKind*s.members
		}
		f.prior.update(s)
	}
	return nil
}

// pass judges the captions of every unit whose number is a multiple of stride.
func (f *finder) pass(ctx context.Context, round, stride int) (*sums, error) {
	if err := f.tables.fill(ctx, f.words); err != nil {
		return nil, err
	}
	priors := f.arrangementPriors()
	blocks := make([]*sums, f.blocks)
	err := parallel.Run(ctx, f.blocks, 0, func() func(int) {
		j := newJudge(f, priors)
		return func(b int) {
			j.sums = f.newSums()
			j.final = round == f.rounds
			blocks[b] = j.sums
			from, to := f.block(b)
			for n := (from + stride - 1) / stride * stride; n < to; n += stride {
				if n%64 == 0 && ctx.Err() != nil {
					return // parallel.Run has the error
				}
				if u := &f.units[n]; f.witnessed(u) {
					j.judge(n)
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for _, s := range blocks[1:] {
		blocks[0].add(s)
	}
	blocks[0].likelihood += f.vote(stride)
	return blocks[0], nil
}

// arrangementPriors are the logs of the probabilities of all arrangements.
func (f *finder) arrangementPriors() (priors [2][mostExact + 1][]float64) {
	for scored := range f.exact {
		for n, all := range f.exact[scored] {
			of := make([]float64, len(all))
			for i := range all {
				of[i] = f.prior.log(n, &all[i])
			}
			priors[scored][n] = of
		}
	}
	return priors
}

// share is the share of foreign captions, and sets the votes of captions that have no witness.
func (f *finder) share() float64 {
	foreign, captions := 0.0, 0
	for i := range f.units {
		if u := &f.units[i]; f.witnessed(u) {
			captions += u.captions
			for _, v := range f.votes[u.first : u.first+u.captions] {
				foreign += 1 - v
			}
		}
	}
	share := min(max(foreign/math.Max(float64(captions), 1), 0), 1)
	for i := range f.units {
		if u := &f.units[i]; !f.witnessed(u) {
			f.votes[u.first] = 1 - share
		}
	}
	return share
}

// index holds the place of each caption's words in the union of words that its unit mentions. Captions are the
// same in every pass, so it is computed once.
type index struct {
	union  []int32 // classes, unit after unit, each in the order in which its captions first mention them
	unions []int   // start of each unit's, and the end of all
	places []int32 // of the words of all captions
	starts []int   // start of each caption's, and the end of all
}

// unionOf are the words that a unit mentions.
func (x *index) unionOf(unit int) []int32 { return x.union[x.unions[unit]:x.unions[unit+1]] }

// placesOf are the places of a caption's words in the union of its unit.
func (x *index) placesOf(caption int) []int32 { return x.places[x.starts[caption]:x.starts[caption+1]] }

func (f *finder) makeIndex(ctx context.Context) error {
	mentions := 0
	for _, captions := range f.in.Captions {
		for _, caption := range captions {
			mentions += len(caption)
		}
	}
	x := &index{unions: make([]int, 1, len(f.units)+1), places: make([]int32, 0, mentions),
		starts: make([]int, 1, f.captions+1)}
	of := make([]int32, f.in.Classes) // place of each class in the current union; -1 for none
	for c := range of {
		of[c] = -1
	}
	for i := range f.units {
		start := len(x.union)
		for _, caption := range f.of(&f.units[i]) {
			for _, class := range caption {
				if of[class] < 0 {
					of[class] = int32(len(x.union) - start)
					x.union = append(x.union, class)
				}
				x.places = append(x.places, of[class])
			}
			x.starts = append(x.starts, len(x.places))
		}
		x.unions = append(x.unions, len(x.union))
		for _, class := range x.union[start:] {
			of[class] = -1
		}
	}
	f.index = x
	return ctx.Err()
}
