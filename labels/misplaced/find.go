package misplaced

import (
	"context"

	"nmn/internal/parallel"
	"nmn/internal/rng"
)

// finder holds the inference of one input. Captions are numbered through all bags.
type finder struct {
	in      Input
	threads int // goroutines, 0 for one for each processor
	words   *words

	captions int
	blocks   int // blocks of bags

	first     []int     // number of each bag's first caption, then the number of all captions
	rows      []int32   // row of each bag's scores; -1 for none, nil if no bag has any
	index     *index    // positions of words
	table     *table    // for bags without scores
	votes     []float64 // r of each caption
	own, null []float64 // t of each caption, and of a foreign one in its place
	nodes     int       // nodes of the grid, which bags with scores need
	decay     []float64 // exp(-x absent) of each class and node
	silent    []silent  // per class
	peers     []peers
	compared  []*densities // densities by number of peers; nil for captions without witnesses
	eps       float64
	byScore   *classifier // that judged last, instead of the other captions; nil for none

	scoresAlone bool // judge, not the other captions
}

func newFinder(ctx context.Context, in Input, o Options) (*finder, error) {
	f := &finder{in: in, threads: o.Threads, first: make([]int, len(in.Captions)+1), blocks: blocksOf(len(in.Captions))}
	for n, captions := range in.Captions {
		f.first[n+1] = f.first[n] + len(captions)
	}
	f.captions = f.first[len(in.Captions)]
	f.votes, f.own, f.null = make([]float64, f.captions), make([]float64, f.captions), make([]float64, f.captions)
	f.findRows()
	if err := f.makeIndex(ctx, f.pair(o.Seed)); err != nil {
		return nil, err
	}
	f.words = newWords(f.frequencies())
	f.makeGrids()
	f.makePeers()
	return f, nil
}

// findRows finds each bag's row of scores.
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

// scored reports whether a bag has scores.
func (f *finder) scored(n int) bool { return f.rows != nil && f.rows[n] >= 0 }

// scoresOf returns the scores of a bag; nil for none.
func (f *finder) scoresOf(n int) []float32 {
	if !f.scored(n) {
		return nil
	}
	k := f.in.Classes
	return f.in.Scores[int(f.rows[n])*k : (int(f.rows[n])+1)*k]
}

// pair gives each bag with captions another one, at random: a random order in which each is compared with the
// next, and the last with the first.
func (f *finder) pair(seed uint64) []int32 {
	var bags []int32
	for n, captions := range f.in.Captions {
		if len(captions) > 0 {
			bags = append(bags, int32(n))
		}
	}
	stream := rng.New(rng.Derive(seed, "witness"))
	for i := len(bags) - 1; i > 0; i-- {
		j := stream.Intn(i + 1)
		bags[i], bags[j] = bags[j], bags[i]
	}
	return bags
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

// makeGrids makes room for what bags without scores have in common, and for what those with scores need.
func (f *finder) makeGrids() {
	most, scored := 0, 0
	for n, captions := range f.in.Captions {
		if f.scored(n) {
			scored = max(scored, len(captions))
		} else {
			most = max(most, len(captions))
		}
	}
	f.table = &table{}
	if most > 0 {
		f.table = newTable(float64(most), f.in.Classes)
	}
	if scored > 0 {
		f.nodes = gridNodes(float64(scored))
		f.decay, f.silent = make([]float64, f.in.Classes*f.nodes), make([]silent, f.in.Classes)
	}
}

// rounds judges all captions again and again: by the votes as they are, which teach the rates anew, and then votes.
func (f *finder) rounds(ctx context.Context, n int) error {
	for range n {
		if err := f.pass(ctx); err != nil {
			return err
		}
		if err := f.vote(ctx); err != nil {
			return err
		}
	}
	return nil
}

// pass judges all captions, and learns the rates from the votes as they were.
func (f *finder) pass(ctx context.Context) error {
	f.words.update()
	f.prepare()
	f.table.prior = f.words.priors()
	err := parallel.Run(ctx, len(f.table.unsaid), f.threads, func() func(int) {
		return func(node int) { f.table.node(f.words, node) }
	})
	if err != nil {
		return err
	}
	own := make([]*sums, f.blocks)
	err = f.eachBlock(ctx, func(block int) func(bag int) {
		own[block] = f.newSums()
		return newJudge(f, own[block]).bag
	})
	if err != nil {
		return err
	}
	for _, s := range own[1:] {
		own[0].add(s)
	}
	f.updateRates(own[0])
	return nil
}

// silent holds the factors of a class that own captions do not mention, against foreign ones: (1-a)/(1-pi) if
// it holds, and (1-e)/(1-pi) if it does not.
type silent struct{ notA, notE float64 }

// prepare finds what bags with scores need of the rates.
func (f *finder) prepare() {
	w := f.words
	for c := range f.silent {
		f.silent[c] = silent{(1 - w.a[c]) * w.unsaid[c], (1 - w.e[c]) * w.unsaid[c]}
		for j := range f.nodes {
			f.decay[c*f.nodes+j] = against(nodeVotes(j)*w.absent[c], mostBase)
		}
	}
}
