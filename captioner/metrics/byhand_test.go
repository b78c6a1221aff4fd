package metrics

import (
	"math"
	"strings"
	"testing"
)

// The cases of this file are small enough to compute by hand. The arithmetic is in the comments.

// Three captions. Of seven times "the" two are right, because no reference has it more often. "a red ball"
// has references of 4 and 2 words, and the shorter one counts. "a dog" is 2 words short.
//
//	                 words  reference  1-grams  2-grams  3-grams  4-grams
//	7 times "the"      7        7        2/7      0/6      0/5      0/4
//	"a red ball"       3        2        3/3      2/2      1/1      0/0
//	"a dog"            2        4        2/2      1/1      0/0      0/0
//	all               12       13        7/12     3/9      1/6      0/4
func TestBLEU_ByHand(t *testing.T) {
	r := evaluate(t, []Item{
		{ID: "1", Candidate: "the the the the the the the",
			References: []string{"the cat is on the mat", "there is a cat on the mat"}},
		{ID: "2", Candidate: "a red ball", References: []string{"a red ball rolls", "red ball"}},
		{ID: "3", Candidate: "a dog", References: []string{"a dog runs home"}},
	}, nil)
	if want := (BLEUCount{Length: 12, ReferenceLength: 13, Guess: [4]int{12, 9, 6, 4},
		Correct: [4]int{7, 3, 1, 0}}); r.Counts != want {
		t.Errorf("counts %+v, want %+v", r.Counts, want)
	}
	near(t, "BLEU-1 of 7 times the", r.Captions[0].BLEU[0], 2./7, 1e-8)
	near(t, "BLEU-3 of a red ball", r.Captions[1].BLEU[2], 1, 1e-8)
	near(t, "BLEU-2 of a dog", r.Captions[2].BLEU[1], math.Exp(1-4./2), 1e-8) // all right, but too short
	short := math.Exp(1 - 13./12)
	near(t, "BLEU-1", r.All.BLEU[0], 7./12*short, 1e-8)
	near(t, "BLEU-2", r.All.BLEU[1], math.Sqrt(7./12*3/9)*short, 1e-8)
	near(t, "BLEU-3", r.All.BLEU[2], math.Cbrt(7./12*3/9*1/6)*short, 1e-8)
}

// "a dog runs fast" has 2 of its 4 words in order with "a dog sleeps" (P = 2/4, R = 2/3) and with "runs fast"
// (P = 2/4, R = 2/2), and one with "fast runs dog a". The best of both, P = 1/2 and R = 1, make
// (1 + 1.2²) P R / (R + 1.2² P) = 1.22 / 1.72. The other caption has nothing in common with its reference.
func TestROUGE_ByHand(t *testing.T) {
	r := evaluate(t, []Item{
		{ID: "1", Candidate: "a dog runs fast", References: []string{"a dog sleeps", "runs fast", "fast runs dog a"}},
		{ID: "2", Candidate: "two cats", References: []string{"the sea"}},
	}, nil)
	near(t, "ROUGE-L of a dog runs fast", r.Captions[0].ROUGEL, 1.22/1.72, 1e-12)
	near(t, "ROUGE-L", r.All.ROUGEL, 1.22/1.72/2, 1e-12)
}

