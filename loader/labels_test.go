package loader

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"nmn/text"
)

// vocabularyOf makes a vocabulary of nouns.
func vocabularyOf(t testing.TB, words ...string) *text.Vocabulary {
	t.Helper()
	list := make([]text.Word, len(words))
	for i, w := range words {
		list[i] = text.Word{Text: w, POS: text.NN}
	}
	v, err := text.NewVocabulary(list)
	check(t, err)
	return v
}

// captionSet makes a set of n bags whose captions name words in a fixed pattern.
func captionSet(t testing.TB, n, perBag int) *Set {
	t.Helper()
	words := []string{"dog", "cat", "red", "run", "park", "ball"}
	ids, captions := make([]string, n), make([][]string, n)
	for i := range ids {
		ids[i] = "bag" + string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		for c := range perBag {
			captions[i] = append(captions[i], words[(i*7+c*3)%6]+" and "+words[(i+c)%6]+" #")
		}
	}
	s, err := NewCaptionSet("pattern", ids, captions, perBag, vocabularyOf(t, words...))
	check(t, err)
	return s
}

func TestNewCaptionSet_LabelsAreWordsOfAnyCaption(t *testing.T) {
	captions := [][]string{{"A dog's Dog.", "the red-dog", "dogs run"}, {"", "Red dog"}, {}}
	s, err := NewCaptionSet("s", []string{"1", "2", "3"}, captions, 3, vocabularyOf(t, "red", "dog", "run", "'s"))
	check(t, err)
	if got, want := s.Labels.Uint8s(), []uint8{0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0}; !reflect.DeepEqual(got, want) {
		t.Errorf("labels %v, want %v", got, want)
	}
	if got, want := s.Counts.Uint8s(), []uint8{0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0}; !reflect.DeepEqual(got, want) {
		t.Errorf("counts %v, want %v", got, want)
	}
	if got, want := s.Captions, [][][]int32{{{1, 3}, {}, {2}}, {{}, {0, 1}}, {}}; !reflect.DeepEqual(got, want) {
		t.Errorf("captions %v, want %v", got, want)
	}
	if s.Truth != nil || s.Source != nil || s.CaptionsPerSample != 3 {
		t.Errorf("truth %v, source %v, %d captions per bag", s.Truth, s.Source, s.CaptionsPerSample)
	}
}

func TestNewCaptionSet_CountsCaptionsNotOccurrences(t *testing.T) {
	s, err := NewCaptionSet("s", []string{"1"}, [][]string{{"dog dog dog", "dog", "cat"}}, 5,
		vocabularyOf(t, "dog", "cat"))
	check(t, err)
	if got := s.Counts.Uint8s(); got[0] != 2 || got[1] != 1 {
		t.Errorf("counts %v, want [2 1]", got)
	}
}

func TestNewCaptionSet_RefusesBadInput(t *testing.T) {
	v := vocabularyOf(t, "dog")
	two := [][]string{{"a"}, {"b"}}
	for name, c := range map[string]struct {
		ids      []string
		captions [][]string
		perBag   int
		v        *text.Vocabulary
		want     string
	}{
		"no vocabulary":     {[]string{"1", "2"}, two, 5, nil, "vocabulary"},
		"no bags":           {nil, nil, 5, v, "0 samples"},
		"other lengths":     {[]string{"1"}, two, 5, v, "1 samples with the captions of 2"},
		"repeated id":       {[]string{"1", "1"}, two, 5, v, `sample 1 repeats the id "1" of sample 0`},
		"empty id":          {[]string{"1", ""}, two, 5, v, "sample 1 has an empty id"},
		"too many captions": {[]string{"1", "2"}, [][]string{{"a"}, {"b", "c"}}, 1, v, "sample 1 (2) has 2 captions"},
		"count overflow":    {[]string{"1", "2"}, two, 256, v, "256 captions per sample"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := NewCaptionSet("s", c.ids, c.captions, c.perBag, c.v)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func write(t testing.TB, path string, b []byte) {
	t.Helper()
	check(t, os.MkdirAll(filepath.Dir(path), 0o755))
	check(t, os.WriteFile(path, b, 0o644))
}
