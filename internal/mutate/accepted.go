package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// acceptance is a mutant that no test can tell from the program, or that none should. It is found again by content,
// so that it stays accepted where its line moves, and is looked at again where its line changes.
type acceptance struct {
	at                         int // line of the list
	file, text, change, reason string
}

// readAccepted reads a list of blocks of four lines with an empty line between: file, line of source, change, reason.
// Lines that start with # are comments. A file that is not there holds nothing.
func readAccepted(name string) ([]acceptance, error) {
	content, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var list []acceptance
	var lines []string
	for i, line := range append(strings.Split(string(content), "\n"), "") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		if line != "" {
			lines = append(lines, line)
			continue
		}
		if len(lines) == 4 {
			list = append(list, acceptance{i - 3, lines[0], lines[1], lines[2], lines[3]})
		} else if len(lines) > 0 {
			return nil, fmt.Errorf("%s: line %d ends a block of %d lines; four are needed: file, line of source, "+
				"change, reason", name, i, len(lines))
		}
		lines = nil
	}
	return list, nil
}

func (a acceptance) is(m *Mutant) bool {
	return a.file == m.File && a.text == m.Text && a.change == m.change()
}

// withoutAccepted returns the mutants that are not on the list.
func withoutAccepted(mutants []*Mutant, list []acceptance) []*Mutant {
	return slices.DeleteFunc(mutants, func(m *Mutant) bool {
		return slices.ContainsFunc(list, func(a acceptance) bool { return a.is(m) })
	})
}

// stale returns an error for each entry about a file of these mutants' packages that is none of the mutants any more.
func stale(name string, list []acceptance, folders []string, mutants []*Mutant) error {
	var errs []error
	for _, a := range list {
		folder := "."
		if i := strings.LastIndexByte(a.file, '/'); i >= 0 {
			folder = a.file[:i]
		}
		if slices.Contains(folders, folder) && !slices.ContainsFunc(mutants, a.is) {
			errs = append(errs, fmt.Errorf("%s:%d: %s has no line %q with the mutation %q any more; remove the entry",
				name, a.at, a.file, a.text, a.change))
		}
	}
	return errors.Join(errs...)
}
