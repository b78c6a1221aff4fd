package relabel

import (
	"bytes"
	"encoding/json"
	"strings"

	"nmn/loader/manifest"
)

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

// cell states names.
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

// jsonName is a name as JSON.
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

// isOn reports whether a cell of a column of 0 and 1 holds 1.
func isOn(cell string) bool {
	on, _, _ := manifest.Flag(cell)
	return on
}
