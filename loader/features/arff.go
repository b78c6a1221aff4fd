package features

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// arffRecords reads Weka's ARFF as Mulan and MEKA write it: a header of attributes, then rows in dense
// or sparse form.
type arffRecords struct {
	textLines
	relation   string
	attributes []attribute
	row        []string // values of the current row; "?" is missing
}

// attribute is a column.
type attribute struct {
	name    string
	text    bool     // a string or a date
	values  []string // values of a nominal attribute, else nil
	index   map[string]int
	numbers []float32 // the values of a nominal attribute whose values are all numbers, such as {0,1}
}

// newARFF reads the header.
func newARFF(text *bufio.Reader) (*arffRecords, error) {
	a := &arffRecords{textLines: textLines{source: text, comment: "%"}}
	for {
		line, err := a.readLine()
		if errors.Is(err, io.EOF) {
			return nil, formatf("the file ends in the header, after line %d: there is no @data", a.line)
		}
		if err != nil {
			return nil, err
		}
		keyword, rest := cutWord(line)
		switch strings.ToLower(keyword) {
		case "@relation":
			a.relation, _, err = token(rest, " \t")
		case "@attribute":
			err = a.addAttribute(rest)
		case "@data":
			if len(a.attributes) == 0 {
				return nil, formatf("line %d: @data before any @attribute", a.line)
			}
			a.row = make([]string, len(a.attributes))
			return a, nil
		default:
			err = formatf("%q, want @relation, @attribute or @data", clip(keyword))
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", a.line, err)
		}
	}
}

func (a *arffRecords) addAttribute(rest string) error {
	name, rest, err := token(rest, " \t{")
	if err != nil {
		return err
	}
	if name == "" {
		return formatf("the attribute has no name")
	}
	attr := attribute{name: name}
	kind, _ := cutWord(rest)
	switch kind = strings.ToLower(kind); {
	case strings.HasPrefix(rest, "{"):
		err = attr.setValues(rest)
	case kind == "numeric", kind == "real", kind == "integer":
	case kind == "string", kind == "date":
		attr.text = true
	default:
		err = formatf("its type is %q, want numeric, real, integer, string, date or {value,...}", clip(rest))
	}
	if err != nil {
		return fmt.Errorf("attribute %q: %w", clip(name), err)
	}
	a.attributes = append(a.attributes, attr)
	return nil
}

// setValues reads {value,...}.
func (a *attribute) setValues(s string) error {
	inside, ok := strings.CutSuffix(s[1:], "}")
	if !ok {
		return formatf("its list of values has no closing brace")
	}
	values, err := fields(inside, nil)
	if err != nil {
		return err
	}
	a.values, a.index = values, make(map[string]int, len(values))
	for i, v := range values {
		if _, twice := a.index[v]; twice || v == "" {
			return formatf("its value %d, %q, is empty or given twice", i+1, clip(v))
		}
		a.index[v] = i
		if number, err := strconv.ParseFloat(v, 32); err == nil {
			a.numbers = append(a.numbers, float32(number))
		}
	}
	if len(a.numbers) != len(values) {
		a.numbers = nil
	}
	return nil
}

// meka lists the labels that a relation's name gives as MEKA writes them: "Music: -C 6" for the first six
// attributes, -C -6 for the last.
func (a *arffRecords) meka() []string {
	words := strings.Fields(a.relation)
	at := slices.Index(words, "-C")
	if at < 0 || at+1 == len(words) {
		return nil
	}
	n, err := strconv.Atoi(words[at+1])
	names := a.columns()
	switch {
	case err != nil || n == 0 || n > len(names) || n < -len(names):
		return nil
	case n > 0:
		return names[:n]
	}
	return names[len(names)+n:]
}

func (a *arffRecords) columns() []string {
	names := make([]string, len(a.attributes))
	for i, attr := range a.attributes {
		names[i] = attr.name
	}
	return names
}
