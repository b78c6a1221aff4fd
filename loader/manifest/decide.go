package manifest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"nmn/loader"
)

// errUndecided ends a first reading of a text file: how its labels are stated shows in all of its rows.
var errUndecided = errors.New("the form of the labels is not known yet")

// maxSurveyed bounds the bytes of different cells that are looked at.
const maxSurveyed = 256 << 20

// survey collects the cells of a column that may hold labels.
type survey struct {
	column string
	cells  []string // different ones, in the order of the rows
	seen   map[string]bool
	bytes  int
	rows   int  // that have a cell which is not empty
	words  bool // some cell is neither 0 nor 1
}

func newSurvey(column string) *survey {
	return &survey{column: column, seen: map[string]bool{}}
}

func (s *survey) add(cell string) {
	if cell == "" || cell == noneCell || cell == unknownCell {
		return
	}
	if s.rows++; s.seen[cell] || s.bytes > maxSurveyed {
		return
	}
	cell = strings.Clone(cell)
	s.seen[cell], s.cells, s.bytes = true, append(s.cells, cell), s.bytes+len(cell)
	pair := slices.IndexFunc(flags, func(pair [2]string) bool { return cell == pair[0] || cell == pair[1] })
	s.words = s.words || pair < 0 || pair >= namedFlags // yes and no are classes in a column that states all labels
}

// binary reports whether all cells are 0 or 1.
func (s *survey) binary() bool { return len(s.cells) > 0 && !s.words }

// every reports whether all cells have a property, and some whether any has.
func (s *survey) every(has func(string) bool) bool {
	return len(s.cells) > 0 && !slices.ContainsFunc(s.cells, func(cell string) bool { return !has(cell) })
}

func (s *survey) some(has func(string) bool) bool { return slices.ContainsFunc(s.cells, has) }

func isNumber(cell string) bool {
	_, ok := wholeNumber(cell)
	return ok
}

func bracketed(cell string) bool {
	return len(cell) > 1 && cell[0] == '[' && cell[len(cell)-1] == ']'
}

// decide finds how a column states labels, by all of its cells.
func (s *survey) decide(o *Options) (*statement, error) {
	form, err := s.form(o)
	if err != nil {
		return nil, fmt.Errorf("column %q: %w", s.column, err)
	}
	of := &statement{column: s.column, form: form}
	if of.pairsAsked = form == FormPairs; of.pairsAsked {
		if of.form = FormSingle; s.every(isNumber) {
			of.form = FormIntegers
		}
	}
	found := o.Form == "" || o.Form == FormAuto
	of.pairs = of.pairsAsked || found && (form == FormSingle || form == FormIntegers)
	if of.form == FormIntegers {
		of.words = classWords(o.Words)
	}
	return of, nil
}

// classWords returns the names of numbered classes. It returns nil if a word is a number: such words are themselves
// the names, as in the vocabulary of a model that has learned numbered classes.
func classWords(words []string) []string {
	if slices.ContainsFunc(words, isNumber) {
		return nil
	}
	return words
}

func (s *survey) form(o *Options) (Form, error) {
	if o.Form != "" && o.Form != FormAuto {
		return o.Form, nil
	}
	if at := slices.IndexFunc(s.cells, func(cell string) bool { return strings.HasPrefix(cell, "{") }); at >= 0 {
		return "", fmt.Errorf("%q looks like an object of JSON; write the names of the labels alone, separated by ;, "+
			"or set `data.label_form` %s", loader.Excerpt(s.cells[at]), FormSingle)
	}
	switch {
	case s.every(bracketed):
		return FormJSON, nil
	case s.some(bracketed):
		at := slices.IndexFunc(s.cells, bracketed)
		return "", fmt.Errorf("%q looks like an array of names and %q does not; write all cells alike, or set what "+
			"they are (`data.label_form` json or single)", loader.Excerpt(s.cells[at]),
			loader.Excerpt(s.cells[slices.IndexFunc(s.cells, func(cell string) bool { return !bracketed(cell) })]))
	case s.some(func(cell string) bool { return strings.ContainsAny(cell, ";|") }):
		return FormList, nil
	case o.Words != nil:
		if form := s.byWords(o.Words); form != "" {
			return form, nil
		}
	}
	if s.every(isNumber) {
		if s.binary() {
			return "", fmt.Errorf("its cells are 0 and 1: set whether these are two classes (`data.label_form` "+
				"integers), or whether 1 means that the label %q holds (`data.label_form` columns)", s.column)
		}
		return FormIntegers, nil
	}
	if s.binary() {
		return FormColumns, nil
	}
	return s.bySeparator(o)
}

// byWords finds the form with the largest share of known names; empty if that is less than half. A model does not know
// all names: some are too rare, or occur only on pictures that it has not learned. Of numbers, all must be names.
func (s *survey) byWords(words []string) (best Form) {
	known := make(map[string]bool, len(words))
	for _, word := range words {
		known[word] = true
	}
	least, most := .5, 0.
	if s.every(isNumber) {
		least = 1
	}
	for _, form := range []Form{FormSingle, FormCommas, FormBlanks} {
		of, all, found := statement{form: form}, 0, 0
		for _, cell := range s.cells {
			names, err := of.names(cell)
			if err != nil { // the cell has another form
				all++
			}
			all += len(names)
			for _, name := range names {
				if known[norm.NFC.String(name)] {
					found++
				}
			}
		}
		if share := float64(found) / float64(max(all, 1)); share >= least && share > most {
			best, most = form, share
		}
	}
	return best
}

