package misplaced

import (
	"fmt"

	"nmn/format/table"
	"nmn/labels/rates"
	"nmn/loader/annotation"
)

// readScores reads the file of scores as logits; nil if no file is named.
func readScores(o AuditOptions) (*table.Matrix, error) {
	if o.Scores == "" {
		return nil, nil
	}
	m, err := table.ReadScores(o.Scores, o.Logits)
	if err != nil {
		return nil, err
	}
	if o.Logits {
		const most = 1e4 // beyond it nothing changes, and infinite ones would
		for i, v := range m.Values {
			m.Values[i] = min(max(v, -most), most)
		}
		return m, nil
	}
	if m.Values, err = rates.Logits(m.Values); err != nil {
		return nil, fmt.Errorf("%s: %w (set `scores.logits` if the scores are log-odds)", o.Scores, err)
	}
	return m, nil
}

// join puts scores in the order of the vocabulary, and finds the bag of each row.
func (r *Report) join(m *table.Matrix) error {
	columns, err := r.columns(m)
	if err != nil {
		return err
	}
	rows, err := r.rows(m)
	if err != nil {
		return err
	}
	r.input.Scores = make([]float32, 0, len(rows)*len(columns))
	for _, row := range rows {
		for _, column := range columns {
			r.input.Scores = append(r.input.Scores, m.Values[row*m.Cols+column])
		}
	}
	return nil
}

// inOrder are the numbers from 0 to n-1.
func inOrder(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func (r *Report) columns(m *table.Matrix) ([]int, error) {
	classes := r.Vocabulary.Len()
	if m.Words == nil {
		if m.Cols != classes {
			return nil, fmt.Errorf("%s has %d columns for the %d words of the vocabulary: name the vocabulary of the "+
				"classifier (`audit.vocabulary`): %w", m.Name, m.Cols, classes, table.ErrShape)
		}
		return inOrder(classes), nil
	}
	at := make(map[string]int, m.Cols)
	for i, word := range m.Words {
		at[word] = i
	}
	out := make([]int, classes)
	for k := range out {
		word := r.Vocabulary.Word(k).Text
		column, ok := at[word]
		if !ok {
			return nil, fmt.Errorf("%s has no column for the word %q of the vocabulary: name the vocabulary of the "+
				"classifier (`audit.vocabulary`), or none: %w", m.Name, word, table.ErrNames)
		}
		out[k] = column
	}
	return out, nil
}

// rows finds the bags that are scored, in the order of the file of captions, and the rows of their scores.
func (r *Report) rows(m *table.Matrix) ([]int, error) {
	if m.IDs == nil {
		if m.Rows != len(r.IDs) {
			return nil, fmt.Errorf("%s has %d rows, %q has %d pictures: give each row the id of its picture, in a column id, "+
				"or score all pictures in the order of the file: %w", m.Name, m.Rows, r.Name, len(r.IDs), table.ErrShape)
		}
		return inOrder(m.Rows), nil
	}
	ids := m.IDs
	if r.Form == annotation.FormCOCO {
		ids = annotation.COCOIDs(ids) // the names of pictures are as good
	}
	at := make(map[string]int, len(ids))
	for row, id := range ids {
		if first, ok := at[id]; ok {
			return nil, fmt.Errorf("%s: the id %.60q is given twice, in rows %d and %d: %w", m.Name, m.IDs[row], first+1,
				row+1, table.ErrNames)
		}
		at[id] = row
	}
	var rows []int
	for b, id := range r.IDs {
		if row, ok := at[id]; ok {
			r.input.Scored = append(r.input.Scored, b)
			rows = append(rows, row)
		}
	}
	r.others = m.Rows - len(rows)
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s: none of its %d ids, first %.60q, is a picture of %q, first %.60q: %w", m.Name, m.Rows,
			m.IDs[0], r.Name, r.IDs[0], table.ErrNames)
	}
	return rows, nil
}
