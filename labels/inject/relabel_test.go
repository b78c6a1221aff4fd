package inject_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/labels/inject"
	"nmn/loader"
	"nmn/loader/scenes"
)

func oneLabelScenes(t *testing.T) *loader.Set {
	t.Helper()
	return expect.Value(scenes.Make(scenes.Config{Seed: 3, Split: "train", N: 4000, MainObject: true}))(t)
}

func TestRelabel_ReplacesAShareByOneOtherClass(t *testing.T) {
	set := oneLabelScenes(t)
	k := set.Vocabulary.Len()
	for _, kind := range []inject.Kind{inject.Symmetric, inject.Asymmetric} {
		noise := expect.Value(inject.Relabel(t.Context(), set, kind, .4, 5))(t)
		noisy := expect.Value(noise.Apply(set))(t)
		wrong, steps := 0, make([]int, k)
		for bag := range set.Len() {
			was, is := -1, -1
			for c, z := range noisy.Labels.Uint8s()[bag*k : (bag+1)*k] {
				if z == 1 {
					if is >= 0 {
						t.Fatalf("%s: bag %d has two labels", kind, bag)
					}
					is = c
				}
				if set.Labels.Uint8s()[bag*k+c] == 1 {
					was = c
				}
			}
			if is < 0 {
				t.Fatalf("%s: bag %d has no label", kind, bag)
			}
			if is != was {
				wrong++
				steps[(is-was+k)%k]++
			}
		}
		if share := float64(wrong) / float64(set.Len()); share < .37 || share > .43 {
			t.Errorf("%s: %.3f of the labels are wrong", kind, share)
		}
		for step, n := range steps[1:] {
			if even := wrong / (k - 1); kind == inject.Symmetric && (n < even/2 || n > 2*even) {
				t.Errorf("symmetric: %d of %d labels moved by %d", n, wrong, step+1)
			}
		}
		if kind == inject.Asymmetric && steps[1] != wrong {
			t.Errorf("asymmetric: %v of %d", steps, wrong)
		}
	}
}

// With a larger share the changes of a smaller one remain.
func TestRelabel_SmallerSharesAreParts(t *testing.T) {
	set := oneLabelScenes(t)
	few := expect.Value(inject.Relabel(t.Context(), set, inject.Symmetric, .1, 5))(t)
	many := expect.Value(inject.Relabel(t.Context(), set, inject.Symmetric, .3, 5))(t)
	at := map[int][]int{}
	for _, c := range many.Changes {
		at[c.Bag] = c.Flips
	}
	for _, c := range few.Changes {
		if f := at[c.Bag]; len(f) != 2 || f[0] != c.Flips[0] || f[1] != c.Flips[1] {
			t.Fatalf("bag %d: %v, then %v", c.Bag, c.Flips, f)
		}
	}
}

func TestRelabel_Refuses(t *testing.T) {
	set := oneLabelScenes(t)
	for _, of := range []struct {
		kind  inject.Kind
		share float64
	}{{inject.Uniform, .4}, {inject.Symmetric, -.1}, {inject.Symmetric, 1}} {
		if _, err := inject.Relabel(t.Context(), set, of.kind, of.share, 1); err == nil {
			t.Errorf("%s, %g: no error", of.kind, of.share)
		}
	}
}

