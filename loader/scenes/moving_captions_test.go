package scenes

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The words of the vocabulary that a sentence has are those that the labels of its clip come from.
func TestMovingCaptions_SayWhatTheLabelsSay(t *testing.T) {
	config := MovingConfig{Seed: 3, Split: "train", N: 200, Frames: 8}
	set := makeMoving(t, config)
	ids, captions, err := MovingCaptions(config, 7)
	check(t, err)
	if !slices.Equal(ids, set.IDs) {
		t.Fatal("the captions are of other clips")
	}
	forms := map[string]bool{}
	for i, all := range captions {
		if len(all) != 7 {
			t.Fatalf("clip %d has %d captions", i, len(all))
		}
		c := -1
		for _, words := range set.Captions[i] {
			if len(words) == 0 { // it would say nothing, and another one was drawn
				continue
			}
			c++
			var mentioned []int32
			for _, word := range strings.Fields(all[c]) {
				if k, ok := set.Vocabulary.Index(word); ok {
					mentioned = append(mentioned, int32(k))
				}
			}
			slices.Sort(mentioned)
			if mentioned = slices.Compact(mentioned); !slices.Equal(mentioned, words) {
				t.Fatalf("clip %d: %q says %v, its labels come from %v", i, all[c], mentioned, words)
			}
		}
		for _, caption := range all {
			forms[caption] = true
			if !slices.ContainsFunc(strings.Fields(caption),
				func(w string) bool { _, ok := set.Vocabulary.Index(w); return ok }) {
				t.Errorf("clip %d: %q says nothing", i, caption)
			}
		}
	}
	if len(forms) < 800 {
		t.Errorf("%d different sentences among 1,400", len(forms))
	}
}

func TestMovingCaptions_EachAlone(t *testing.T) {
	config := MovingConfig{Seed: 5, Split: "test", N: 90, Frames: 8}
	_, long, err := MovingCaptions(config, 20)
	check(t, err)
	config.N = 40
	_, short, err := MovingCaptions(config, 5)
	check(t, err)
	for i := range short {
		if !reflect.DeepEqual(short[i], long[i][:5]) {
			t.Fatalf("clip %d: %q, among more clips and captions %q", i, short[i], long[i][:5])
		}
	}
	for _, perClip := range []int{0, 101} {
		if _, _, err := MovingCaptions(config, perClip); err == nil {
			t.Errorf("%d captions of a clip: no error", perClip)
		}
	}
}

// Sentences that were measured on stay comparable.
func TestMovingCaptions_NeverDrift(t *testing.T) {
	_, got, err := MovingCaptions(MovingConfig{Seed: 1, Split: "train", N: 3, Frames: 8}, 3)
	check(t, err)
	want := [][]string{
		{"there is a large running box behind a box together", "there is a box beside a running box at night",
			"there is a white box"},
		{"a blue thing on the sand", "a tent alone", "there is a tent"},
		{"a large heart glowing", "we see many things with a purple dotted heart glowing",
			"a picture of a large dotted heart"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}