// Shares of the parts between commas, or between blanks, that recur at least if the parts may be labels. Many
// names have blanks, so blanks count only if half of the cells hold one.
const (
	doubtfulCommas = .2
	doubtfulBlanks = .4
	doubtfulOthers = .5 // of separators that no form has
)

// bySeparator finds out whether commas or blanks part names: the parts then recur, alone or in other cells.
func (s *survey) bySeparator(o *Options) (Form, error) {
	p, found := loader.FindPacked(s.cells, true)
	if found && strings.Contains(p.Separator, "comma") {
		return FormCommas, nil
	}
	for _, separator := range []string{"/", "+", "&"} {
		p := loader.CountPacked(s.cells, separator)
		if p.Lists > 1 && o.Words == nil && float64(p.Recurring) >= doubtfulOthers*float64(p.Parts) {
			return "", fmt.Errorf("it is not clear whether %q is one label: %d of %d different cells hold %q, and %d of the "+
				"%d parts between recur; if these are labels, write ; for it, or say that a cell is one (`data.label_form` %s)",
				loader.Excerpt(p.Example), p.Lists, p.Labels, separator, p.Recurring, p.Parts, FormSingle)
		}
	}
	hashtags := func(cell string) bool {
		return !slices.ContainsFunc(strings.Fields(cell), func(part string) bool { return part[0] != '#' })
	}
	if found || s.every(hashtags) && s.some(func(cell string) bool { return strings.Contains(cell, " ") }) {
		return FormBlanks, nil
	}
	if form, err := s.byCommas(o); form != "" || err != nil {
		return form, err
	}
	for _, by := range []struct {
		form         Form
		name         string
		share, lists float64
	}{{FormCommas, "a comma", doubtfulCommas, 0}, {FormBlanks, "a blank", doubtfulBlanks, .5}} {
		p := loader.CountPacked(s.cells, forms[by.form].separator)
		if p.Lists > 0 && float64(p.Lists) >= by.lists*float64(p.Labels) && o.Words == nil &&
			float64(p.Recurring) >= by.share*float64(p.Parts) {
			return "", fmt.Errorf("it is not clear whether %q is one label: %d of %d different cells hold %s, and %d "+
				"of the %d parts between recur; set whether these are labels (`data.label_form` %s) or a cell is one "+
				"(`data.label_form` single)", loader.Excerpt(p.Example), p.Lists, p.Labels, by.name, p.Recurring, p.Parts,
				by.form)
		}
	}
	return FormSingle, nil
}

// byCommas decides if most cells hold a comma. They are lists if one part is in half of them, such as "cat,
// animal" and "dog, animal", or if all share parts and there are twice as many lists as parts. If fewer parts
// are shared, as in names of persons, or if hardly any cell repeats, unlike a class, the form is uncertain.
// The form is empty if commas do not decide.
func (s *survey) byCommas(o *Options) (Form, error) {
	p := loader.CountPacked(s.cells, ",")
	switch {
	case p.Lists < 2 || 2*p.Lists < p.Labels || o.Words != nil:
		return "", nil
	case p.Common > 1 && 2*p.Common >= p.Lists, p.Sharing == p.Lists && 2*p.Parts <= p.Lists:
		return FormCommas, nil
	case float64(p.Sharing) < doubtfulCommas*float64(p.Lists) && s.rows >= 2*p.Labels:
		return "", nil
	}
	return "", fmt.Errorf("it is not clear whether %q is one label: %d of %d different cells hold a comma, %d of these "+
		"share a part with another cell; set whether the parts are labels (`data.label_form` %s) or a cell is one "+
		"(`data.label_form` %s)", loader.Excerpt(p.Example), p.Lists, p.Labels, p.Sharing, FormCommas, FormSingle)
}

// alone finds how the only column next to the pictures states labels, whatever its name is. Spellings of 0 and 1 say
// whether its name holds. Names and numbers of classes recur; other cells are refused as if they should be 0 or 1.
func (s *survey) alone(o *Options) (*statement, error) {
	flag := func(cell string) bool { _, _, ok := Flag(cell); return ok }
	fraction := func(cell string) bool {
		_, err := strconv.ParseFloat(cell, 64)
		return err == nil && !isNumber(cell)
	}
	found := o.Form == "" || o.Form == FormAuto
	if found && (s.every(flag) || s.some(fraction) || 2*len(s.cells) > s.rows) {
		return &statement{form: FormColumns}, nil
	}
	return s.decide(o)
}

// choose returns the column of the labels among the examined ones: the only one that does not hold 0 and 1.
// If all hold 0 and 1, each column is a label; alone is set if no other column could be one.
func choose(all []*survey, alone bool, o *Options) (*statement, error) {
	var texts []*survey
	for _, s := range all {
		if !s.binary() || o.ListColumn != "" || s.column == labelsColumn {
			texts = append(texts, s)
		}
	}
	switch {
	case len(texts) > 1:
		return nil, fmt.Errorf("columns %q and %q may both hold the labels; set which (`data.features.list_column`), or "+
			"leave one out (`data.features.ignore_columns`)", texts[0].column, texts[1].column)
	case len(texts) == 1:
		return texts[0].decide(o)
	case alone && len(all) == 1:
		return all[0].decide(o)
	}
	return &statement{form: FormColumns}, nil
}