// Pictures with more of another shape are wrong more often, and get that shape.
func TestRelabel_InstanceFollowsWhatIsDrawn(t *testing.T) {
	set := oneLabelScenes(t)
	for _, share := range []float64{.35, .7} {
		noise := expect.Value(inject.Relabel(t.Context(), set, inject.Instance, share, 5))(t)
		near := set.Source.(interface{ Near(bag int, near []float64) })
		k := set.Vocabulary.Len()
		changed := map[int][]int{}
		for _, c := range noise.Changes {
			changed[c.Bag] = c.Flips
		}
		if got := float64(len(changed)) / float64(set.Len()); math.Abs(got-share) > .03 {
			t.Errorf("%.3f of the labels are wrong, want %g", got, share)
		}
		wrong, bags, pixels := [2]int{}, [2]int{}, make([]float64, k)
		for bag := range set.Len() {
			near.Near(bag, pixels)
			most := slices.Max(pixels)
			side := 0
			if most > 50 {
				side = 1
			}
			bags[side]++
			flips, is := changed[bag]
			if !is {
				continue
			}
			wrong[side]++
			if most > 0 && pixels[flips[0]] != most && pixels[flips[1]] != most {
				t.Errorf("bag %d of %v gets a class of %v", bag, pixels, flips)
			}
		}
		few, many := float64(wrong[0])/float64(bags[0]), float64(wrong[1])/float64(bags[1])
		if bags[0] < 500 || bags[1] < 500 || many < few+.1 {
			t.Errorf("share %g: %.3f of %d are wrong with few pixels of another shape, %.3f of %d with many", share, few,
				bags[0], many, bags[1])
		}
	}
}

// vectors are one feature of each bag.
type vectors []float32

func (v vectors) Frames(int) int { return 1 }
func (v vectors) Width() int     { return 1 }

func (v vectors) Read(_ context.Context, bag, _ int, dst []float32) error {
	dst[0] = v[bag]
	return nil
}

// Three classes lie around -1, 0 and 1. Bags at the border are wrong most often, and get the class across it.
func TestRelabel_InstanceFollowsFeatures(t *testing.T) {
	set := oneLabelScenes(t)
	k, features, stream := set.Vocabulary.Len(), make(vectors, set.Len()), rng.New(3)
	labels := make([]uint8, set.Len()*k)
	for bag := range features {
		features[bag] = float32(bag%3-1) + float32(stream.Uniform(-.5, .5))
		labels[bag*k+bag%3] = 1
	}
	set.Source, set.Vectors, set.Labels = nil, features, loader.Matrix(labels, k)
	noise := expect.Value(inject.Relabel(t.Context(), set, inject.Instance, .3, 5))(t)
	wrong, distance := 0., 0.
	for _, c := range noise.Changes {
		from, x := c.Bag%3, features[c.Bag]
		to := c.Flips[0] + c.Flips[1] - from
		if to > 2 {
			t.Fatalf("bag %d becomes %d, a class without bags", c.Bag, to)
		}
		wrong++
		distance += math.Abs(float64(x) - float64(from-1))
		if from == 1 && (to == 0) != (x < 0) {
			t.Errorf("a bag of class 1 at %.2f becomes %d", x, to)
		}
	}
	if wrong < 800 || distance/wrong < .26 { // .25 if nearness did not count
		t.Errorf("%.0f bags are wrong, at a mean distance of %.3f from the middle of their class", wrong, distance/wrong)
	}
}

// Pictures of files have neither features nor shapes.
func TestRelabel_InstanceNeedsNearness(t *testing.T) {
	set := oneLabelScenes(t)
	set.Source = nil
	if _, err := inject.Relabel(t.Context(), set, inject.Instance, .3, 1); err == nil {
		t.Error("no error")
	}
}

// Measured for the data set: at 40 % noise the class means of p(z=0|y=1) and p(z=1|y=0) are .337
// and .162.
func TestReplaceCaptions_ScenesRates(t *testing.T) {
	s := expect.Value(scenes.Make(scenes.Config{Seed: 5, Split: "train", N: 6000}))(t)
	replaced := expect.Value(inject.ReplaceCaptions(s, inject.Uniform, .4, 5))(t)
	noisy := expect.Value(replaced.Apply(s))(t)
	stats := expect.Value(inject.Measure(t.Context(), s, noisy))(t)
	if stats.Reference != "truth" || math.Abs(float64(stats.Mean.Q01)-.337) > .02 ||
		math.Abs(float64(stats.Mean.Q10)-.162) > .01 {
		t.Errorf("against %s: q01 %.4f and q10 %.4f, want .337 and .162 against the truth",
			stats.Reference, stats.Mean.Q01, stats.Mean.Q10)
	}
	t.Logf("class means at 40 %%: q01 %.4f, q10 %.4f, prevalence %.4f",
		stats.Mean.Q01, stats.Mean.Q10, stats.Mean.Prevalence)
}
