package witness

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"nmn/internal/rng"
)

// blocks of bags that goroutines share: sums are added block by block, so that results do not depend on how many
// goroutines there are.
const blocks = 16

// finder holds the inference of one input. Captions are numbered through all bags.
type finder struct {
	in        Input
	threads   int // goroutines, 0 for one for each processor
	words     *words
	first     []int   // number of each bag's first caption, and that of all captions
	rows      []int32 // of each bag's scores; -1 for none, nil where no bag has any
	partner   []int   // bag whose captions each bag's are compared with
	index     *index
	table     *table    // of bags without scores
	votes     []float64 // r of each caption
	own, null []float64 // t of each caption, and of a foreign one in its place
	nodes     int       // of the grid, that bags with scores need
	decay     []float64 // exp(-x absent) of each class and node
	silent    []silent  // of each class
	groups    []group
	compared  []*densities // of the groups; nil for one without witnesses
	eps       float64
	byScore   *classifier // that judged last, instead of the other captions; nil for none

	scoresAlone bool // judge, not the other captions
}

func newFinder(in Input, seed uint64) *finder {
	f := &finder{in: in, first: make([]int, len(in.Captions)+1)}
	for n, captions := range in.Captions {
		f.first[n+1] = f.first[n] + len(captions)
	}
	total := f.first[len(in.Captions)]
	f.votes, f.own, f.null = make([]float64, total), make([]float64, total), make([]float64, total)
	f.findRows()
	f.pair(seed)
	f.index = newIndex(&f.in, f.partner)
	f.words = newWords(f.frequencies())
	f.makeGrids()
	f.makeGroups()
	return f
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

// scoresOf are those of a bag; nil for none.
func (f *finder) scoresOf(n int) []float32 {
	if f.rows == nil || f.rows[n] < 0 {
		return nil
	}
	k := f.in.Classes
	return f.in.Scores[int(f.rows[n])*k : (int(f.rows[n])+1)*k]
}

// pair gives each bag with captions another one, at random.
func (f *finder) pair(seed uint64) {
	var bags []int
	for n, captions := range f.in.Captions {
		if len(captions) > 0 {
			bags = append(bags, n)
		}
	}
	stream := rng.New(rng.Derive(seed, "witness"))
	stream.Shuffle(bags)
	f.partner = make([]int, len(f.in.Captions))
	for i, n := range bags {
		f.partner[n] = bags[(i+1)%len(bags)]
	}
}

// frequencies are how often captions mention each word, away from 0 and 1.
func (f *finder) frequencies() []float64 {
	pi := make([]float64, f.in.Classes)
	for _, captions := range f.in.Captions {
		for _, caption := range captions {
			for _, class := range caption {
				pi[class]++
			}
		}
	}
	total := float64(len(f.own))
	for c := range pi {
		pi[c] = (pi[c] + .5) / (total + 1)
	}
	return pi
}

// makeGrids makes room for what bags without scores have in common, and for what those with scores need.
func (f *finder) makeGrids() {
	most, scored := 0, 0
	for n, captions := range f.in.Captions {
		if f.scoresOf(n) != nil {
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
		f.vote()
	}
	return nil
}

// pass judges all captions, and learns the rates from the votes as they were.
func (f *finder) pass(ctx context.Context) error {
	f.words.update()
	f.prepare()
	f.table.prior = f.words.priors()
	if err := f.each(ctx, len(f.table.unsaid), func() func(int) {
		return func(node int) { f.table.node(f.words, node) }
	}); err != nil {
		return err
	}
	all := make([]*sums, blocks)
	if err := f.eachBlock(ctx, func(block int) func(bag int) {
		all[block] = f.newSums()
		j := newJudge(f, all[block])
		return j.bag
	}); err != nil {
		return err
	}
	for _, s := range all[1:] {
		all[0].add(s)
	}
	f.learn(all[0])
	return nil
}

// silent are the factors of a class that own captions do not mention, against foreign ones: where it holds, (1-a)/(1-pi),
// and where it does not, (1-e)/(1-pi).
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

// eachBlock hands out blocks of bags to goroutines; start makes what handles the bags of a block, in order.
func (f *finder) eachBlock(ctx context.Context, start func(block int) func(bag int)) error {
	bags := len(f.in.Captions)
	return f.each(ctx, blocks, func() func(int) {
		return func(b int) {
			handle := start(b)
			for n := b * bags / blocks; n < (b+1)*bags/blocks; n++ {
				if n%64 == 0 && ctx.Err() != nil {
					return // each has the error
				}
				handle(n)
			}
		}
	})
}

// each is the function of that name on the goroutines of an input's options.
func (f *finder) each(ctx context.Context, n int, start func() func(task int)) error {
	return each(ctx, f.threads, n, start)
}

// each runs tasks 0 to n-1 on so many goroutines, 0 for as many as there are processors, until ctx is done; its error is
// then returned.
func each(ctx context.Context, threads, n int, start func() func(task int)) error {
	var next atomic.Int64
	var wait sync.WaitGroup
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	for range min(threads, n) {
		wait.Go(func() {
			run := start()
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				run(i)
			}
		})
	}
	wait.Wait()
	return ctx.Err()
}
