package loader

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"nmn/internal/expect"
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
	expect.OK(t, err)
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
	expect.OK(t, err)
	return s
}

func TestNewCaptionSet_LabelsAreWordsOfAnyCaption(t *testing.T) {
	captions := [][]string{{"A dog's Dog.", "the red-dog", "dogs run"}, {"", "Red dog"}, {}}
	s, err := NewCaptionSet("s", []string{"1", "2", "3"}, captions, 3, vocabularyOf(t, "red", "dog", "run", "'s"))
	expect.OK(t, err)
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
	expect.OK(t, err)
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
	expect.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
	expect.OK(t, os.WriteFile(path, b, 0o644))
}

var animals = strings.Fields("ant bear cat dog eel fox goat hen ibis jay kite lynx mole newt owl pig quail rat seal " +
	"toad")

// pairs returns labels such as "ant,bear" mixed with single ones, as in files whose lists were not split.
func pairs(write func(a, b string) string, single func(a string) string) []string {
	labels := []string{}
	for i, a := range animals {
		labels = append(labels, single(a), write(a, animals[(i+3)%20]), write(a, animals[(i+7)%20]))
	}
	return labels
}

func TestFindPacked_SeesListsInOneString(t *testing.T) {
	itself := func(a string) string { return a }
	joined := func(separator string) func(a, b string) string {
		return func(a, b string) string { return a + separator + b }
	}
	for _, test := range []struct {
		labels          []string
		separator, cure string
	}{
		{pairs(joined(","), itself), "a comma", "(ant;dog)"},
		{pairs(joined(", "), itself), "a comma", "(ant;dog)"},
		{pairs(joined(" "), itself), "a blank", "(ant;dog)"},
		{pairs(joined(";"), itself), "a semicolon", "(ant;dog)"},
		{pairs(joined("|"), itself), "a vertical bar", "(ant;dog)"},
		{pairs(func(a, b string) string { return fmt.Sprintf("[%q,%q]", a, b) },
			func(a string) string { return fmt.Sprintf("[%q]", a) }), "brackets", "(ant;dog)"},
		{pairs(func(a, b string) string { return fmt.Sprintf("['%s', '%s']", a, b) },
			func(a string) string { return fmt.Sprintf("['%s']", a) }), "brackets", `["ant", "dog"]`},
	} {
		p, found := FindPacked(test.labels, true)
		if !found {
			t.Errorf("%s: %q are taken for names", test.separator, test.labels[:3])
			continue
		}
		if p.Separator != test.separator || p.Labels != 60 || p.Lists < 40 || p.Parts != 20 || p.Recurring != 20 {
			t.Errorf("%q: %+v", test.labels[:3], p)
		}
		if !strings.Contains(p.Cure(), test.cure) {
			t.Errorf("%s: the cure is %s", test.separator, p.Cure())
		}
	}
}

// No part stands alone, but the same ones begin a list and end one.
func TestFindPacked_SeesListsWithoutSingleLabels(t *testing.T) {
	if _, found := FindPacked([]string{"ant,bear", "bear,cat", "cat,ant"}, true); !found {
		t.Error("taken for names")
	}
}

func TestFindPacked_LeavesNamesAlone(t *testing.T) {
	coco := strings.Split("person,bicycle,car,traffic light,fire hydrant,stop sign,parking meter,bench,bird,cat,dog,"+
		"horse,bear,sports ball,baseball bat,baseball glove,tennis racket,wine glass,hot dog,potted plant,"+
		"dining table,teddy bear,hair drier,cell phone,ball,bat,glass,table,phone,plant,light,sign", ",")
	for what, labels := range map[string][]string{
		"names of two words":  coco,
		"people":              {"Smith, John", "Smith, Jane", "Jones, John", "Jones, Jane", "Brown, Ann"},
		"names with synonyms": {"tench, Tinca tinca", "goldfish, Carassius auratus", "great white shark, man-eater", "cock"},
		"traffic signs": {"speed limit 20", "speed limit 30", "speed limit 50", "end of speed limit 50", "no passing",
			"stop", "yield", "no entry", "general caution"},
		"species":           {"Canis lupus", "Canis aureus", "Felis catus", "Felis silvestris", "Ursus arctos"},
		"columns of arrays": {"class 1", "class 2", "class 3"},
		"single words":      animals,
		"nothing":           nil,
	} {
		if p, found := FindPacked(labels, true); found {
			t.Errorf("%s: taken for lists: %s", what, p)
		}
	}
	// Bags that have several labels show that these come apart already.
	if p, found := FindPacked([]string{"red", "car", "red car", "blue", "blue car", "red bus", "bus", "blue bus"},
		false); found {
		t.Errorf("labels of bags with several: %s", p)
	}
}
