package misplaced

import "nmn/labels"

// sums are what a block of units adds to the next rates and to the next prior.
type sums struct {
	// Per class: captions of groups for which the word holds, mentions in these, mentions in other groups, and
	// groups for which it holds.
	holds, mentions, mistakes, grouped []float64
	captions, groups                   float64           // of all groups
	sizes                              []float64         // plain groups of each size, before their words are added
	regression                         []labels.Logistic // of p(y=1) on scores; nil without scores

	foreign, unscored [][]float64 // units by captions and foreign ones, with scores and without
	anyForeign        []float64   // units by number of foreign captions
	groupsForeign     float64
	inGroups          float64 // foreign captions that came together
	alone, similar    float64 // foreign captions that came alone next to two own ones, and the similar ones of them
	likelihood        float64 // of all captions, relative to captions of random bags
	scoresGain        float64 // of the likelihood of own groups, if the scores predict them and not the frequencies
	together          float64 // the same if all captions are their bags' own
	members           float64 // captions in all units
}

func (f *finder) newSums() *sums {
	k, most := f.in.Classes, f.tables.most
	s := &sums{holds: make([]float64, k), mentions: make([]float64, k), mistakes: make([]float64, k),
		grouped: make([]float64, k), sizes: make([]float64, most+1), anyForeign: make([]float64, most+1),
		foreign: make([][]float64, most+1), unscored: make([][]float64, most+1)}
	for n := range s.foreign {
		s.foreign[n], s.unscored[n] = make([]float64, n+1), make([]float64, n+1)
	}
	if f.rows != nil {
		s.regression = make([]labels.Logistic, k)
	}
	return s
}

func (s *sums) add(o *sums) {
	pairs := [][2][]float64{{s.holds, o.holds}, {s.mentions, o.mentions}, {s.mistakes, o.mistakes},
		{s.grouped, o.grouped}, {s.sizes, o.sizes}, {s.anyForeign, o.anyForeign}}
	for n := range s.foreign {
		pairs = append(pairs, [2][]float64{s.foreign[n], o.foreign[n]}, [2][]float64{s.unscored[n], o.unscored[n]})
	}
	for _, pair := range pairs {
		for i, v := range pair[1] {
			pair[0][i] += v
		}
	}
	s.captions += o.captions
	s.groups += o.groups
	s.groupsForeign += o.groupsForeign
	s.inGroups += o.inGroups
	s.alone += o.alone
	s.similar += o.similar
	s.likelihood += o.likelihood
	s.together += o.together
	s.scoresGain += o.scoresGain
	s.members += o.members
	for c := range s.regression {
		s.regression[c].Plus(&o.regression[c])
	}
}

// finish adds what plain groups add of words that they do not mention.
func (s *sums) finish(t *tables) {
	for n, groups := range s.sizes {
		if groups == 0 {
			continue
		}
		for c := range s.holds {
			rho := groups * t.holds[c*t.width+row(n)]
			s.holds[c] += float64(n) * rho
			s.grouped[c] += rho
		}
	}
}

// group adds a plain group of n captions of the given weight. counts are the mentions of each word of its
// union.
func (s *sums) group(t *tables, union []int32, counts []uint8, n int, weight float64) {
	s.sizes[n] += weight
	s.captions += weight * float64(n)
	s.groups += weight
	at := row(n)
	for i, m := range counts {
		if m == 0 {
			continue
		}
		class := int(union[i])
		of := t.holds[class*t.width+at:]
		s.mention(class, n, int(m), weight, of[m], of[0])
	}
}

// mention adds m mentions of a word in a group of n captions. none is p(y=1) as it was added for a group
// without mentions.
func (s *sums) mention(class, n, m int, weight, holds, none float64) {
	s.holds[class] += weight * float64(n) * (holds - none)
	s.grouped[class] += weight * (holds - none)
	s.mentions[class] += weight * float64(m) * holds
	s.mistakes[class] += weight * float64(m) * (1 - holds)
}

// unit adds a unit of n captions with k foreign ones, with the given weight.
func (s *sums) unit(scored bool, n, k int, weight float64) {
	if scored {
		s.foreign[n][k] += weight
	} else {
		s.unscored[n][k] += weight
	}
	s.anyForeign[k] += weight
}

// Units are handled in blocks, which goroutines share. Sums are added block by block, so that results do not
// depend on how many goroutines there are.
const (
	fewBlocks   = 16
	mostBlocks  = 64
	manyBlocked = 1 << 18 // units from which there are mostBlocks
)

func blocksOf(units int) int {
	if units < manyBlocked {
		return fewBlocks
	}
	return mostBlocks
}

// block are the units of a block.
func (f *finder) block(b int) (from, to int) {
	units := len(f.units)
	return b * units / f.blocks, (b + 1) * units / f.blocks
}
