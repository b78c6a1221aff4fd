package s2vt

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"nmn/internal/expect"
	"nmn/kernels"
	"nmn/kernels/simd"
)

// talkative is a net whose words depend on its input: its weights are larger than initial weights.
func talkative(t *testing.T, device kernels.Backend, c Config) *Net {
	t.Helper()
	n := newNet(t, device, c)
	for _, p := range n.Params() {
		values := valuesOf(t, n, p.W)
		for i := range values {
			values[i] *= 4
		}
		expect.OK(t, n.SetValues(p, values))
	}
	return n
}

// everything lists all captions that can be said, as Beam would give them.
func (r *reference) everything(s state, previous int32, words []int32, logProb float64, o BeamOptions) (all []Caption) {
	s, logProbs := r.say(s, previous)
	for w, p := range logProbs {
		if w == PAD || w == BOS || slices.Contains(o.Never, int32(w)) {
			continue
		}
		total, length := logProb+p, float64(len(words)+1)
		switch {
		case w == EOS:
			all = append(all, Caption{Words: words, LogProb: total, Score: total / math.Pow(length, o.LengthPenalty),
				Ended: true})
		case len(words)+1 == o.MaxLength:
			all = append(all, Caption{Words: append(slices.Clip(words), int32(w)), LogProb: total,
				Score: total / math.Pow(length, o.LengthPenalty)})
		default:
			all = append(all, r.everything(s, int32(w), append(slices.Clip(words), int32(w)), total, o)...)
		}
	}
	return all
}

func TestBeam_WideEnoughFindsTheBestOfAll(t *testing.T) {
	c := small()
	c.Vocabulary = 7
	eachDevice(t, func(t *testing.T, device kernels.Backend) {
		n := talkative(t, device, c)
		r, clips := newReference(t, n), uneven(c).Features
		for _, penalty := range []float64{0, .7, 1} {
			o := BeamOptions{Width: 4 * 4 * 4 * 4, MaxLength: 4, LengthPenalty: penalty, Never: []int32{3}}
			got, err := n.Beam(clips, o)
			expect.OK(t, err)
			for i, features := range clips {
				all := r.everything(r.watch(float64s(features)), BOS, nil, 0, o)
				want := slices.MaxFunc(all, func(a, b Caption) int { return int(math.Copysign(1, a.Score-b.Score)) })
				if !slices.Equal(got[i].Words, want.Words) || got[i].Ended != want.Ended ||
					!(math.Abs(got[i].LogProb-want.LogProb) < 1e-4) || !(math.Abs(got[i].Score-want.Score) < 1e-4) {
					t.Errorf("clip %d, length penalty %v: %+v, the best of %d is %+v",
						i, penalty, got[i], len(all), want)
				}
			}
		}
	})
}

// prefix is a hypothesis of the reference.
type prefix struct {
	state   state
	words   []int32
	logProb float64
}

// beam is the search to its very end, for one clip.
func (r *reference) beam(features []float32, o BeamOptions) Caption {
	var found []Caption
	live := []prefix{{state: r.watch(float64s(features)), words: []int32{BOS}}}
	for length := 1; length <= o.MaxLength && len(live) > 0; length++ {
		var longer []prefix
		for _, p := range live {
			after, logProbs := r.say(p.state, p.words[len(p.words)-1])
			for w := EOS; w < r.config.Vocabulary; w++ {
				longer = append(longer, prefix{after, append(slices.Clip(p.words), int32(w)), p.logProb + logProbs[w]})
			}
		}
		slices.SortFunc(longer, func(a, b prefix) int { return cmp.Compare(b.logProb, a.logProb) })
		live = nil
		for _, p := range longer[:min(o.Width-len(found), len(longer))] {
			c := Caption{Words: p.words[1:], LogProb: p.logProb,
				Score: p.logProb / math.Pow(float64(length), o.LengthPenalty), Ended: p.words[length] == EOS}
			switch {
			case c.Ended:
				c.Words = c.Words[:length-1]
				found = append(found, c)
			case length == o.MaxLength:
				found = append(found, c)
			default:
				live = append(live, p)
			}
		}
	}
	return slices.MaxFunc(found, func(a, b Caption) int { return cmp.Compare(a.Score, b.Score) })
}

func TestBeam_FindsWhatASearchToTheEndFinds(t *testing.T) {
	c := small()
	c.Vocabulary = 40
	eachDevice(t, func(t *testing.T, device kernels.Backend) {
		n := talkative(t, device, c)
		r, clips := newReference(t, n), uneven(c).Features
		for seed := range 8 {
			expect.OK(t, n.SetValues(n.p.outB.Param, endingSooner(c, seed)))
			r.take(t, n)
			for _, o := range []BeamOptions{{Width: 1, MaxLength: 12}, {Width: 2, MaxLength: 12},
				{Width: 4, MaxLength: 9, LengthPenalty: .6}, {Width: 7, MaxLength: 15, LengthPenalty: 1}} {
				got, err := n.Beam(clips, o)
				expect.OK(t, err)
				for i, features := range clips {
					want := r.beam(features, o)
					if !slices.Equal(got[i].Words, want.Words) || got[i].Ended != want.Ended ||
						!(math.Abs(got[i].Score-want.Score) < 1e-4) {
						t.Errorf("clip %d, EOS %d: %+v with %+v, want %+v", i, seed, got[i], o, want)
					}
				}
			}
		}
	})
}

