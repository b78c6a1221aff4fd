package features

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

func (a *arffRecords) next() error {
	line, err := a.readLine()
	if err != nil {
		return err
	}
	if line[0] == '{' {
		err = a.sparse(line)
	} else {
		err = a.dense(line)
	}
	if err != nil {
		return fmt.Errorf("line %d: %w", a.line, err)
	}
	return nil
}

func (a *arffRecords) dense(line string) error {
	values, err := fields(line, a.row[:0])
	if err != nil {
		return err
	}
	if len(values) != len(a.attributes) {
		return formatf("%d values for %d attributes; give each its value, ? for a missing one, and quotes to text "+
			"with commas (weights of instances are not read)", len(values), len(a.attributes))
	}
	a.row = values
	return nil
}

// sparse reads {index value, ...}: attributes that are not listed are 0, or the first value of a nominal
// attribute.
func (a *arffRecords) sparse(line string) error {
	inside, ok := strings.CutSuffix(line[1:], "}")
	if !ok {
		return formatf("the row has no closing brace (weights of instances are not read)")
	}
	for c := range a.attributes {
		a.row[c] = a.attributes[c].absent()
	}
	last := -1
	for rest := strings.TrimSpace(inside); rest != ""; {
		number, after := cutWord(rest)
		c, err := strconv.Atoi(number)
		if err != nil || c < 0 || c >= len(a.attributes) {
			return formatf("index %q, want 0 to %d, for the %d attributes of the header",
				clip(number), len(a.attributes)-1, len(a.attributes))
		}
		if c <= last {
			return formatf("index %d follows %d: indices must rise", c, last)
		}
		last = c
		value, after, err := token(after, ",")
		if err != nil {
			return err
		}
		a.row[c] = value
		rest = strings.TrimSpace(strings.TrimPrefix(after, ","))
	}
	return nil
}

func (a *attribute) absent() string {
	switch {
	case len(a.values) > 0:
		return a.values[0]
	case a.text:
		return ""
	}
	return "0"
}

// numbers appends one number. For a nominal attribute, unless it has two values that are numbers, it appends
// one for each of its values, 1 for the one that holds.
func (a *arffRecords) numbers(dst []float32, c int) ([]float32, error) {
	attr, value := &a.attributes[c], a.row[c]
	if attr.text {
		return dst, valuef("the attribute is text, not a number; leave it out with `data.features.ignore_columns`")
	}
	if attr.values == nil {
		v, err := parseNumber(value)
		return append(dst, v), err
	}
	i, known := attr.index[value]
	if !known && value != "?" {
		return dst, valuef("%q is none of its values, which are %s", clip(value), some(attr.values))
	}
	if attr.numbers != nil || len(attr.values) == 2 {
		switch {
		case !known:
			return append(dst, float32(math.NaN())), nil
		case attr.numbers != nil:
			return append(dst, attr.numbers[i]), nil
		}
		return append(dst, float32(i)), nil
	}
	for k := range attr.values {
		v := float32(0)
		switch {
		case !known:
			v = float32(math.NaN())
		case k == i:
			v = 1
		}
		dst = append(dst, v)
	}
	return dst, nil
}

func (a *arffRecords) text(c int) (string, error) { return a.row[c], nil }

func (a *arffRecords) list(c int) ([]string, error) { return splitList(a.row[c]), nil }

// cutWord returns the text up to the first blank, and what follows without blanks before it.
func cutWord(s string) (word, rest string) {
	end := strings.IndexAny(s, " \t")
	if end < 0 {
		return s, ""
	}
	return s[:end], strings.TrimLeft(s[end:], " \t")
}

// token takes a value from the start of s: in single or double quotes with backslashes before quotes
// inside, or bare up to one of the characters of ends. rest begins with the character that ended it.
func token(s, ends string) (value, rest string, err error) {
	s = strings.TrimLeft(s, " \t")
	if s == "" || s[0] != '\'' && s[0] != '"' {
		end := strings.IndexAny(s, ends)
		if end < 0 {
			end = len(s)
		}
		return strings.TrimSpace(s[:end]), strings.TrimLeft(s[end:], " \t"), nil
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case s[i] == s[0]:
			return b.String(), strings.TrimLeft(s[i+1:], " \t"), nil
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", formatf("the quote before %q is not closed", clip(s[1:]))
}

// fields appends the values between commas.
func fields(s string, dst []string) ([]string, error) {
	for {
		value, rest, err := token(s, ",")
		if err != nil {
			return nil, err
		}
		dst = append(dst, value)
		if rest == "" {
			return dst, nil
		}
		if rest[0] != ',' {
			return nil, formatf("%q after a quoted value, want a comma", clip(rest))
		}
		s = rest[1:]
	}
}
