package run_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/run"
	"nmn/text"
	"nmn/train"
)

// A model is asked about data of the same words in the same order: else each class would be judged as another.
func TestSameClasses_WordsInTheirOrder(t *testing.T) {
	c := &train.Checkpoint{Words: []train.ClassWord{{Text: "cat", POS: "NN"}, {Text: "dog", POS: "NN"}}}
	for want, words := range map[string][]string{
		"": {"cat", "dog"},
		`class 1 of the model is "cat", the vocabulary of the data has "dog"`: {"dog", "cat"},
		`class 2 of the model is "dog", the vocabulary of the data has "cow"`: {"cat", "cow"},
		"the model has 2 classes, the vocabulary of the data 3":               {"cat", "dog", "cow"},
		"the model has 2 classes, the vocabulary of the data 1":               {"cat"},
	} {
		var all []text.Word
		for _, w := range words {
			all = append(all, text.Word{Text: w, POS: text.NN})
		}
		v, err := text.NewVocabulary(all)
		expect.OK(t, err)
		err = run.SameClasses(c, v)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "`data.vocabulary`")) {
			t.Errorf("%q: error %v, want %q", words, err, want)
		}
	}
}

// Each rate of a file goes into its own place, of its own word.
func TestStartNoiseRates_OfAFile(t *testing.T) {
	config := small()
	session, err := run.Open(t.Context(), config, run.Options{})
	expect.OK(t, err)
	words := session.Data.Train.Vocabulary.Texts()
	expect.OK(t, session.Close())
	var table strings.Builder
	table.WriteString("class,q01,q10\n")
	for _, i := range []int{2, 1, 0} { // in another order
		table.WriteString(words[i] + [...]string{",.1,.01\n", ",.2,.02\n", ",.3,.03\n"}[i])
	}
	for _, word := range words[3:] {
		table.WriteString(word + ",.4,.04\n")
	}
	config.NoiseRates = filepath.Join(t.TempDir(), "rates.csv")
	expect.OK(t, os.WriteFile(config.NoiseRates, []byte(table.String()), 0o644))
	if session, err = run.Open(t.Context(), config, run.Options{}); err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	n := session.Config.Train.Noise
	if len(n.Q01) != len(words) || !slices.Equal(n.Q01[:4], []float32{.1, .2, .3, .4}) ||
		!slices.Equal(n.Q10[:4], []float32{.01, .02, .03, .04}) {
		t.Errorf("miss rates %v, false rates %v", n.Q01, n.Q10)
	}
}
