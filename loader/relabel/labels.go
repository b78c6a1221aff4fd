package relabel

import (
	"errors"
	"fmt"

	"golang.org/x/text/unicode/norm"
)

// Labels are the corrected labels of some bags.
type Labels struct {
	Words []string           // the K classes; other labels of a row stay unchanged
	Rows  map[string][]uint8 // K labels, 0 or 1, by the identifier of the bag; bags that are not there stay unchanged

	class map[string]int // the classes of Words in NFC, made by Names
}

// ErrForm is wrapped by errors about files that are not as the data were read from them.
var ErrForm = errors.New("cannot be written in its form")

// Names returns the corrected labels of a bag: the labels of current that stay, in their order, then the
// added ones, in the order of the classes. changed is false if they are equal.
func (l *Labels) Names(id string, current []string) (names []string, changed bool) {
	row, ok := l.Rows[id]
	if !ok {
		return current, false
	}
	if l.class == nil {
		l.class = l.classes()
	}
	has := make(map[string]bool, len(current))
	for _, name := range current {
		word := norm.NFC.String(name)
		has[word] = true
		if c, known := l.class[word]; known && row[c] == 0 {
			changed = true
			continue
		}
		names = append(names, name)
	}
	for c, word := range l.Words {
		if row[c] == 1 && !has[norm.NFC.String(word)] {
			names, changed = append(names, word), true
		}
	}
	return names, changed
}

func (l *Labels) classes() map[string]int {
	class := make(map[string]int, len(l.Words))
	for c, word := range l.Words {
		class[norm.NFC.String(word)] = c
	}
	return class
}

// check refuses rows that are not of the classes.
func (l *Labels) check() error {
	for id, row := range l.Rows {
		if len(row) != len(l.Words) {
			return fmt.Errorf("relabel: %d labels of %.60q for %d classes: %w", len(row), id, len(l.Words), ErrForm)
		}
	}
	return nil
}