// endingSooner is a bias by which EOS is the likelier the larger a number is.
func endingSooner(c Config, number int) []float32 {
	bias := make([]float32, c.Vocabulary)
	bias[EOS] = float32(number)
	return bias
}

// Each clip is captioned as if it were alone, in every bit, whatever other beams the batch has and however
// many frames other clips have. The log-probability of a caption equals its loss in a step.
func TestBeam_ClipsDoNotDependOnEachOther(t *testing.T) {
	c := small()
	c.Vocabulary, c.Hidden, c.Frames = 400, 70, 26
	for _, level := range simd.Levels() {
		n := talkative(t, openCPU(t, level.String(), 2), c)
		clips := paperBatch(c).Features
		clips[3] = clips[3][:7*c.Features]
		expect.OK(t, n.SetValues(n.p.outB.Param, endingSooner(c, 3)))
		ended := 0
		for _, width := range []int{1, 5} {
			o := BeamOptions{Width: width, MaxLength: 9, LengthPenalty: 1}
			together, err := n.Beam(clips, o)
			expect.OK(t, err)
			for i := range 8 {
				alone, err := n.Beam(clips[i:i+1], o)
				expect.OK(t, err)
				if !slices.Equal(alone[0].Words, together[i].Words) || alone[0].LogProb != together[i].LogProb {
					t.Errorf("%v, width %d: clip %d: %+v among others, %+v alone", level, width, i, together[i], alone[0])
				}
				if words := together[i].Words; together[i].Ended && len(words) > 0 {
					ended++
					loss := run(t, n, &Batch{Features: clips[i : i+1], Captions: [][]int32{words}}, 0)
					if !(math.Abs(loss+together[i].LogProb) < 1e-4) {
						t.Errorf("%v, width %d: clip %d: log-probability %v, loss %v",
							level, width, i, together[i].LogProb, loss)
					}
				}
			}
		}
		if ended == 0 {
			t.Errorf("%v: no caption has ended: no loss was compared", level)
		}
	}
}

// A wider beam finds captions that are at least as likely here, and more than one width finds another one.
func TestBeam_WidthMatters(t *testing.T) {
	c := small()
	c.Vocabulary = 60
	n := talkative(t, openCPU(t, "", 2), c)
	clips := uneven(c).Features
	narrow, err := n.Beam(clips, BeamOptions{Width: 1, MaxLength: 8})
	expect.OK(t, err)
	wide, err := n.Beam(clips, BeamOptions{Width: 200, MaxLength: 8})
	expect.OK(t, err)
	better := 0
	for i := range clips {
		if wide[i].LogProb < narrow[i].LogProb-1e-6 {
			t.Errorf("clip %d: a beam of 200 finds %v, one of 1 %v", i, wide[i].LogProb, narrow[i].LogProb)
		}
		if wide[i].LogProb > narrow[i].LogProb+1e-6 {
			better++
		}
	}
	if better == 0 {
		t.Error("no caption of a wide beam is likelier than that of a beam of 1: the test shows nothing")
	}
}

// Without weights all words but EOS, which is made unlikely here, are equally likely.
func TestBeam_TiesGoToTheLowestWord(t *testing.T) {
	n, err := New(small(), openCPU(t, "", 2))
	expect.OK(t, err)
	clips := uneven(small()).Features
	bias := make([]float32, small().Vocabulary)
	bias[EOS] = -50
	expect.OK(t, n.SetValues(n.p.outB.Param, bias))
	for _, width := range []int{1, 3} {
		captions, err := n.Beam(clips, BeamOptions{Width: width, MaxLength: 3})
		expect.OK(t, err)
		for i, got := range captions {
			if want := []int32{3, 3, 3}; !slices.Equal(got.Words, want) || got.Ended {
				t.Errorf("clip %d, width %d: %+v, want %v cut off", i, width, got, want)
			}
		}
	}
}

func TestBeam_RefusesWhatDoesNotFit(t *testing.T) {
	n := newNet(t, openCPU(t, "", 1), small())
	for name, o := range map[string]BeamOptions{
		"no width": {MaxLength: 3}, "no length": {Width: 2},
		"a penalty below 0":           {Width: 2, MaxLength: 3, LengthPenalty: -1},
		"a penalty that is no number": {Width: 2, MaxLength: 3, LengthPenalty: math.NaN()},
		"EOS forbidden":               {Width: 2, MaxLength: 3, Never: []int32{EOS}},
		"a word beyond":               {Width: 2, MaxLength: 3, Never: []int32{9}},
	} {
		if _, err := n.Beam(uneven(small()).Features, o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for name, clips := range map[string][][]float32{"no clips": nil, "half a frame": {make([]float32, 3)},
		"a feature that is no number": {{float32(math.NaN()), 0, 0, 0, 0}}} {
		if _, err := n.Beam(clips, BeamOptions{Width: 2, MaxLength: 3}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
