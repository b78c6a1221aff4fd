package dataset

import (
	"errors"

	"nmn/format/table"
	"nmn/internal/durable"
)

// WriteLabels writes a CSV file with a column for each word and a row for each of the rows, led by its identifier where
// ids is not nil. labels returns the labels of a row, 0 or 1 for each word; it may return the same slice again. After
// an error there is no file, or still the one of before.
func WriteLabels(path string, words, ids []string, rows int, labels func(row int) ([]uint8, error)) (err error) {
	file, err := durable.Create(path, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	out, id := table.NewWriter[uint8](file, words, ids != nil), ""
	for i := range rows {
		if ids != nil {
			id = ids[i]
		}
		row, err := labels(i)
		if err != nil {
			return err
		}
		if err := out.Write(id, row); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return file.Commit()
}
