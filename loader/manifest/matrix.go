package manifest

import (
	"fmt"
	"path"
	"strings"

	"nmn/loader"
)

// Values returns the labels of some bags over some words, row-major: 1 if a row has the word. A bag is found
// by the identifier of its row. Otherwise it is found by the name of its only file, with or without folder
// and extension, if only one row has that file. A bag without a row, and a word that no row has, are errors:
// they mean that the list describes other data.
func (m *Manifest) Values(bags, words []string) ([]float32, error) {
	class := make(map[string]int, len(words))
	for c, word := range words {
		class[word] = c
	}
	known := make(map[string]bool, len(m.Labels))
	for _, name := range m.Labels {
		known[name] = true
	}
	for _, word := range words {
		if !known[word] {
			return nil, loader.Unusable(fmt.Errorf("manifest %q: no row has the label %q, which the scores have", m.File,
				loader.Excerpt(word)))
		}
	}
	rows, err := m.Find(bags)
	if err != nil {
		return nil, err
	}
	values := make([]float32, len(bags)*len(words))
	for i, row := range rows {
		for _, label := range m.Rows[row].Labels {
			if c, ok := class[m.Labels[label]]; ok {
				values[i*len(words)+c] = 1
			}
		}
	}
	return values, nil
}

// Find are the rows of bags, as Values finds them.
func (m *Manifest) Find(bags []string) ([]int, error) {
	at := newPlaces()
	for i := range m.Rows {
		file := ""
		if files := m.Rows[i].Files; len(files) == 1 {
			file = files[0]
		}
		at.add(m.Rows[i].ID, file, i)
	}
	rows := make([]int, len(bags))
	for i, bag := range bags {
		row, ok := at.find(bag)
		if !ok {
			return nil, loader.Unusable(fmt.Errorf(
				"manifest %q: no row has the id %q, which the scores have: give rows an id, as the "+
					"scores have it", m.File, loader.Excerpt(bag)))
		}
		rows[i] = row
	}
	return rows, nil
}

// places are numbers by identifiers and by names of files. A name that several numbers have finds none.
type places struct{ ids, names map[string]int }

func newPlaces() places { return places{map[string]int{}, map[string]int{}} }

// several is the number of a name that several numbers have.
const several = -2

func (p *places) add(id, file string, place int) {
	p.ids[id] = place
	if file == "" {
		return
	}
	for _, name := range spellings(file) {
		if before, ok := p.names[name]; ok && before != place {
			p.names[name] = several
		} else {
			p.names[name] = place
		}
	}
}

func (p *places) find(name string) (place int, ok bool) {
	if place, ok = p.ids[name]; !ok {
		place, ok = p.names[name]
	}
	return place, ok && place != several
}

// spellings are the names by which a file is found: with and without folder and extension.
func spellings(file string) []string {
	base := path.Base(file)
	return []string{file, strings.TrimSuffix(file, path.Ext(file)), base, strings.TrimSuffix(base, path.Ext(base))}
}
