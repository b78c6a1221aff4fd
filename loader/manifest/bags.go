package manifest

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"nmn/loader"
	"nmn/text"
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

// Verified are bags whose labels were checked.
type Verified struct {
	Bags    []int   // positions of the bags
	Truth   []uint8 // true labels, a row of all words for each of Bags
	HeldOut int     // rows that were not used, because their bags are held out
}

// VerifiedOf names what a list of verified bags may mention.
type VerifiedOf struct {
	Bags    []string            // in the order of positions
	HeldOut []string            // bags that rates must not be estimated from
	File    func(string) string // picture of a bag, or the name of the bag
	Words   []string
}

// ReadVerified reads a list of bags that has all true labels of each, in any form that Read takes. A row is found
// by the identifier of its bag or by the name of its picture, with or without folder and extension. A bag that is
// not in the data, one that is there twice, a label that is no word, and a list without any label are errors.
func ReadVerified(ctx context.Context, file string, of VerifiedOf) (*Verified, error) {
	m, err := Read(ctx, file, Options{Words: of.Words})
	if err != nil {
		return nil, err
	}
	v, labels := &Verified{}, 0
	at, class, seen := of.places(), m.classes(of.Words), map[int]bool{}
	for i := range m.Rows {
		row := &m.Rows[i]
		bag, ok := row.among(at)
		switch {
		case !ok:
			err = fmt.Errorf("the data have no picture %q: name it as the data do, or leave the row out", loader.Excerpt(row.ID))
		case bag < 0:
			v.HeldOut++
			continue
		case seen[bag]:
			err = fmt.Errorf("picture %q is there twice: leave out one of the rows", loader.Excerpt(row.ID))
		}
		seen[bag] = true
		truth := make([]uint8, len(of.Words))
		for _, label := range row.Labels {
			if class[label] < 0 {
				err = fmt.Errorf("label %q is none of the %d classes of the data: correct its spelling, or leave it out",
					loader.Excerpt(m.Labels[label]), len(of.Words))
				break
			}
			truth[class[label]] = 1
		}
		if err != nil {
			return nil, loader.Unusable(fmt.Errorf("verified pictures %q, %s: %w", file, row.At(), err))
		}
		v.Bags, v.Truth, labels = append(v.Bags, bag), append(v.Truth, truth...), labels+len(row.Labels)
	}
	switch {
	case m.Repeated > 0:
		err = fmt.Errorf("%d of its rows repeat others: leave them out", m.Repeated)
	case len(v.Bags) == 0:
		err = errors.New("all its pictures are held out for validation or test: check training pictures")
	case labels == 0:
		err = fmt.Errorf("none of %s has a label: list all true labels of each picture", text.Count(len(v.Bags), "pictures"))
	default:
		return v, nil
	}
	return nil, loader.Unusable(fmt.Errorf("verified pictures %q: %w", file, err))
}

const heldOut = -1

// places are the bags by identifiers and by the names of their pictures.
func (of *VerifiedOf) places() places {
	at := newPlaces()
	for _, bag := range of.HeldOut {
		at.add(bag, of.File(bag), heldOut)
	}
	for i, bag := range of.Bags {
		at.add(bag, of.File(bag), i)
	}
	return at
}

func (r *Row) among(at places) (bag int, ok bool) {
	names := []string{r.ID}
	for _, file := range r.Files {
		names = append(names, spellings(strings.ReplaceAll(file, `\`, "/"))...)
	}
	for _, name := range names {
		if bag, ok = at.find(name); ok {
			break
		}
	}
	return bag, ok
}
