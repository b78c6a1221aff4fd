package captioner

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/captioner/metrics"
	"nmn/captioner/s2vt"
	"nmn/internal/expect"
)

func buildWords(t testing.TB, o WordOptions, captions ...string) (*Words, Counted) {
	t.Helper()
	w, counted, err := BuildWords(slices.Values(captions), o)
	expect.OK(t, err)
	return w, counted
}

func TestBuildWords_ByFallingCountThenAlphabet(t *testing.T) {
	w, counted := buildWords(t, WordOptions{}, "A dog, a cat.", "the dog runs", "", "?!",
		"a "+strings.Repeat("x", 10000))
	if got := strings.Join(w.words[firstWord:], " "); got != "a dog cat runs the" {
		t.Errorf("words %q", got)
	}
	if want := (Counted{Captions: 5, Tokens: 9, Distinct: 5, Unknown: 1, Empty: 1,
		TooLong: 1}); counted.TooLong != want.TooLong ||
		counted.Captions != want.Captions || counted.Distinct != want.Distinct || counted.Unknown != want.Unknown {
		t.Errorf("counted %+v, want %+v", counted, want)
	}
	if w.Len() != 9 || w.words[4] != "a" || w.counts[4] != 3 || w.counts[Unknown] != 0 {
		t.Errorf("%d ids, the first word is %q, %d times", w.Len(), w.words[4], w.counts[4])
	}
	other, _ := buildWords(t, WordOptions{}, "the dog runs", "a dog a cat", "a")
	if err := w.Same(other); err != nil || w.Fingerprint() != other.Fingerprint() {
		t.Errorf("the order of the captions counts: %v", err)
	}
}

