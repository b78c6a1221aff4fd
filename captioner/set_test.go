package captioner

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"nmn/captioner/metrics"
	"nmn/internal/expect"
)

// memoryClips are clips of one frame, named by letters, whose single feature is their number.
type memoryClips string

func (m memoryClips) Clips() int         { return len(m) }
func (m memoryClips) ID(i int) string    { return string(m[i : i+1]) }
func (m memoryClips) FrameCount(int) int { return 1 }
func (m memoryClips) Frames() int        { return 1 }
func (m memoryClips) Width() int         { return 1 }
func (m memoryClips) Features(clip int, dst []float32) error {
	dst[0] = float32(clip)
	return nil
}

func captionsOf(lines ...string) *metrics.Captions {
	c := &metrics.Captions{Of: map[string][]string{}}
	for _, line := range lines {
		id, text, _ := strings.Cut(line, ":")
		if c.Of[id] == nil {
			c.IDs = append(c.IDs, id)
		}
		c.Of[id] = append(c.Of[id], text)
	}
	return c
}

func TestJoin_ByIdentifiers(t *testing.T) {
	w, _ := buildWords(t, WordOptions{}, "a dog", "cat")
	captions := captionsOf("z:a dog", "x:cat", "z:", "z:A wolf!", "z:a dog and a cat", "y:a a a a")
	s, err := Join(memoryClips("xyz"), captions, w, JoinOptions{MaxWords: 3, Partial: true})
	expect.OK(t, err)
	if s.Clips() != 2 || s.ID(1) != "z" || s.Pairs() != 3 ||
		s.Left.String() != "1 clip without captions, 1 caption without a word, 2 captions with too many words" {
		t.Errorf("%d clips, %d pairs, left out: %v", s.Clips(), s.Pairs(), s.Left)
	}
	if got := fmt.Sprint(s.Captions(1)); got != fmt.Sprint([][]int32{w.Append(nil, []string{"a", "dog"}),
		w.Append(nil, []string{"a", "wolf"})}) {
		t.Errorf("captions of z: %v", got)
	}
	if got := s.References(1); !slices.Equal(got, []string{"a dog", "A wolf!", "a dog and a cat"}) {
		t.Errorf("references of z: %q, want those too that are too long to learn", got)
	}
	if got := readClip(t, s.Subset([]int{1}), 0); got[0] != 2 {
		t.Errorf("features of z: %v", got)
	}
}

func TestTexts_AreOfClipsWithFeatures(t *testing.T) {
	got := slices.Collect(Texts(memoryClips("xyz"), captionsOf("z:a", "u:no features", "x:b", "z:c", "y:held out"),
		map[string]bool{"y": true}))
	if want := []string{"b", "a", "c"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestJoin_NamesWhatDoesNotBelong(t *testing.T) {
	w, _ := buildWords(t, WordOptions{}, "a dog")
	for want, c := range map[string]struct {
		clips    memoryClips
		captions *metrics.Captions
		partial  bool
	}{
		`1 of 2 clips have no captions, the first is "y"`:                        {"xy", captionsOf("x:a"), false},
		`1 of 2 clips with captions have no features, the first`:                 {"x", captionsOf("x:a", "y:b"), false},
		"2 of 2 clips have no captions":                                          {"xy", captionsOf("u:a"), true},
		`clip "x", caption 2 is not UTF-8`:                                       {"x", captionsOf("x:a", "x:\xff"), true},
		"captions belong to clips such as \"u\" (`captions.partial` leaves them": {"xy", captionsOf("u:a"), false},
	} {
		expect.Refusal(t, expect.ErrorOf(Join(c.clips, c.captions, w, JoinOptions{Partial: c.partial})), want, ErrInput)
	}
}

func TestSet_MostFrequent(t *testing.T) {
	w, _ := buildWords(t, WordOptions{}, "a dog")
	s, err := Join(memoryClips("xy"), captionsOf("x:two dogs", "x:a dog.", "y:A dog", "y:two dogs"), w, JoinOptions{})
	expect.OK(t, err)
	if got := s.MostFrequent(); got != "a dog" {
		t.Errorf("%q", got)
	}
}

func TestResults_AreRead(t *testing.T) {
	content, err := Results([]Generated{{ID: "7", Caption: `a "dog"`}, {ID: "video9", Caption: "x"},
		{ID: "07", Caption: ""}})
	expect.OK(t, err)
	if !strings.Contains(string(content), `{"image_id":7,`) || !strings.Contains(string(content), `{"image_id":"07",`) {
		t.Errorf("%s", content)
	}
	read, err := metrics.Read("f", strings.NewReader(string(content)))
	if err != nil || !slices.Equal(read.IDs, []string{"7", "video9", "07"}) || read.Of["7"][0] != `a "dog"` {
		t.Errorf("%v: %+v", err, read)
	}
}

func TestSet_KeepLeavesCaptionsOut(t *testing.T) {
	s := &Set{clips: []int{4, 7, 9}, ids: [][][]int32{{{3, 5}, {4}}, {{5, 5, 3}}, {{900}, {}}},
		texts: [][]string{{"a", "b"}, {"c"}, {"d", "e"}}}
	first := s.ids[0][0][0]
	mentions := s.Mentions(5)
	if got := mentions[1][0]; len(got) != 2 || got[0] >= got[1] || got[0] != mentions[0][0][0] {
		t.Errorf("word ids %d are classes %d", s.ids[1][0], got)
	}
	if len(mentions[2][0]) != 0 || len(mentions[2]) != 2 {
		t.Errorf("rare words: %d", mentions[2])
	}
	kept := s.Keep([][]bool{{false, true}, {false}, {true, true}})
	if !reflect.DeepEqual(kept.clips, []int{4, 9}) || !reflect.DeepEqual(kept.ids, [][][]int32{{{4}}, {{900}, {}}}) ||
		!reflect.DeepEqual(kept.texts, [][]string{{"a", "b"}, {"d", "e"}}) {
		t.Errorf("kept %d, %d, %q", kept.clips, kept.ids, kept.texts)
	}
	if s.ids[0][0][0] != first || s.Pairs() != 5 || kept.Pairs() != 3 {
		t.Errorf("%d of %d captions", kept.Pairs(), s.Pairs())
	}
	if s.Keep([][]bool{{false, false}, {false}, {false, false}}) != nil {
		t.Error("no clip is left, and there is a set")
	}
}
