package s2vt

import (
	"slices"
	"strings"
	"testing"

	"nmn/tools/ref"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

// reference is the captioner in float64 as its equations are written, one clip and one step at a time. It
// shares no code with the net.
type reference struct {
	config Config
	params map[string][]float64
	inputs map[int][]float64 // features of a clip, where a test moves them
}

// newReference takes the net's weights.
func newReference(t *testing.T, n *Net) *reference {
	t.Helper()
	r := &reference{config: n.Config(), inputs: map[int][]float64{}}
	r.take(t, n)
	return r
}

// take takes the net's weights as they are now.
func (r *reference) take(t *testing.T, n *Net) {
	t.Helper()
	r.params = map[string][]float64{}
	for _, p := range n.Params() {
		r.params[p.Name] = float64s(valuesOf(t, n, p.W))
	}
}

// features returns the features of a clip as numbers that a test may change.
func (r *reference) features(b *Batch, clip int) []float64 {
	if r.inputs[clip] == nil {
		r.inputs[clip] = float64s(b.Features[clip])
	}
	return r.inputs[clip]
}

func float64s(values []float32) (all []float64) {
	for _, v := range values {
		all = append(all, float64(v))
	}
	return all
}

// state are both LSTMs between two steps.
type state struct{ h1, c1, h2, c2 []float64 }

// affine is W x + b; b may be nil.
func affine(w, x, b []float64) []float64 {
	y := make([]float64, len(w)/len(x))
	for k := range y {
		if b != nil {
			y[k] = b[k]
		}
		for i, v := range x {
			y[k] += w[k*len(x)+i] * v
		}
	}
	return y
}

// lstm is a step of a layer, from what it gets from below.
func (r *reference) lstm(name string, below, h, c []float64) (h1, c1 []float64) {
	projected := slices.Clone(below)
	for k, b := range r.params[name+".b"] {
		projected[k] += b
	}
	h1, c1, _ = ref.LSTM{T: 1, N: 1, H: len(h)}.Forward(projected, r.params[name+".Wh"], h, c)
	return h1, c1
}

// tick is a step of both layers. x and v are their inputs, nil for 0.
func (r *reference) tick(s state, x, v []float64) state {
	zero := make([]float64, 4*r.config.Hidden)
	below := zero
	if x != nil {
		below = affine(r.params["lstm1.Wx"], x, nil)
	}
	s.h1, s.c1 = r.lstm("lstm1", below, s.h1, s.c1)
	below = affine(r.params["lstm2.Wx.h1"], s.h1, nil)
	if v != nil {
		for k, w := range affine(r.params["lstm2.Wx.word"], v, nil) {
			below[k] += w
		}
	}
	s.h2, s.c2 = r.lstm("lstm2", below, s.h2, s.c2)
	return s
}

// watch sees the frames of a clip.
func (r *reference) watch(features []float64) state {
	zero := make([]float64, r.config.Hidden)
	s := state{zero, zero, zero, zero}
	width := r.config.Features
	for at := 0; at < len(features); at += width {
		s = r.tick(s, affine(r.params["embed.w"], features[at:at+width], r.params["embed.b"]), nil)
	}
	return s
}

// say sees a word and gives the log-probabilities of the next one.
func (r *reference) say(s state, word int32) (state, []float64) {
	d := r.config.Words
	s = r.tick(s, nil, r.params["word.w"][int(word)*d:(int(word)+1)*d])
	logits := affine(r.params["out.w"], s.h2, r.params["out.b"])
	return s, ref.LogSoftmax(logits, len(logits))
}

// loss is that of a batch: summed over words, averaged over captions.
func (r *reference) loss(b *Batch) (total float64) {
	for i, words := range b.Captions {
		s, previous := r.watch(r.features(b, i)), int32(BOS)
		for _, word := range append(words[:len(words):len(words)], EOS) {
			var logProbs []float64
			s, logProbs = r.say(s, previous)
			total -= logProbs[word]
			previous = word
		}
	}
	return total / float64(len(b.Captions))
}
