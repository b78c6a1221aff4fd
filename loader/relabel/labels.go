package relabel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/text/unicode/norm"

	"nmn/loader"
	"nmn/text"
)

// Labels are the corrected labels of some bags.
type Labels struct {
	Words []string           // the K classes; other labels of a row stay unchanged
	Rows  map[string][]uint8 // K labels, 0 or 1, by the identifier of the bag; bags that are not there stay unchanged

	joined map[string]string // other spellings of words that a file may have
	alike  map[string]string // words by their keys (text.AlikeKey); nil if other spellings of words are other labels
}

// word is the word that a name of the file stands for, in the normal form that all labels have.
func (l *Labels) word(name string) string {
	name = norm.NFC.String(name)
	if word := l.joined[name]; word != "" || l.alike == nil {
		return cmp.Or(word, name)
	}
	return cmp.Or(l.alike[text.AlikeKey(name)], name)
}

// joinAlike makes names that differ from a word in spelling alone stand for it.
func (l *Labels) joinAlike() {
	l.joined, l.alike = map[string]string{}, map[string]string{}
	for _, word := range l.Words {
		word = norm.NFC.String(word)
		l.joined[word] = word
		if key := text.AlikeKey(word); l.alike[key] == "" {
			l.alike[key] = word
		}
	}
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
	class := l.classes()
	has := make(map[string]bool, len(current))
	for _, name := range current {
		has[l.word(name)] = true
		if c, known := class[l.word(name)]; known && row[c] == 0 {
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

// rewrite reads a text file and writes another one, compressed where its name ends in .gz, which appears whole or not
// at all. edit copies from one to the other and counts the rows that it has changed.
func (l *Labels) rewrite(ctx context.Context, from, to string,
	edit func(io.Reader, io.Writer) (int, error)) (rows int, err error) {
	if err := l.check(); err != nil {
		return 0, err
	}
	in, mark, err := loader.OpenMarkedText(ctx, from)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	err = loader.WriteText(to, func(out io.Writer) error {
		if _, err := io.WriteString(out, mark); err != nil {
			return err
		}
		rows, err = edit(in, out)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("corrected labels of %q: %w", from, err)
	}
	return rows, nil
}
