package text

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/jdkato/prose/v2"

	"nmn/internal/expect"
)

func init() { RegisterModel(prose.Asset) }

var sharedTagger = sync.OnceValues(NewTagger)

func newTagger(t testing.TB) *Tagger {
	t.Helper()
	tagger, err := sharedTagger()
	expect.OK(t, err)
	return tagger
}

var taggedCaptions = []string{
	"a man is riding a wave on top of a surfboard .",
	"two dogs play with a red frisbee in the green grass",
	"the woman holds her umbrella while she crosses a busy street",
	"several old cars parked along the side of a 1950 road",
	"an orange cat sits behind three-legged chairs near him",
	"some very small children quickly eat bananas and drink milk",
	"there are people who can fly kites at the beach",
}

// prose tags text with the same weights, so on captions that both split alike the tags are equal.
func TestTagger_EqualsProse(t *testing.T) {
	tagger := newTagger(t)
	var model *prose.Model
	for _, caption := range taggedCaptions {
		options := []prose.DocOpt{prose.WithExtraction(false), prose.WithSegmentation(false)}
		if model != nil {
			options = append(options, prose.UsingModel(model))
		}
		doc, err := prose.NewDocument(caption, options...)
		expect.OK(t, err)
		model = doc.Model
		var words, want []string
		for _, token := range doc.Tokens() {
			words, want = append(words, token.Text), append(want, token.Tag)
		}
		if got := tagger.Append(nil, words); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%v\n got %v\nwant %v", words, got, want)
		}
	}
}

func TestTagger_TagsCaptions(t *testing.T) {
	tagger := newTagger(t)
	words := Tokenizer{}.Append(nil, `A man doesn't ride "two" small (red) horses on it.`)
	got := strings.Join(tagger.Append(nil, words), " ")
	if want := "DT NN VBZ RB VB `` CD '' JJ -LRB- JJ -RRB- NNS IN PRP ."; got != want {
		t.Errorf("%v\n got %s\nwant %s", words, got, want)
	}
	if got := tagger.Append(nil, nil); len(got) != 0 {
		t.Errorf("no words give the tags %v", got)
	}
}

func TestTagger_AcceptsAnyToken(t *testing.T) {
	tagger := newTagger(t)
	words := []string{"é", "\xff", "-x", "🐶", "1", "a\u00a0b"}
	if got := tagger.Append([]string{"DT"}, words); len(got) != len(words)+1 {
		t.Errorf("%d tags for %d words", len(got)-1, len(words))
	}
}

func TestGroupOf(t *testing.T) {
	for tag, want := range map[string]POS{"NNS": NN, "VBG": VB, "JJR": JJ, "PDT": DT, "PRP$": PRP, "IN": IN,
		"TO": Others, "CD": Others, "WDT": Others, ".": Others, "": Others} {
		if got := groupOf(tag); got != want {
			t.Errorf("GroupOf(%q) = %v, want %v", tag, got, want)
		}
	}
}

func BenchmarkTagger(b *testing.B) {
	tagger := newTagger(b)
	var sentences [][]string
	words := 0
	for _, caption := range taggedCaptions {
		sentences = append(sentences, Tokenizer{}.Append(nil, caption))
		words += len(sentences[len(sentences)-1])
	}
	b.ReportAllocs()
	var dst []string
	for b.Loop() {
		for _, s := range sentences {
			dst = tagger.Append(dst[:0], s)
		}
	}
	b.ReportMetric(float64(b.N*words)/b.Elapsed().Seconds(), "words/s")
}

// A program that has not imported the model gets an error that names the package.
func TestNewTagger_WithoutItsModel(t *testing.T) {
	defer RegisterModel(asset)
	RegisterModel(nil)
	if _, err := NewTagger(); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "text/english") {
		t.Error(err)
	}
}
