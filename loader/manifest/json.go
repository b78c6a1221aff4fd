package manifest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"nmn/loader"
	"slices"
)

// jsonRows reads a manifest as JSON lines: {"path": "a.jpg", "labels": ["dog"], "split": "train"}.
type jsonRows struct {
	lines *bufio.Scanner
	line  int
	seen  map[string]bool // keys
}

func newJSONRows(text *bufio.Reader) *jsonRows {
	lines := bufio.NewScanner(text)
	lines.Buffer(make([]byte, 0, 1<<12), maxLine)
	return &jsonRows{lines: lines, seen: map[string]bool{}}
}

// maxShownKeys bounds the keys that are kept only to be shown in messages.
const maxShownKeys = 1000

func (j *jsonRows) columns() Columns {
	c := Columns{Format: "JSON lines"}
	if name := pathName(func(key string) bool { return j.seen[key] }); name != pathColumn {
		c.Used = append(c.Used, pathColumn+" ("+name+")")
		delete(j.seen, name)
	}
	for _, name := range fieldNames() {
		if j.seen[name] {
			c.Used = append(c.Used, name)
		}
		delete(j.seen, name)
	}
	c.Ignored = slices.Sorted(maps.Keys(j.seen))
	return c
}

func (j *jsonRows) state(m *Manifest) {
	m.Form, m.JSONLines, m.LabelsColumn = FormJSON, true, labelsColumn
}

func (j *jsonRows) next() (*record, error) {
	for j.lines.Scan() {
		j.line++
		content := bytes.TrimSpace(j.lines.Bytes())
		if len(content) == 0 {
			continue
		}
		r, err := j.record(content)
		if err != nil {
			return nil, fmt.Errorf("line %d, %w", j.line, err)
		}
		return r, nil
	}
	switch err := j.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("line %d: longer than %d bytes; write each row on a line of its own", j.line+1, maxLine)
	case err != nil:
		return nil, fmt.Errorf("after line %d: %w", j.line, err)
	}
	return nil, io.EOF
}

func (j *jsonRows) record(content []byte) (*record, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(content, &fields); err != nil {
		return nil, fmt.Errorf("it is no object of JSON (%w); want a row such as {\"path\": \"a.jpg\", \"labels\": "+
			"[\"dog\"]}, whole on its line", err)
	}
	for key := range fields {
		if !j.seen[key] && len(j.seen) < maxShownKeys {
			j.seen[key] = true
		}
	}
	path := pathName(func(key string) bool { return given(fields, key) })
	r := &record{line: j.line}
	if fields[labelsColumn] == nil {
		return nil, columnError(labelsColumn, errors.New("it is missing; an empty list is []"))
	}
	var counts map[string]int
	for _, field := range []struct {
		name, want string
		to         any
	}{
		{path, "text", &r.path}, {idColumn, "text", &r.id}, {splitColumn, "train, validation or test", &r.split},
		{framesColumn, `a list of paths`, &r.frames}, {labelsColumn, `a list of names such as ["dog", "cat"]`,
			&r.labels},
		{truthColumn, `a list of names such as ["dog", "cat"]`, &r.truth},
		{countsColumn, `an object such as {"dog": 3}`, &counts},
	} {
		value := fields[field.name]
		if value == nil || string(value) == "null" && field.name != labelsColumn {
			continue
		}
		if err := json.Unmarshal(value, field.to); err != nil || string(value) == "null" {
			return nil, columnError(field.name, fmt.Errorf("%s is not %s", loader.Excerpt(string(value)), field.want))
		}
	}
	r.hasPath, r.hasSplit = given(fields, path), given(fields, splitColumn)
	if counts != nil {
		r.counts = make([]namedCount, 0, len(counts))
		for _, name := range slices.Sorted(maps.Keys(counts)) {
			r.counts = append(r.counts, namedCount{name, counts[name]})
		}
	}
	return r, nil
}

// given reports whether a key is there and not null.
func given(fields map[string]json.RawMessage, key string) bool {
	return fields[key] != nil && string(fields[key]) != "null"
}
