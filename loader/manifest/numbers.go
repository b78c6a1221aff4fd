package manifest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"nmn/loader"
	"nmn/loader/picture"
)

// numberRows reads a list without a header, as Caffe writes it. Each line has the name of a picture or video and, after
// blanks, the numbers of its classes. If all lines have equally many numbers, at least two, and all are 0 or 1, each
// number says whether the class at its place holds.
type numberRows struct {
	lines  *bufio.Scanner
	line   int
	stated *statement // nil while it is not known what the numbers are
}

// Numbered reports whether a line begins a list without a header, of pictures or videos with numbers.
func Numbered(line string) bool {
	name, numbers := partNumbers(line)
	return len(numbers) > 0 && (picture.IsName(name) || picture.IsVideoName(name))
}

// partNumbers parts a line into a name, which may hold blanks, and the numbers after it.
func partNumbers(line string) (name string, numbers []string) {
	name = strings.TrimSpace(line)
	for {
		at := strings.LastIndexAny(name, " \t")
		if at < 0 || !isNumber(name[at+1:]) {
			slices.Reverse(numbers)
			return name, numbers
		}
		numbers, name = append(numbers, name[at+1:]), strings.TrimSpace(name[:at])
	}
}

// read reads a line that is not empty; io.EOF after the last.
func (n *numberRows) read() (name string, numbers []string, err error) {
	for n.lines.Scan() {
		n.line++
		if name, numbers = partNumbers(n.lines.Text()); name == "" {
			continue
		}
		if !picture.IsName(name) && !picture.IsVideoName(name) {
			return "", nil, fmt.Errorf("line %d: %q is not the name of a picture with numbers of classes after it, such as "+
				"a.jpg 3; correct it, or write a table with the header path,labels", n.line, loader.Excerpt(name))
		}
		return name, numbers, nil
	}
	switch err := n.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return "", nil, fmt.Errorf("line %d: longer than %d bytes", n.line+1, maxLine)
	case err != nil:
		return "", nil, fmt.Errorf("after line %d: %w", n.line, err)
	}
	return "", nil, io.EOF
}

// surveyed finds what the numbers are. A list with one number in each line may have several lines for a picture.
func (n *numberRows) surveyed(o *Options) (*statement, error) {
	of := &statement{form: o.Form, words: classWords(o.Words)}
	found := o.Form == "" || o.Form == FormAuto
	if !found && o.Form != FormIntegers && o.Form != FormColumns && o.Form != FormPairs {
		return nil, fmt.Errorf("it is a list of names and numbers, whose labels cannot be stated as `data.label_form` %s; "+
			"want %s, %s or %s", o.Form, FormIntegers, FormColumns, FormPairs)
	}
	most, width, flagged := 0, -1, true
	for {
		_, numbers, err := n.read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		most = max(most, len(numbers))
		flagged = flagged && (width < 0 || width == len(numbers)) &&
			!slices.ContainsFunc(numbers, func(number string) bool { return number != "0" && number != "1" })
		width = len(numbers)
	}
	switch {
	case o.Form == FormColumns && !flagged:
		return nil, fmt.Errorf("its lines do not all have a 0 or 1 for each class, as `data.label_form` %s wants; correct "+
			"them, or set %s", FormColumns, FormIntegers)
	case found && flagged && width > 1:
		of.form = FormColumns
	case of.form != FormColumns:
		of.pairsAsked = of.form == FormPairs
		of.form, of.pairs = FormIntegers, of.pairsAsked || found && most == 1
	}
	return of, nil
}

func (n *numberRows) next() (*record, error) {
	if n.stated == nil {
		return nil, errUndecided
	}
	name, numbers, err := n.read()
	if err != nil {
		return nil, err
	}
	r := &record{line: n.line, path: strings.Clone(name), hasPath: true, labels: []string{}}
	for class, number := range numbers {
		if n.stated.form == FormColumns {
			if number == "0" {
				continue
			}
			number = fmt.Sprint(class)
		}
		label, err := n.stated.numbered(number)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n.line, err)
		}
		r.labels = append(r.labels, label)
	}
	return r, nil
}

func (n *numberRows) columns() Columns { return Columns{Format: "a list without header"} }

func (n *numberRows) state(m *Manifest) { m.Form, m.Headless = n.stated.form, true }