// The word "a" is in the references of both clips and weighs log(2/2) = 0. Every other n-gram is in the references of at
// most one clip and weighs log(2/1), which cancels in the cosines. In units of log 2, with counts clipped to the
// reference:
//
//	"a dog dog runs" ~ "a dog runs"
//	  1-grams: dog 2, runs 1 ~ dog 1, runs 1: (1·1 + 1·1) / (√5 √2)
//	  2-grams: a dog, dog dog, dog runs ~ a dog, dog runs: 2 / (√3 √2)
//	  3- and 4-grams have nothing in common; 1 bigram longer: exp(-1²/(2·6²))
//	"a cat" ~ "a cat sleeps here now"
//	  1-grams: cat ~ cat, sleeps, here, now: 1 / (1·√4)
//	  2-grams: a cat ~ a cat, cat sleeps, sleeps here, here now: 1 / (1·√4)
//	  3 bigrams shorter: exp(-3²/(2·6²))
//	"a cat" ~ "a cat": 1 for 1- and for 2-grams, 0 for the others
func TestCIDEr_ByHand(t *testing.T) {
	r := evaluate(t, []Item{
		{ID: "1", Candidate: "a dog dog runs", References: []string{"a dog runs"}},
		{ID: "2", Candidate: "a cat", References: []string{"a cat sleeps here now", "a cat"}},
	}, nil)
	first := 10. / 4 * (2/math.Sqrt(10) + 2/math.Sqrt(6)) * math.Exp(-1./72)
	second := 10. / 4 * ((1./2+1./2)*math.Exp(-9./72) + 2) / 2
	near(t, "CIDEr-D of a dog dog runs", r.Captions[0].CIDErD, first, 1e-12)
	near(t, "CIDEr-D of a cat", r.Captions[1].CIDErD, second, 1e-12)
	near(t, "CIDEr-D", r.All.CIDErD, (first+second)/2, 1e-12)
}

// A caption that is its reference is one chunk, which does not count. Of the other, 2 of 3 content words and its
// function word are right, in 2 chunks. With .75 for a content word and .25 for a function word,
//
//	alone     P = R = (.75·2 + .25) / (.75·3 + .25) = 1.75/2.5, and 2 chunks of 3 words
//	together  P = R = (.75·4 + .25) / (.75·5 + .25) = 3.25/4, and 2 chunks of 5 words
func TestMeteor_ByHand(t *testing.T) {
	r := evaluate(t, []Item{
		{ID: "1", Candidate: "red dog", References: []string{"blue bird", "red dog", "red bird"}},
		{ID: "2", Candidate: "the red cat sleeps", References: []string{"the red bird sleeps"}},
	}, nil)
	near(t, "METEOR of a caption and its best reference", r.Captions[0].METEOR, 1, 1e-12)
	near(t, "METEOR of three words of four", r.Captions[1].METEOR, 1.75/2.5*(1-.6*math.Pow(2./3, .2)), 1e-12)
	near(t, "METEOR", r.All.METEOR, 3.25/4*(1-.6*math.Pow(2./5, .2)), 1e-12)
}

// "run" has the stem of "runs" and "running". In METEOR's whole numbers such a word alone adds nothing, so that other
// effects decide whether the search takes it.
//
//   - After "red" it continues a chunk. The alignments with and without it differ only in the distance by which words
//     move. METEOR charges the distance of a match to the alignment without it, so the match is taken.
//   - After "blue", which has no match, it would be a chunk of its own, and is left out.
func TestMeteor_AWordByItsStemAlone(t *testing.T) {
	for _, c := range []struct {
		candidate, reference string
		stems                float64
	}{{"the red runs running", "red run", 1}, {"runs red runs", "red blue run", 0}} {
		got := NewMeteor().aligner().align(strings.Fields(c.candidate), strings.Fields(c.reference))
		want := [allModules]float64{exact: 1, stem: c.stems}
		if got.content != [2][allModules]float64{want, want} || got.chunks != 1 {
			t.Errorf("%q ~ %q: %+v, want %v matches by stem and one chunk", c.candidate, c.reference, got, c.stems)
		}
	}
}

// METEOR follows 40 alignments at a time. With these repeated words that decides what is found: with 20 it would be
// 8 chunks, with 80 it would be 6.
func TestMeteor_FollowsFortyAlignments(t *testing.T) {
	c := NewMeteor().aligner().align(strings.Fields("runs dog runs dog dog red runs red red dog red dog"),
		strings.Fields("dog runs red runs dog red runs red dog runs dog red"))
	if c.chunks != 7 {
		t.Errorf("%v chunks, want 7", c.chunks)
	}
}
