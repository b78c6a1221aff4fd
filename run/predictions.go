package run

import (
	"cmp"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"nmn/format/npy"
	"nmn/internal/durable"
	"nmn/internal/setting"
	"nmn/loader"
	"nmn/recipe"
	"nmn/text"
)

// ThresholdSource says what a threshold of the best expected F1 was found from.
type ThresholdSource string

// The sources of thresholds; empty for one that was given.
const (
	FromRun         ThresholdSource = "out-of-fold scores of the training data"
	FromPredictions ThresholdSource = "what was predicted"
)

// Predictions are a model's predictions for N bags: pictures, clips or rows of features.
type Predictions struct {
	Vocabulary    *text.Vocabulary // the K words
	Probabilities []float32        // N×K, a row for each bag that could be read
	Threshold     float64          // the least probability of the words that are predicted
	ThresholdFrom ThresholdSource
	Bad           []loader.BadSample // the bags that could not be read, and why
	// Skipped are the files of the folders that were not read, because their names do not end as names of pictures do.
	Skipped []string
	Clips   bool // says that bags are clips: videos, or folders of frames

	set   *loader.Set
	names []string // of all bags, for tables
	index []int    // the bag of each row
	top   int      // words of each bag, 0 for no limit
}

// Prediction is one word of a bag.
type Prediction struct {
	Word        string  `json:"label"`
	Probability float64 `json:"probability"`
}

// Len is the number of bags that could be read.
func (p *Predictions) Len() int { return len(p.index) }

// ID names a bag: a picture or a clip by its path, a row of features by its identifier.
func (p *Predictions) ID(row int) string { return p.set.IDs[p.index[row]] }

// Words returns the predicted words of a bag, the most probable first; never nil.
func (p *Predictions) Words(row int) []Prediction {
	words, k := []Prediction{}, p.Vocabulary.Len()
	for class, q := range p.Probabilities[row*k : (row+1)*k] {
		if float64(q) >= p.Threshold {
			words = append(words, Prediction{p.Vocabulary.Word(class).Text, float64(q)})
		}
	}
	slices.SortStableFunc(words, func(a, b Prediction) int { return cmp.Compare(b.Probability, a.Probability) })
	if p.top > 0 {
		words = words[:min(p.top, len(words))]
	}
	return words
}

// All goes through the bags and their words.
func (p *Predictions) All() iter.Seq2[string, []Prediction] {
	return func(yield func(string, []Prediction) bool) {
		for row := range p.Len() {
			if !yield(p.ID(row), p.Words(row)) {
				return
			}
		}
	}
}

// WriteTable writes a CSV table of all probabilities, whatever the threshold: a row for each bag and a column for each
// word. Pictures of one folder are named by their path in it.
func (p *Predictions) WriteTable(w io.Writer) error {
	ids := make([]string, p.Len())
	for row, bag := range p.index {
		ids[row] = p.names[bag]
	}
	return recipe.WriteScoreTable(w, p.Vocabulary.Texts(), ids, p.Probabilities)
}

// WriteFile writes all probabilities, whatever the threshold: as the table of WriteTable to a .csv, as an N×K
// matrix of float32 to a .npy. There is a row for each bag that could be read.
func (p *Predictions) WriteFile(path string) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".npy":
	case ".csv":
		return durable.Stream(path, 0o644, p.WriteTable)
	default:
		return setting.Errorf("", "the file for the probabilities is %q, want a name that ends in .npy or .csv", path)
	}
	return durable.Replace(path, 0o644, func(f *durable.File) error {
		k := p.Vocabulary.Len()
		w, err := npy.NewWriter(f, k)
		if err != nil {
			return err
		}
		for row := range p.Len() {
			if err := w.Write(p.Probabilities[row*k : (row+1)*k]); err != nil {
				return err
			}
		}
		return w.Close()
	})
}
