package misplaced

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"nmn/internal/input"
	"nmn/loader"
	"nmn/loader/annotation"
)

// ErrTruth is wrapped by every error about the content of a file of foreign captions.
var ErrTruth = errors.New("not a valid list of captions")

// maxList bounds a file of identifiers in bytes.
const maxList = 1 << 30

// truthColumns are the names of the column of a CSV with the ids of captions.
var truthColumns = []string{"annotation_id", "id", "sen_id"}

// readTruth reads a file with the identifiers of the foreign captions: one on each line, or a CSV with a
// column annotation_id, id or sen_id. It returns for each bag and caption whether it is foreign. Unknown and
// repeated identifiers are errors that name the line and wrap ErrTruth.
func readTruth(path string, bags *annotation.Bags) ([][]bool, error) {
	f, err := input.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseTruth(&io.LimitedReader{R: f, N: maxList}, path, bags)
}

func parseTruth(limited *io.LimitedReader, name string, bags *annotation.Bags) ([][]bool, error) {
	text := bufio.NewReader(limited)
	c := csv.NewReader(loader.WithoutMark(text, io.NopCloser(nil)))
	c.FieldsPerRecord = -1
	c.ReuseRecord = true
	at := placesOf(bags)
	foreign := make([][]bool, len(bags.IDs))
	for b := range foreign {
		foreign[b] = make([]bool, len(bags.Captions[b]))
	}
	column := 0
	for n := 0; ; n++ {
		record, err := c.Read()
		if limited.N == 0 {
			return nil, fmt.Errorf("%s: the file is larger than %d bytes: %w", name, maxList, ErrTruth)
		}
		if errors.Is(err, io.EOF) {
			return foreign, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %w", name, err, ErrTruth)
		}
		if n == 0 {
			header, err := truthColumn(record)
			if err != nil {
				return nil, fmt.Errorf("%s:1: %w: %w", name, err, ErrTruth)
			}
			if header >= 0 {
				column = header
				continue
			}
		}
		line, _ := c.FieldPos(0)
		if column >= len(record) {
			return nil, fmt.Errorf("%s:%d: there are %d fields, the id is in field %d: %w", name, line, len(record),
				column+1, ErrTruth)
		}
		place, ok := at[strings.TrimSpace(record[column])]
		if !ok {
			return nil, fmt.Errorf("%s:%d: there is no caption %.60q: %w", name, line, record[column], ErrTruth)
		}
		if foreign[place[0]][place[1]] {
			return nil, fmt.Errorf("%s:%d: caption %.60q is given twice: %w", name, line, record[column], ErrTruth)
		}
		foreign[place[0]][place[1]] = true
	}
}

// truthColumn returns the column of the ids if the first line is a header, -1 if it is an id by itself.
func truthColumn(first []string) (int, error) {
	for i, title := range first {
		if slices.Contains(truthColumns, strings.ToLower(strings.TrimSpace(title))) {
			return i, nil
		}
	}
	if len(first) > 1 {
		return 0, fmt.Errorf("none of the %d columns is %s", len(first), strings.Join(truthColumns, ", "))
	}
	return -1, nil
}

// placesOf finds captions by their identifiers.
func placesOf(bags *annotation.Bags) map[string][2]int {
	at := make(map[string][2]int, bags.Len())
	for b, captions := range bags.Captions {
		for c := range captions {
			at[captions[c].ID] = [2]int{b, c}
		}
	}
	return at
}
