package relabel

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"nmn/loader"
	"nmn/loader/features"
	"nmn/loader/manifest"
)

// editor describes the labels of a CSV table or of JSON lines, whose keys are columns.
type editor struct {
	labels    *Labels
	separator string // between the names of a list
	mark      string // the x of a table whose empty cells are 0; empty for other tables
	list      string // column of lists; empty where labels have columns of their own
	headless  bool   // the first line is a row already: columns are the classes in order
	// id gives the bag of a row by its line, its number from 0, and its cells by name; empty for none.
	id func(line, row int, cell func(column string) string) string
	// current are the labels of a row as they were read from it; nil to part the cell here.
	current func(line int) []string
	// stated holds the cells, or values of JSON, that give one name each, for forms in which a cell is no list; nil for
	// lists.
	stated map[string]string
	// plan has the lines of a table with a line for each picture and label; nil for other tables.
	plan       pairPlan
	confidence string // column that says whether a picture has the label of its line; empty for none
}

// table copies a CSV table with the labels as they should be.
func (s *editor) table(in io.Reader, out io.Writer) (changed int, err error) {
	text := bufio.NewReaderSize(in, 1<<16)
	r := newRecords(text, out, features.Separator(text))
	columns, err := s.header(r)
	if err != nil {
		return 0, err
	}
	style := list{separator: s.separator}
	if s.separator == "" {
		style.separator = ";"
	}
	for row := 0; ; row++ {
		err := r.next()
		if errors.Is(err, io.EOF) {
			return changed, r.end()
		}
		if err != nil {
			return changed, err
		}
		cell := func(name string) string {
			if at := slices.Index(columns, name); at >= 0 && at < len(r.fields) {
				return strings.TrimSpace(r.fields[at])
			}
			return ""
		}
		id := s.id(r.line, row, cell)
		var cells map[int]string
		switch {
		case s.plan != nil:
			if err := r.copies(s.planned(r.line, columns)); err != nil {
				return changed, err
			}
			continue
		case s.list == "":
			cells, err = s.flags(r, columns, id)
		default:
			cells, err = s.names(r, slices.Index(columns, s.list), id, &style)
		}
		if err == nil {
			err = r.copy(cells)
		}
		if err != nil {
			return changed, err
		}
		changed += min(len(cells), 1)
	}
}

// planned returns the cells of each copy of a line of pictures and labels.
func (s *editor) planned(line int, columns []string) []map[int]string {
	label, confidence := slices.Index(columns, s.list), slices.Index(columns, s.confidence)
	names, ok := s.plan[line]
	if !ok {
		return []map[int]string{nil}
	}
	copies := make([]map[int]string, len(names))
	for i, name := range names {
		if name == same {
			continue
		}
		copies[i] = map[int]string{label: s.stated[name]}
		if confidence >= 0 && name != "" {
			copies[i][confidence] = "1"
		}
	}
	return copies
}

// header reads the names of the columns.
func (s *editor) header(r *records) ([]string, error) {
	if s.headless {
		return nil, nil
	}
	if err := r.next(); err != nil {
		return nil, fmt.Errorf("the header: %w", err)
	}
	var columns []string
	for _, name := range r.fields {
		columns = append(columns, strings.Clone(strings.TrimSpace(name)))
	}
	if s.list != "" && !slices.Contains(columns, s.list) {
		return nil, fmt.Errorf("there is no column %q: %w", s.list, ErrForm)
	}
	return columns, r.copy(nil)
}

// flags are the cells of columns of 0 and 1 that change.
func (s *editor) flags(r *records, columns []string, id string) (map[int]string, error) {
	row, ok := s.labels.Rows[id]
	if !ok {
		return nil, nil
	}
	cells := map[int]string{}
	for c, word := range s.labels.Words {
		if row[c] == loader.UnknownLabel {
			continue // as it is
		}
		at := []int{c}
		if columns != nil {
			at = s.columnsOf(columns, word)
		}
		if len(at) == 0 || at[0] >= len(r.fields) {
			if row[c] == 0 {
				continue // a label that no row can have
			}
			return nil, fmt.Errorf("line %d: there is no column %q: %w", r.line, word, ErrForm)
		}
		if err := s.flag(r, at, word, row[c] == 1, cells); err != nil {
			return nil, err
		}
	}
	return cells, nil
}

// columnsOf are the columns of a word: with its own name, and with other spellings of it.
func (s *editor) columnsOf(columns []string, word string) []int {
	var at []int
	for i, name := range columns {
		if name == word {
			at = slices.Insert(at, 0, i)
		} else if s.labels.word(name) == norm.NFC.String(word) {
			at = append(at, i)
		}
	}
	return at
}