func TestBuildWords_Cuts(t *testing.T) {
	captions := []string{"a a a b b c", "d d e"}
	w, counted := buildWords(t, WordOptions{MinCount: 2}, captions...)
	if strings.Join(w.words[firstWord:], "") != "abd" || counted.Unknown != 2 || counted.Distinct != 5 {
		t.Errorf("%q, %+v", w.words[firstWord:], counted)
	}
	if w, counted := buildWords(t, WordOptions{Size: 2}, captions...); strings.Join(w.words[firstWord:], "") != "ab" ||
		counted.Unknown != 4 {
		t.Errorf("%q, %+v", w.words[firstWord:], counted)
	}
	for _, o := range []WordOptions{{MinCount: 9}, {Size: -1}, {Size: maxWords + 1}} {
		if _, _, err := BuildWords(slices.Values(captions), o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

func TestWords_ThereAndBack(t *testing.T) {
	w, _ := buildWords(t, WordOptions{MinCount: 2}, "a man does n't run", "a man does n't walk")
	ids := w.Append(nil, Tokens("A man doesn't swim."))
	if want := []int32{4, 6, 5, 7, Unknown}; !slices.Equal(ids, want) {
		t.Errorf("ids %v, want %v of %q", ids, want, w.words[firstWord:])
	}
	if got := w.Caption(append([]int32{s2vt.BOS}, append(ids, s2vt.EOS, 4, s2vt.PAD)...)); got != "a man does n't <unk>" {
		t.Errorf("caption %q", got)
	}
	if tokens := metrics.Tokens(w.Caption(ids[:4])); strings.Join(tokens, " ") != "a man does n't" {
		t.Errorf("a generated caption is scored as %q", tokens)
	}
}

func TestWords_SameNamesTheFirstDifference(t *testing.T) {
	make := func(words ...string) *Words {
		w, err := NewWords(words, nil)
		expect.OK(t, err)
		return w
	}
	w := make("a", "dog")
	for want, other := range map[string]*Words{`word 2 is "dog" in one of 2 words and "cat" in the other`: make("a",
		"cat"), "2 words and the other 3": make("a", "dog", "cat")} {
		expect.Refusal(t, w.Same(other), want, ErrOtherWords)
		if w.Fingerprint() == other.Fingerprint() {
			t.Errorf("%q and %q have one fingerprint", w.words[firstWord:], other.words[firstWord:])
		}
	}
}

func TestNewWords_RefusesWhatIsNoWord(t *testing.T) {
	for want, words := range map[string][]string{
		"0 words":                    {},
		"word 2: it is empty":        {"a", ""},
		`word 3 repeats "a", word 1`: {"a", "b", "a"},
		"10000 bytes":                {strings.Repeat("x", 10000)},
		"not UTF-8":                  {"a\xff"},
		"a blank":                    {"a b"},
		"a control character":        {"a\x00"},
		"something else":             {"<eos>"},
	} {
		expect.Refusal(t, expect.ErrorOf(NewWords(words, nil)), want)
		encoded, err := json.Marshal(words)
		expect.OK(t, err)
		if json.Unmarshal(encoded, new(Words)) == nil && want != "not UTF-8" { // which JSON cannot hold
			t.Errorf("%s: JSON is accepted", want)
		}
	}
	if _, err := NewWords([]string{"a"}, []int{1, 2}); err == nil {
		t.Error("two counts for one word")
	}
}

func TestWords_File(t *testing.T) {
	w, _ := buildWords(t, WordOptions{}, "a dog and a cat", "1 1/2 cups")
	path := filepath.Join(t.TempDir(), "words.txt")
	expect.OK(t, w.WriteFile(path))
	read, err := ReadWords(path)
	if err != nil || read.Same(w) != nil || !slices.Equal(read.counts, w.counts) {
		t.Fatalf("%v: %q", err, read.words[firstWord:])
	}
	encoded, err := json.Marshal(w)
	expect.OK(t, err)
	var decoded Words
	if err := json.Unmarshal(encoded, &decoded); err != nil || decoded.Same(w) != nil || decoded.Len() != w.Len() {
		t.Errorf("%v: %s", err, encoded)
	}
}

func TestParseWords_NamesWhatIsWrong(t *testing.T) {
	w, _ := buildWords(t, WordOptions{}, "a a dog")
	var b bytes.Buffer
	expect.OK(t, expect.ErrorOf(w.WriteTo(&b)))
	good := b.String()
	header, _, _ := strings.Cut(good, "\n")
	for want, content := range map[string]string{
		"line 1: the file is empty":            "",
		"line 1: not the header":               "dog, NN, 3\n",
		`line 1: version "2"`:                  strings.Replace(good, " 1 ", " 2 ", 1),
		"line 1: the header lacks":             "nmn-caption-words 1\na\t2\n",
		`line 2: "a 2" is not`:                 header + "\na 2\n",
		"line 3: count \"01\"":                 header + "\na\t2\ndog\t01\n",
		"line 3: longer than":                  header + "\na\t2\n" + strings.Repeat("x", 10000),
		"it was changed or cut short":          strings.TrimSuffix(good, "dog\t1\n"),
		`word 3 repeats "a"`:                   good + "a\t2\n",
		"line 2: \"a\\xff\" is not UTF-8":      header + "\na\xff\t2\n",
		"its 2 words do not match its first l": strings.Replace(good, "dog", "cat", 1),
	} {
		expect.Refusal(t, expect.ErrorOf(parseWords("f", strings.NewReader(content))), want, ErrFormat)
	}
	expect.Refusal(t, expect.ErrorOf(ReadWords(filepath.Join(t.TempDir(), "none"))), "", os.ErrNotExist)
}

// FuzzParseWords: what is accepted is written and read again as the same words.
func FuzzParseWords(f *testing.F) {
	for _, captions := range [][]string{{"a dog"}, {"a a b", "1 1/2 café"}} {
		w, _ := buildWords(f, WordOptions{}, captions...)
		var b bytes.Buffer
		if _, err := w.WriteTo(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte("nmn-caption-words 1 x\na\t1\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		w, err := parseWords("f", bytes.NewReader(content))
		if err != nil {
			expect.Refusal(t, err, "", ErrFormat)
			return
		}
		var b bytes.Buffer
		expect.OK(t, expect.ErrorOf(w.WriteTo(&b)))
		readBack, err := parseWords("f", &b)
		if err != nil || readBack.Same(w) != nil {
			t.Errorf("written and read again: %v", err)
		}
	})
}

// FuzzBuildWords: whatever people write, every token has an id, and a file of the words can be read.
func FuzzBuildWords(f *testing.F) {
	f.Add("A man isn't running; \xff 1 1/2 <unk> <eos>")
	f.Add(strings.Repeat("long", 100) + " \u2028 \u00a0 -lrb-")
	f.Fuzz(func(t *testing.T, text string) {
		w, counted, err := BuildWords(slices.Values([]string{text}), WordOptions{})
		if err != nil {
			return
		}
		tokens := Tokens(text)
		ids := w.Append(nil, tokens)
		unknown := 0
		for i, id := range ids {
			if id == Unknown {
				unknown++
			} else if w.words[id] != tokens[i] {
				t.Errorf("token %q has the id of %q", tokens[i], w.words[id])
			}
		}
		if unknown != counted.Unknown {
			t.Errorf("%d unknown tokens, %d counted", unknown, counted.Unknown)
		}
		var b bytes.Buffer
		expect.OK(t, expect.ErrorOf(w.WriteTo(&b)))
		if read, err := parseWords("f", &b); err != nil || read.Same(w) != nil {
			t.Errorf("the file of the words: %v", err)
		}
	})
}
