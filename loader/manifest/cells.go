package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"nmn/loader"
	"nmn/text"
)

// statement is how a column, or a key of JSON lines, gives labels. The zero value stands for a file that has
// none, or whose form is not known yet.
type statement struct {
	column string
	form   Form
	words  []string // names of classes by number, of FormIntegers; nil for the numbers themselves
	// pairs is set if several rows of one picture may each give one of its labels, and pairsAsked if the user has set it.
	pairs, pairsAsked bool
}

// names parts a cell into names. Empty and "-" are lists of nothing; empty names stay, to be refused.
func (s *statement) names(cell string) ([]string, error) {
	if cell == "" || cell == noneCell {
		return []string{}, nil
	}
	switch s.form {
	case FormSingle:
		return []string{cell}, nil
	case FormCommas:
		return split(cell, ","), nil
	case FormBlanks:
		return strings.Fields(cell), nil
	case FormJSON:
		return arrayOf(cell)
	case FormIntegers:
		name, err := s.numbered(cell)
		return []string{name}, err
	}
	return SplitNames(cell), nil
}

// SplitNames parts a list at ; or |. Empty and "-" are lists of nothing; empty names stay, to be refused.
func SplitNames(cell string) []string {
	switch {
	case cell == "" || cell == noneCell:
		return []string{}
	case strings.Contains(cell, ";"):
		return split(cell, ";")
	}
	return split(cell, "|")
}

func split(cell, separator string) []string {
	names := strings.Split(cell, separator)
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
	}
	return names
}

// numbered is the name of the class with a number: its word, or else the number itself.
func (s *statement) numbered(cell string) (string, error) {
	n, ok := wholeNumber(cell)
	switch {
	case !ok || n < 0:
		return "", fmt.Errorf("%q is not the number of a class, 0 or more; leave the cell empty if there is no "+
			"label, or set how labels are written (`data.label_form`)", loader.Excerpt(cell))
	case s.words == nil:
		return strconv.Itoa(n), nil
	case n >= len(s.words):
		return "", fmt.Errorf("there is no class %d among the %s of the vocabulary, which count from 0; add it "+
			"there (`data.vocabulary`), or correct the row", n, text.Count(len(s.words), "words"))
	}
	return s.words[n], nil
}

// wholeNumber reads an integer; programs write 3 as 3.0 if the column also has empty cells.
func wholeNumber(cell string) (int, bool) {
	n, err := strconv.Atoi(strings.TrimSuffix(cell, ".0"))
	return n, err == nil
}

// arrayOf reads an array of names as JSON, Python and NumPy write it: ["dog", "cat"], ['dog', 'cat'], ['dog' 'cat'],
// [dog, cat]. Numbers are names too.
func arrayOf(cell string) ([]string, error) {
	if names, ok := jsonArray(cell); ok {
		return withoutEmpty(names), nil
	}
	a := arrayText{rest: cell}
	names, err := a.names()
	if err != nil {
		return nil, fmt.Errorf("%q is no array of names such as [\"dog\", \"cat\"]: %w; correct it", loader.Excerpt(cell),
			err)
	}
	return withoutEmpty(names), nil
}

// withoutEmpty takes a list of one empty name for none. Programs write it for a picture without labels, because an
// empty text that is split at commas has one empty part.
func withoutEmpty(names []string) []string {
	if len(names) == 1 && names[0] == "" {
		return []string{}
	}
	return names
}

// jsonArray reads an array of strings and numbers.
func jsonArray(cell string) ([]string, bool) {
	var values []any
	decoder := json.NewDecoder(strings.NewReader(cell))
	decoder.UseNumber()
	if err := decoder.Decode(&values); err != nil || decoder.More() || int(decoder.InputOffset()) != len(cell) {
		return nil, false
	}
	names := make([]string, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case string:
			names[i] = v
		case json.Number:
			names[i] = v.String()
		default:
			return nil, false
		}
	}
	return names, true
}

// arrayText is the unread rest of an array that is not JSON.
type arrayText struct{ rest string }

func (a *arrayText) names() ([]string, error) {
	if !strings.HasPrefix(a.rest, "[") {
		return nil, errors.New("it does not begin with [")
	}
	a.rest = a.rest[1:]
	names := []string{}
	for {
		a.rest = strings.TrimLeft(a.rest, " \t\r\n")
		if a.rest == "" {
			return nil, errors.New("it does not end with ]")
		}
		switch a.rest[0] {
		case ']':
			if strings.TrimSpace(a.rest[1:]) != "" {
				return nil, errors.New("something follows the ]")
			}
			return names, nil
		case '\'', '"':
			name, err := a.quoted(a.rest[0])
			if err != nil {
				return nil, err
			}
			names = append(names, name)
		default:
			end := strings.IndexAny(a.rest, ",]")
			if end < 0 {
				return nil, errors.New("it does not end with ]")
			}
			names, a.rest = append(names, strings.TrimSpace(a.rest[:end])), a.rest[end:]
		}
		a.rest = strings.TrimPrefix(strings.TrimLeft(a.rest, " \t\r\n"), ",")
	}
}

// quoted reads a name between quotes, in which a backslash escapes the quote.
func (a *arrayText) quoted(quote byte) (string, error) {
	var name strings.Builder
	for i := 1; i < len(a.rest); i++ {
		switch c := a.rest[i]; {
		case c == quote:
			a.rest = a.rest[i+1:]
			return name.String(), nil
		case c == '\\' && i+1 < len(a.rest):
			i++
			name.WriteByte(a.rest[i])
		default:
			name.WriteByte(c)
		}
	}
	return "", errors.New("a quote has no end")
}
