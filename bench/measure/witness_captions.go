package measure

import (
	"fmt"
	"slices"

	"nmn/internal/parallel"
	"nmn/internal/rng"
	"nmn/labels/misplaced"
)

// Captions are captions in the form for witness.Find. Some were replaced by captions of other bags.
type Captions struct {
	Source  string
	Input   misplaced.Input
	Foreign [][]bool // for each bag and caption whether it was replaced; nil if unknown
}

// GeneratedCaptions describes generated captions.
type GeneratedCaptions struct {
	Bags, PerBag int
	Words        int     // of the vocabulary
	Replaced     float64 // share of each bag's captions
	Scores       bool    // logits of a classifier that partly recognises the content of the bags
	Seed         uint64
}

// Limits of generated data, far above real captions.
const (
	mostGenerated = 200_000_000 // captions, and numbers of scores
	mostWords     = 100_000
)

// Validate reports what cannot be made.
func (g *GeneratedCaptions) Validate() error {
	replaced := g.Replaced * float64(g.PerBag)
	switch {
	case g.Bags < 2 || g.PerBag < 1 || g.Bags > mostGenerated/g.PerBag:
		return fmt.Errorf("bench: %d pictures with %d captions each, want at least 2 with at least 1, and at most %d "+
			"captions in all",
			g.Bags, g.PerBag, mostGenerated)
	case g.Words < 1 || g.Words > mostWords:
		return fmt.Errorf("bench: %d words, want 1 to %d", g.Words, mostWords)
	case g.Scores && g.Bags > mostGenerated/g.Words:
		return fmt.Errorf("bench: %d pictures × %d words are more than %d scores", g.Bags, g.Words, mostGenerated)
	case !(g.Replaced >= 0 && replaced <= float64(g.PerBag)):
		return fmt.Errorf("bench: a share of %g cannot be replaced, want 0 to 1", g.Replaced)
	}
	return nil
}

const (
	topicWords   = 25  // of a topic, from which the words of a bag are drawn
	visibleWords = 8   // that a bag shows
	offTopic     = .35 // of these
	saidWords    = 11  // that a caption draws, with repeats
	saidVisible  = .35 // of these, from what the bag shows; the others as frequent as in any caption
	functional   = 20  // most frequent words, which say nothing of what a bag shows
)

// Make draws captions. Words are as frequent as in Zipf's law. Each bag shows words of a topic, and a third
// of the words in its captions are words that it shows. A replaced caption is a random caption of another
// bag.
func (g *GeneratedCaptions) Make() *Captions {
	d := newDrawer(g.Words)
	shown, own := make([][]int32, g.Bags), make([][][]int32, g.Bags)
	parallel.Each(g.Bags, func(i int) { shown[i], own[i] = g.bag(d, i) })
	c := &Captions{Source: "generated", Foreign: make([][]bool, g.Bags),
		Input: misplaced.Input{Classes: g.Words, Captions: make([][][]int32, g.Bags)}}
	replaced := int(g.Replaced*float64(g.PerBag) + .5)
	parallel.Each(g.Bags, func(i int) {
		stream := rng.New(rng.Derive(g.Seed, "bench/replaced"), i)
		captions, foreign := slices.Clone(own[i]), make([]bool, g.PerBag)
		slots := make([]int, g.PerBag)
		for i := range slots {
			slots[i] = i
		}
		stream.Shuffle(slots)
		for _, slot := range slots[:replaced] {
			donor := (i + 1 + stream.Intn(g.Bags-1)) % g.Bags
			captions[slot], foreign[slot] = own[donor][stream.Intn(g.PerBag)], true
		}
		c.Input.Captions[i], c.Foreign[i] = captions, foreign
	})
	if g.Scores {
		c.Input.Scores = g.scores(d, shown)
	}
	return c
}

// bag draws the words that a bag shows, and its own captions.
func (g *GeneratedCaptions) bag(d *drawer, n int) (shown []int32, captions [][]int32) {
	stream := rng.New(rng.Derive(g.Seed, "bench/captions"), n)
	shown, captions = d.visible(&stream), make([][]int32, g.PerBag)
	for c := range captions {
		captions[c] = d.caption(&stream, shown)
	}
	return shown, captions
}

// scores are logits of p(y=1): frequent words have larger ones, and shown words still larger ones.
func (g *GeneratedCaptions) scores(d *drawer, shown [][]int32) []float32 {
	scores := make([]float32, len(shown)*g.Words)
	parallel.Each(len(shown), func(n int) {
		const deviation, shift = 1.2, 2.5
		stream := rng.New(rng.Derive(g.Seed, "bench/scores"), n)
		row := scores[n*g.Words : (n+1)*g.Words]
		for k := range row {
			row[k] = float32(stream.Normal(d.logit[k], deviation))
		}
		for _, k := range shown[n] {
			row[k] += shift
		}
	})
	return scores
}
