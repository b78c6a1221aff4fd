package loader

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"nmn/internal/fault"
	"nmn/loader/features"
	"nmn/text"
)

// FeatureSet makes a set of the rows of a table, one bag each. The vocabulary holds the classes; nil
// makes one of the table's labels, which then need to be there. Rows without identifiers are named by
// their number, from 1. A table without labels, for prediction, gives a set whose Labels are 0.
func FeatureSet(name string, t *features.Table, vocabulary *text.Vocabulary) (*Set, error) {
	if t.Labels == nil && vocabulary == nil {
		return nil, Unusable(fmt.Errorf("%s: %q has no labels; give a file of them (`data.features.train.labels`), or "+
			"say which columns are labels (`data.features.label_columns`)",
			name, t.Name))
	}
	if vocabulary == nil {
		var err error
		if vocabulary, err = labelVocabulary(t.Labels); err != nil {
			return nil, Unusable(fmt.Errorf("%s: %q: %w", name, t.Name, err))
		}
	}
	n, k := t.Rows.Len(), vocabulary.Len()
	s := &Set{
		Name:       name,
		Vocabulary: vocabulary,
		IDs:        t.IDs,
		Vectors:    &tableVectors{rows: t.Rows},
		Columns:    t.Columns,
		Labels:     Matrix(make([]uint8, n*k), k),
		Weights:    t.Weights,
	}
	if s.IDs == nil {
		s.IDs = numbered(n)
	}
	if t.Labels != nil {
		s.Labels = Matrix(t.Labels.Values, k)
	}
	if t.Truth != nil {
		s.Truth = Matrix(t.Truth.Values, k)
	}
	if t.Counts != nil {
		s.Counts = Matrix(t.Counts.Values, k)
	}
	return s, checkMatrix(s, "labels", s.Labels, true)
}

// labelVocabulary makes the classes of labels, with the number of their rows.
func labelVocabulary(l *features.Labels) (*text.Vocabulary, error) {
	words := make([]text.Word, len(l.Words))
	for k, word := range l.Words {
		words[k] = text.Word{Text: word, POS: text.Others}
	}
	for i, z := range l.Values {
		if z != UnknownLabel {
			words[i%len(words)].Count += int(z)
		}
	}
	return text.NewVocabulary(words)
}

// numbered names rows by their number.
func numbered(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = strconv.Itoa(i + 1)
	}
	return ids
}

// tableVectors are the rows of a table.
type tableVectors struct{ rows features.Rows }

func (t *tableVectors) Frames(int) int { return 1 }
func (t *tableVectors) Width() int     { return t.rows.Width() }

func (t *tableVectors) Read(ctx context.Context, bag, _ int, dst []float32) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := t.rows.Read(bag, dst)
	if errors.Is(err, features.ErrValue) {
		return fault.As(ErrCorrupt, err) // without its text, which is about pictures
	}
	return err
}
