package measure

import (
	"math"
	"slices"

	"nmn/internal/rng"
)

// drawer draws words.
type drawer struct {
	all    []float64   // cumulative weights of the words, the most frequent first
	topics [][]int32   // words of each, the most frequent first
	within [][]float64 // cumulative weights of these
	logit  []float64   // of a word's chance to be shown, about
}

func newDrawer(words int) *drawer {
	d := &drawer{logit: make([]float64, words)}
	topics := max((words-functional)/topicWords, 1)
	d.topics, d.within = make([][]int32, topics), make([][]float64, topics)
	for k := range words {
		weight := 1 / (float64(k) + 3)
		d.all = cumulate(d.all, weight)
		t := k % topics
		if k >= functional || words <= functional {
			d.topics[t] = append(d.topics[t], int32(k))
			d.within[t] = cumulate(d.within[t], math.Sqrt(weight)) // words of a topic differ less
		}
		p := min(20*weight, 1) * .2
		d.logit[k] = math.Log(p / (1 - p))
	}
	return d
}

func cumulate(sums []float64, weight float64) []float64 {
	if len(sums) > 0 {
		weight += sums[len(sums)-1]
	}
	return append(sums, weight)
}

// choose draws the index of a weight.
func choose(stream *rng.Stream, cumulative []float64) int {
	i, _ := slices.BinarySearch(cumulative, stream.Float64()*cumulative[len(cumulative)-1])
	return min(i, len(cumulative)-1)
}

// visible draws the content of a bag: most of it comes from one topic.
func (d *drawer) visible(stream *rng.Stream) []int32 {
	topic := stream.Intn(len(d.topics))
	words := make([]int32, 0, visibleWords)
	for range visibleWords {
		t := topic
		if stream.Float64() < offTopic {
			t = stream.Intn(len(d.topics))
		}
		if len(d.topics[t]) > 0 {
			words = append(words, d.topics[t][choose(stream, d.within[t])])
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// caption draws a caption for a bag that shows some words.
func (d *drawer) caption(stream *rng.Stream, visible []int32) []int32 {
	words := make([]int32, 0, saidWords)
	for range saidWords {
		if len(visible) > 0 && stream.Float64() < saidVisible {
			words = append(words, visible[stream.Intn(len(visible))])
		} else {
			words = append(words, int32(choose(stream, d.all)))
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}