// flag has the columns of a word say whether a row has it.
func (s *editor) flag(r *records, at []int, word string, on bool, cells map[int]string) error {
	stated := false // in any of them
	for _, column := range at {
		stated = stated || column < len(r.fields) && isOn(strings.TrimSpace(r.fields[column]))
	}
	for i, column := range at {
		if column >= len(r.fields) {
			continue
		}
		now := strings.TrimSpace(r.fields[column])
		cell, ok := flag(now, s.mark, on)
		if !ok {
			return fmt.Errorf("line %d, column %q: %q is neither 0 nor 1: %w", r.line, word, now, ErrForm)
		}
		if on && !stated && i == 0 || !on && isOn(now) {
			cells[column] = cell
		}
	}
	return nil
}

// names returns the cell of a list if it changes.
func (s *editor) names(r *records, at int, id string, style *list) (map[int]string, error) {
	if at >= len(r.fields) {
		return nil, fmt.Errorf("line %d: there is no cell %q: %w", r.line, s.list, ErrForm)
	}
	cell, changed := s.restated(r.line, id, r.fields[at], style)
	if !changed {
		return nil, nil
	}
	return map[int]string{at: cell}, nil
}

// restated returns a cell with the labels of its bag, in the style of the cell. style is that of the cells before.
func (s *editor) restated(line int, id, cell string, style *list) (edited string, changed bool) {
	current, own := parse(cell, s.separator, *style)
	*style = own
	foreign := s.stated != nil || pythonic(cell)
	if foreign && s.current != nil {
		current = s.current(line)
	}
	names, changed := s.labels.Names(id, current)
	switch {
	case !changed || s.stated != nil && len(names) == 0:
		return "", changed
	case s.stated != nil:
		return s.stated[names[0]], true
	case foreign:
		return python(names), true
	}
	return own.cell(names), true
}

// list is how names stand in a cell, or in a value of JSON.
type list struct {
	separator string // between names, with the blanks around it
	array     bool   // an array of JSON
}

// parse reads a cell as names by the separator of its form, which may also be |. style is how the cell writes
// them, or the style of others if the cell does not show one.
func parse(cell, separator string, others list) (names []string, style list) {
	trimmed := strings.TrimSpace(cell)
	if strings.HasPrefix(trimmed, "[") {
		if json.Unmarshal([]byte(trimmed), &names) == nil {
			style = list{array: true, separator: ","}
			if strings.Contains(trimmed, ", ") {
				style.separator = ", "
			}
			return names, style
		}
	}
	switch {
	case trimmed == "" || trimmed == "-":
		return nil, others
	case separator == " ":
		return strings.Fields(trimmed), list{separator: " "}
	case separator == "":
		return []string{trimmed}, others
	case separator == ";" && !strings.Contains(cell, ";"):
		separator = "|"
	}
	parts := strings.Split(trimmed, separator)
	for _, part := range parts {
		if part = strings.TrimSpace(part); part != "" {
			names = append(names, part)
		}
	}
	if len(parts) < 2 {
		return names, others
	}
	if strings.HasPrefix(parts[1], " ") {
		separator += " "
	}
	return names, list{separator: separator}
}

func (s list) cell(names []string) string {
	if !s.array {
		return strings.Join(names, s.separator)
	}
	values := make([]string, len(names))
	for i, name := range names {
		values[i] = string(jsonName(name))
	}
	return "[" + strings.Join(values, s.separator) + "]"
}

// jsonOf is a value as JSON, with < and & as they are.
func jsonOf(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func jsonName(name string) []byte {
	b, _ := jsonOf(name) // a string has a form
	return b
}

// pythonic reports whether a cell is an array as Python and NumPy write it, which is no JSON.
func pythonic(cell string) bool {
	cell = strings.TrimSpace(cell)
	var any []any
	return strings.HasPrefix(cell, "[") && json.Unmarshal([]byte(cell), &any) != nil
}

// python states names as an array of Python does.
func python(names []string) string {
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(name) + "'"
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// flag writes a label of a column of 0 and 1 in the style of the cell; ok is false if the cell held neither. mark is
// the x of a table whose empty cells are 0.
func flag(cell, mark string, on bool) (stated string, ok bool) {
	_, pair, ok := manifest.Flag(cell)
	if mark != "" {
		pair = [2]string{"", mark}
	}
	if on {
		return pair[1], ok
	}
	return pair[0], ok
}

func isOn(cell string) bool {
	on, _, _ := manifest.Flag(cell)
	return on
}
