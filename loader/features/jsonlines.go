package features

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// jsonRecords reads label lists as JSON lines: {"id": "a", "labels": ["dog", "cat"]}.
type jsonRecords struct {
	source *bufio.Reader
	row    struct {
		ID     *string   `json:"id"`
		Labels *[]string `json:"labels"`
	}
	names  []string
	line   int
	first  bool // the first row waits to be handed out
	closer io.Closer
}

func openJSONLines(ctx context.Context, name string) (*jsonRecords, error) {
	text, closer, err := openText(ctx, name)
	if err != nil {
		return nil, err
	}
	j, err := newJSONLines(text)
	if err != nil {
		_ = closer.Close() // it was only read
		return nil, fmt.Errorf("features: %q: %w", name, err)
	}
	j.closer = closer
	return j, nil
}

// newJSONLines reads the first row, which shows whether there are identifiers.
func newJSONLines(text *bufio.Reader) (*jsonRecords, error) {
	j := &jsonRecords{source: text, names: []string{standardList}}
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
	for {
		line, err := readLine(j.source)
		if err == io.EOF {
			return err
		}
		if err != nil {
			return fmt.Errorf("after line %d: %w", j.line, err)
		}
		j.line++
		content := bytes.TrimSpace([]byte(line))
		if len(content) == 0 {
			continue
		}
		j.row.ID, j.row.Labels = nil, nil
		if err := json.Unmarshal(content, &j.row); err != nil {
			return formatf("line %d: %v", j.line, err)
		}
		if j.row.Labels == nil {
			return formatf("line %d: \"labels\" is missing; an empty list is []", j.line)
		}
		return nil
	}
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

func (j *jsonRecords) place() string { return fmt.Sprintf("line %d", j.line) }

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

func (j *jsonRecords) close() error { return j.closer.Close() }
