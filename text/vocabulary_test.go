package text

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
)

func TestParseVocabulary_ReadsTheFormat(t *testing.T) {
	in := "\ufeffa, DT, 683655\r\ndog, NN, 12\r\n\r\n1,000, other, 3\nred,jj,  4\ntraffic light, NN, 0"
	v, err := parseVocabulary("v.txt", strings.NewReader(in))
	expect.OK(t, err)
	want := []Word{{"a", DT, 683655}, {"dog", NN, 12}, {"1,000", Others, 3}, {"red", JJ, 4}, {"traffic light", NN, 0}}
	if !reflect.DeepEqual(v.Words(), want) {
		t.Errorf("got %v, want %v", v.Words(), want)
	}
	if k, ok := v.Index("red"); !ok || k != 3 {
		t.Errorf("red is class %d, %v", k, ok)
	}
	if got := v.POSCounts(); got != [POSCount]int{NN: 2, JJ: 1, DT: 1, Others: 1} {
		t.Errorf("group counts %v", got)
	}
}

func TestParseVocabulary_NamesThePlaceOfAnError(t *testing.T) {
	cases := map[string]struct{ in, want string }{
		"repeated word":     {"dog, NN, 1\ncat, NN, 1\ndog, VB, 2\n", `line 3, column 1: "dog" repeats line 1`},
		"missing field":     {"dog, NN\n", "line 1, column 1"},
		"unknown group":     {"dog, NN, 1\ncat, XX, 1\n", `line 2, column 6: part of speech "XX"`},
		"bad count":         {"cat, NN, many\n", `line 1, column 10: count "many"`},
		"negative count":    {"cat, NN, -1\n", "line 1, column 10"},
		"count too large":   {"cat, NN, 99999999999999999999\n", "line 1, column 10"},
		"behind a mark":     {"\ufeffcat, XX, 1\n", "line 1, column 9"},
		"empty word":        {", NN, 1\n", "the word is empty"},
		"not UTF-8":         {"\xff, NN, 1\n", "not UTF-8"},
		"control character": {"a\x00b, NN, 1\n", "control character"},
		"nothing":           {"\n\n", "no words"},
		"endless line":      {"dog, NN, 1\n" + strings.Repeat("x", 5000), "line 2: longer than 4096 bytes"},
		"endless word":      {"dog\n" + strings.Repeat("x", 4001), "is longer than 4000 bytes"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := parseVocabulary("v.txt", strings.NewReader(c.in))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `"v.txt"`) {
				t.Fatalf("error %v, want one with v.txt and %q", err, c.want)
			}
			if !errors.Is(err, ErrFormat) {
				t.Errorf("%v does not wrap ErrFormat", err)
			}
		})
	}
}

// A file of names alone is a vocabulary too; the first line decides.
func TestParseVocabulary_ReadsNames(t *testing.T) {
	v, err := parseVocabulary("v.txt", strings.NewReader("\ufeffdog\r\n\ntraffic light\nSmith, John\n 7 \n"))
	expect.OK(t, err)
	want := []Word{{"dog", Others, 0}, {"traffic light", Others, 0}, {"Smith, John", Others, 0}, {"7", Others, 0}}
	if !reflect.DeepEqual(v.Words(), want) || v.HasPOS() {
		t.Errorf("got %v, want %v", v.Words(), want)
	}
	if v, err = parseVocabulary("v.txt", strings.NewReader("a, other, 1\ndog, NN, 1\n")); err != nil || !v.HasPOS() {
		t.Errorf("%v, %v: want words with parts of speech", v, err)
	}
	for in, says := range map[string]string{
		"dog\ncat, NN, 3\n": `line 2, column 1: "cat, NN, 3" is neither a name`,
		"dog, NN, 3\ncat\n": `line 2, column 1: "cat" is not "word, POS, count"`,
		"dog\ncat, 3\n":     `line 2, column 1: "cat, 3" is neither a name`,
		"dog\ndog\n":        `"dog" repeats line 1`,
	} {
		if _, err := parseVocabulary("v.txt", strings.NewReader(in)); err == nil || !errors.Is(err, ErrFormat) ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %s", in, err, says)
		}
	}
}

func TestBuildVocabulary_WithoutFunctionWords(t *testing.T) {
	captions := slices.Values([]string{"A man is riding a horse on the beach with his dog.",
		"There are two dogs, and they don't run into the water.", "someone who could have been the man's brother"})
	v, err := BuildVocabulary(captions, VocabularyOptions{Tagger: newTagger(t), NoFunctionWords: true})
	expect.OK(t, err)
	got := slices.Sorted(slices.Values(v.Texts()))
	if want := strings.Fields("beach brother dog dogs horse man riding run two water"); !slices.Equal(got, want) {
		t.Errorf("words %q, want %q", got, want)
	}
}

func TestVocabulary_WriteFileReadsBack(t *testing.T) {
	want := []Word{{"a", DT, 9}, {"1,000", Others, 3}, {"o'clock", NN, 2}, {"café", NN, 1}}
	v, err := NewVocabulary(want)
	expect.OK(t, err)
	path := filepath.Join(t.TempDir(), "v.txt")
	expect.OK(t, v.WriteFile(path))
	if b, _ := os.ReadFile(path); string(b) != "a, DT, 9\n1,000, other, 3\no'clock, NN, 2\ncafé, NN, 1\n" {
		t.Errorf("file is %q", b)
	}
	got, err := ReadVocabulary(path)
	expect.OK(t, err)
	if !reflect.DeepEqual(got.Words(), want) {
		t.Errorf("read back %v", got.Words())
	}
}

