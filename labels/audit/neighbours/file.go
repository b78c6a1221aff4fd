package neighbours

import (
	"context"
	"errors"
	"fmt"

	"nmn/loader/features"
)

// File finds the neighbours of n bags in a file of features that package features can read. If ids is given
// and the features have identifiers, rows are matched by them, and features of other bags are left out.
// Otherwise both must have the same rows in the same order. Errors about content name the file.
func File(ctx context.Context, path string, ids []string, n int, o Options) (r *Result, err error) {
	t, err := features.Open(ctx, features.Options{Features: path, Unlabelled: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	rows, err := rowsOf(t, ids, n)
	if err != nil {
		return nil, err
	}
	if r, err = Find(ctx, rows, o); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// rowsOf returns the rows of n bags, matched by ids if both have ids.
func rowsOf(t *features.Table, ids []string, n int) (Rows, error) {
	if ids != nil && t.IDs != nil {
		return matched(t, ids)
	}
	if t.Rows.Len() != n {
		return nil, fmt.Errorf("%s has %d rows, the scores have %d: both need the same samples in the same order, or a "+
			"column id: %w", t.Name, t.Rows.Len(), n, ErrValue)
	}
	return t.Rows, nil
}

// chosen are some rows of a table.
type chosen struct {
	Rows
	at []int
}

func (c chosen) Len() int { return len(c.at) }

func (c chosen) Read(i int, dst []float32) error { return c.Rows.Read(c.at[i], dst) }

func matched(t *features.Table, ids []string) (Rows, error) {
	at := make(map[string]int, len(t.IDs))
	for i, id := range t.IDs {
		at[id] = i
	}
	c := chosen{t.Rows, make([]int, len(ids))}
	for i, id := range ids {
		row, ok := at[id]
		if !ok {
			return nil, fmt.Errorf("%s has no features of %q, which is sample %d of the scores: %w", t.Name, id, i+1, ErrValue)
		}
		c.at[i] = row
	}
	return c, nil
}
