package features

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
)

// jsonRecords reads label lists as JSON lines: {"id": "a", "labels": ["dog", "cat"]}.
type jsonRecords struct {
	textLines
	row struct {
		ID     *string   `json:"id"`
		Labels *[]string `json:"labels"`
	}
	names []string
	first bool // the first row waits to be handed out
}

// newJSONLines reads the first row, which shows whether there are identifiers.
func newJSONLines(text *bufio.Reader) (*jsonRecords, error) {
	j := &jsonRecords{textLines: textLines{source: text}, names: []string{standardList}}
	switch err := j.read(); {
	case errors.Is(err, io.EOF):
		return nil, formatf("the file is empty; want lines such as {\"id\": \"a\", \"labels\": [\"dog\"]}")
	case err != nil:
		return nil, err
	}
	j.first = true
	if j.row.ID != nil {
		j.names = append(j.names, standardID)
	}
	return j, nil
}

func (j *jsonRecords) read() error {
	line, err := j.readLine()
	if err != nil {
		return err
	}
	j.row.ID, j.row.Labels = nil, nil
	if err := json.Unmarshal([]byte(line), &j.row); err != nil {
		return formatf("line %d: %v", j.line, err)
	}
	if j.row.Labels == nil {
		return formatf("line %d: \"labels\" is missing; an empty list is []", j.line)
	}
	return nil
}

func (j *jsonRecords) columns() []string { return j.names }

func (j *jsonRecords) next() error {
	if j.first {
		j.first = false
		return nil
	}
	if err := j.read(); err != nil {
		return err
	}
	if (j.row.ID != nil) != (len(j.names) > 1) {
		return formatf("line %d: \"id\" is there in some lines and not in others", j.line)
	}
	return nil
}

func (j *jsonRecords) numbers([]float32, int) ([]float32, error) {
	return nil, valuef("it is text; JSON lines hold lists of labels")
}

func (j *jsonRecords) text(c int) (string, error) {
	if j.names[c] != standardID {
		return "", valuef("it is a list of labels")
	}
	return *j.row.ID, nil
}

func (j *jsonRecords) list(c int) ([]string, error) {
	if j.names[c] != standardList {
		return nil, valuef("it is text, not a list of labels")
	}
	return *j.row.Labels, nil
}
