package metrics

import (
	"regexp"
	"strings"
)

// normalise splits words further, as METEOR does under -norm before it aligns them: every mark by itself,
// dashes between words taken out, contractions at the apostrophe, full stops away from words but for
// abbreviations. Words of letters and digits alone stay as they are, and so do most captions.
func (m *Meteor) normalise(words []string) []string {
	for _, w := range words {
		if !plain(w) {
			return m.split(strings.Join(words, " "))
		}
	}
	return words
}

func plain(word string) bool {
	for i := range len(word) {
		if c := word[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// letters of western European and Cyrillic scripts.
const letters = `A-Za-zŠŽšžŸÀ-ÖØ-öø-žЀ-ӿԀ-ԧꙀ-ꙮ꙾-ꚗᴀ-ᵿ`

// rewrite is one replacement of a normalisation; they follow each other.
type rewrite struct {
	find *regexp.Regexp
	with string
}

var rewrites = func() (all []rewrite) {
	for _, r := range [][2]string{
		{`([^0-9` + letters + "\\s.'`,\\-‘’])", " $1 "}, // marks that are always by themselves
		{`([^0-9]),([^0-9])`, "$1 , $2"},                // commas, but within numbers
		{`([0-9]),([^0-9])`, "$1 , $2"},
		{`([^0-9]),([0-9])`, "$1 , $2"},
		{"[`‘’]", "'"},
		{`[“”]|''`, ` " `},
		{`–|--`, "-"},
		{`([0-9` + letters + `.])-([0-9` + letters + `])`, "$1 $2"}, // well-known, U.S.-based
		{`([^` + letters + `])'([^` + letters + `])`, "$1 ' $2"},
		{`([^0-9` + letters + `])'([` + letters + `])`, "$1 ' $2"},
		{`([` + letters + `])'([^` + letters + `])`, "$1 ' $2"},
		{`([` + letters + `])'([` + letters + `])`, "$1 '$2"},
		{`([0-9])'(s)`, "$1 '$2"}, // the 1990's
	} {
		all = append(all, rewrite{regexp.MustCompile(r[0]), r[1]})
	}
	return all
}()

// dots are kept apart from the end of a word while it is looked at.
var dots = regexp.MustCompile(`\.\.+`)

const dotMark = "\x00"

// split does the work of normalise on a line.
func (m *Meteor) split(line string) []string {
	line = " " + line + " "
	line = rewrites[0].find.ReplaceAllString(line, rewrites[0].with)
	line = dots.ReplaceAllStringFunc(line, func(s string) string { return " " + strings.Repeat(dotMark, len(s)) + " " })
	for _, r := range rewrites[1:] {
		line = r.find.ReplaceAllString(line, r.with)
	}
	words := strings.Fields(line)
	var out []string
	for i, w := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		out = m.appendWord(out, w, next)
	}
	for i, w := range out {
		out[i] = strings.ReplaceAll(w, dotMark, ".")
	}
	return out
}

// appendWord takes the full stop off a word, unless it belongs to an abbreviation.
func (m *Meteor) appendWord(out []string, word, next string) []string {
	stem, dotted := strings.CutSuffix(word, ".")
	if !dotted || stem == "" {
		return append(out, word)
	}
	onlyNumbers, prefix := m.prefixes[stem]
	switch {
	case strings.Contains(stem, ".") && strings.ContainsFunc(stem, isLetter):
		return append(out, strings.ReplaceAll(word, ".", "")) // U.S. is the same as US
	case prefix && !onlyNumbers, startsWith(next, 'a', 'z'), prefix && startsWith(next, '0', '9'):
		return append(out, word)
	}
	return append(out, stem, ".")
}

func startsWith(word string, lo, hi byte) bool {
	return word != "" && word[0] >= lo && word[0] <= hi
}

func isLetter(r rune) bool { return letterPattern.MatchString(string(r)) }

var letterPattern = regexp.MustCompile("[" + letters + "]")
