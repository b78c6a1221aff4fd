package annotators

import (
	"context"
	"fmt"

	"nmn/format/table"
	"nmn/labels/rates"
	"nmn/loader"
	"nmn/text"
)

// Files name what an audit of annotators reads.
type Files struct {
	Labels     string // labels by several annotators; see read
	Vocabulary string // file with the classes; empty for all labels that are met, or the columns of the scores
	Bags       string // file with the id of each bag on a line; empty for all that are met, or the rows of the scores
	Scores     string // out-of-fold scores with a column id, a row for each bag; empty for none
	Logits     bool   // scores are log-odds instead of probabilities
}

// Read reads the files. With scores, the scores define the bags and their order.
func (f Files) Read(ctx context.Context) (*Table, error) {
	var o ReadOptions
	if f.Vocabulary != "" {
		v, err := text.ReadVocabulary(f.Vocabulary)
		if err != nil {
			return nil, err
		}
		o.Words = v.Texts()
	}
	if f.Scores == "" {
		if f.Bags != "" {
			var err error
			if o.Bags, err = loader.ReadIDs(ctx, f.Bags); err != nil {
				return nil, err
			}
		}
		return read(ctx, f.Labels, o)
	}
	scores, err := table.ReadScores(f.Scores, f.Logits)
	if err != nil {
		return nil, err
	}
	if scores.IDs == nil {
		return nil, fmt.Errorf("%s: no column id names its rows, want the samples of %s there: %w", f.Scores, f.Labels,
			table.ErrNames)
	}
	if o.Bags, err = distinct(scores); err != nil {
		return nil, err
	}
	logits, err := f.columns(scores, &o)
	if err != nil {
		return nil, err
	}
	t, err := read(ctx, f.Labels, o)
	if err != nil {
		return nil, err
	}
	t.Logits = logits
	return t, nil
}

func distinct(m *table.Matrix) ([]string, error) {
	at := make(map[string]int, len(m.IDs))
	for i, id := range m.IDs {
		if first, ok := at[id]; ok {
			return nil, fmt.Errorf("%s: id %q is given twice, in rows %d and %d: %w", m.Name, loader.Excerpt(id), first+1,
				i+1, table.ErrNames)
		}
		at[id] = i
	}
	return m.IDs, nil
}

// columns returns the scores as logits: the columns of the vocabulary if there is one, otherwise all columns.
func (f Files) columns(m *table.Matrix, o *ReadOptions) ([]float32, error) {
	values := m.Values
	if !f.Logits {
		var err error
		if values, err = rates.Logits(values); err != nil {
			return nil, fmt.Errorf("%s: %w (set `scores.logits` if the scores are log-odds)", f.Scores, err)
		}
	}
	if o.Words == nil {
		o.Words = m.Words
		return values, nil
	}
	at := make(map[string]int, m.Cols)
	for c, word := range m.Words {
		at[word] = c
	}
	out := make([]float32, 0, m.Rows*len(o.Words))
	columns := make([]int, len(o.Words))
	for k, word := range o.Words {
		c, ok := at[word]
		if !ok {
			return nil, fmt.Errorf("%s: there is no column %q, which %s has: %w", f.Scores, loader.Excerpt(word), f.Vocabulary,
				table.ErrNames)
		}
		columns[k] = c
	}
	for i := range m.Rows {
		for _, c := range columns {
			out = append(out, values[i*m.Cols+c])
		}
	}
	return out, nil
}
