package inject_test

import (
	"testing"

	"nmn/labels/inject"
	"nmn/loader"
	"nmn/loader/scenes"
)

func oneLabelScenes(t *testing.T) *loader.Set {
	t.Helper()
	set, err := scenes.Make(scenes.Config{Seed: 3, Split: "train", N: 4000, MainObject: true})
	must(t, err)
	return set
}

func TestRelabel_ReplacesAShareByOneOtherClass(t *testing.T) {
	set := oneLabelScenes(t)
	k := set.Vocabulary.Len()
	for _, kind := range []inject.Kind{inject.Symmetric, inject.Asymmetric} {
		noise, err := inject.Relabel(set, kind, .4, 5)
		must(t, err)
		noisy, err := noise.Apply(set)
		must(t, err)
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
	few, err := inject.Relabel(set, inject.Symmetric, .1, 5)
	must(t, err)
	many, err := inject.Relabel(set, inject.Symmetric, .3, 5)
	must(t, err)
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
		if _, err := inject.Relabel(set, of.kind, of.share, 1); err == nil {
			t.Errorf("%s, %g: no error", of.kind, of.share)
		}
	}
}