func TestVocabulary_WriteRefusesWhatCannotBeReadBack(t *testing.T) {
	for _, w := range []Word{{" a", NN, 1}, {"a\nb", NN, 1}, {"a", NN, -1}, {"a", POS(99), 1},
		{strings.Repeat("a", 5000), NN, 1}} {
		v, err := NewVocabulary([]Word{w})
		expect.OK(t, err)
		if err := v.WriteFile(filepath.Join(t.TempDir(), "v.txt")); err == nil {
			t.Errorf("%.20q was written", w.Text)
		}
	}
}

func TestReadVocabulary_MissingFileNamesIt(t *testing.T) {
	if _, err := ReadVocabulary(filepath.Join(t.TempDir(), "none.txt")); !errors.Is(err, os.ErrNotExist) ||
		!strings.Contains(err.Error(), "none.txt") {
		t.Errorf("error %v", err)
	}
}

func TestBuildVocabulary_MostFrequentWords(t *testing.T) {
	captions := []string{"A dog runs.", "A dog and a cat run in the park.", `the "cat" runs (fast)`, "zebra, apple"}
	v, err := BuildVocabulary(slices.Values(captions), VocabularyOptions{Size: 6, Tagger: newTagger(t)})
	expect.OK(t, err)
	want := []Word{{"a", DT, 3}, {"cat", NN, 2}, {"dog", NN, 2}, {"runs", VB, 2}, {"the", DT, 2}, {"and", Others, 1}}
	if !reflect.DeepEqual(v.Words(), want) {
		t.Errorf("got %v\nwant %v", v.Words(), want)
	}
	slices.Reverse(captions)
	shuffled, err := BuildVocabulary(slices.Values(captions), VocabularyOptions{Size: 6, Tagger: newTagger(t)})
	if err != nil || !reflect.DeepEqual(shuffled.Words(), want) {
		t.Errorf("in another order: %v, %v", shuffled, err)
	}
}

func TestBuildVocabulary_Options(t *testing.T) {
	captions := slices.Values([]string{"a a b b c", "a b"})
	v, err := BuildVocabulary(captions, VocabularyOptions{MinCount: 3, Exclude: []string{"a"}})
	if err != nil || !reflect.DeepEqual(v.Words(), []Word{{"b", Others, 3}}) {
		t.Errorf("got %v, %v", v, err)
	}
	if _, err := BuildVocabulary(captions, VocabularyOptions{MinCount: 9}); err == nil {
		t.Error("no word is frequent enough, yet no error")
	}
	if _, err := BuildVocabulary(captions, VocabularyOptions{Size: -1}); err == nil {
		t.Error("a negative size was taken")
	}
}

// Table 1 of the paper: NN 616, VB 176, JJ 119, DT 10, PRP 11, IN 38, others 30.
func TestReadVocabulary_FangHasTheGroupsOfTable1(t *testing.T) {
	root := os.Getenv("NMN_DATA")
	if root == "" {
		t.Skip("NMN_DATA is not set: skipping the vocabulary of Fang et al.")
	}
	path := filepath.Join(root, "vocab-fang2015", "vocab_words.txt")
	v, err := ReadVocabulary(path)
	expect.OK(t, err)
	if got, want := v.POSCounts(), [POSCount]int{NN: 616, VB: 176, JJ: 119, DT: 10, PRP: 11, IN: 38,
		Others: 30}; got != want {
		t.Errorf("groups %v, want %v", got, want)
	}
	var b bytes.Buffer
	if _, err := v.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	if file, _ := os.ReadFile(path); !bytes.Equal(file, b.Bytes()) {
		t.Error("writing the vocabulary of Fang et al. does not give the same bytes")
	}
}

func FuzzParseVocabulary(f *testing.F) {
	for _, s := range []string{"a, DT, 683655\ndog, NN, 12\n", "\ufeff1,000, other, 3\r\n",
		"dog, NN\ndog, NN, 1\n\x00", ",,,", "dog\ncat\n", "a, b\n1,000,x\n",
		"a, b\n1," + strings.Repeat("0", 4090)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		v, err := parseVocabulary("fuzz", bytes.NewReader(in))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if _, err := v.WriteTo(&b); err != nil {
			t.Fatalf("a vocabulary that was read cannot be written: %v", err)
		}
		readBack, err := parseVocabulary("again", &b)
		if err != nil || !reflect.DeepEqual(readBack.Words(), v.Words()) {
			t.Fatalf("written and read back: %v, %v; want %v", readBack, err, v.Words())
		}
	})
}

// A word that has several parts of speech is what it is most often, whatever comes first.
func TestBuildVocabulary_GroupOfTheMostFrequentTag(t *testing.T) {
	captions := []string{"a run in the park", "they run fast", "people who run", "we run to the beach"}
	v, err := BuildVocabulary(slices.Values(captions), VocabularyOptions{Tagger: newTagger(t)})
	expect.OK(t, err)
	run, _ := v.Index("run")
	if got := v.Word(run); got != (Word{"run", VB, 4}) {
		t.Errorf("%+v, want a verb: it is a noun in the first caption alone", got)
	}
	for want, c := range map[POS]wordCount{
		VB: {count: 5, tags: map[string]int{"NN": 2, "VBG": 3}},
		NN: {count: 4, tags: map[string]int{"VBG": 2, "NN": 2}}, // equal: the first tag in alphabetical order
	} {
		if got := c.group(); got != want {
			t.Errorf("%v is %v, want %v", c.tags, got, want)
		}
	}
}
