package metrics

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// synonyms are WordNet's, as METEOR ships them.
type synonyms struct {
	sets  map[string][]int32  // ascending
	bases map[string][]string // of irregular forms
}

// LoadMeteor takes METEOR's own resource files from a folder, in METEOR's layout or all in one place, each
// plain or compressed with gzip: english.words (function words; required), english.prefixes (abbreviations),
// english.synsets with english.exceptions (synonyms) and paraphrase-en (the paraphrase table). Modules whose
// files are not there are left out; Modules says which are there.
func LoadMeteor(dir string) (*Meteor, error) {
	m := &Meteor{functions: map[string]bool{}, prefixes: map[string]bool{}, last: stem}
	found, err := readLines(dir, "english.words", func(line string) error {
		m.functions[line] = true
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("there is no english.words: name the folder of METEOR's resources, or of copies of them: %w",
			ErrInput)
	}
	if err != nil {
		return nil, fmt.Errorf("METEOR data %s: %w", dir, err)
	}
	if _, err = readLines(dir, "english.prefixes", m.addPrefix); err == nil {
		err = m.loadSynonyms(dir)
	}
	if err == nil {
		err = m.loadParaphrases(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("METEOR data %s: %w", dir, err)
	}
	return m, nil
}

func (m *Meteor) addPrefix(line string) error {
	fields := strings.Fields(line)
	if len(fields) > 0 && !strings.HasPrefix(fields[0], "#") {
		m.prefixes[fields[0]] = len(fields) > 1 && fields[1] == "#NUMERIC_ONLY#"
	}
	return nil
}

func (m *Meteor) loadSynonyms(dir string) error {
	s := &synonyms{sets: map[string][]int32{}, bases: map[string][]string{}}
	found, err := readPairs(dir, "english.synsets", func(word, line string) error {
		var sets []int32
		for _, field := range strings.Fields(line) {
			n, err := strconv.ParseInt(field, 10, 32)
			if err != nil {
				return fmt.Errorf("a set of synonyms is %.40q, want a number: %w", field, ErrInput)
			}
			sets = append(sets, int32(n))
		}
		slices.Sort(sets)
		s.sets[word] = slices.Compact(sets)
		return nil
	})
	if err != nil || !found {
		return err
	}
	_, err = readPairs(dir, "english.exceptions", func(base, line string) error {
		for _, form := range strings.Fields(line) {
			s.bases[form] = append(s.bases[form], base)
		}
		return nil
	})
	m.synonyms, m.last = s, synonym
	return err
}

// senses are the sets of synonyms of a word and of its base form, ascending.
func (s *synonyms) senses(word string) []int32 {
	senses := slices.Clone(s.sets[word])
	if bases := s.bases[word]; bases != nil {
		for _, base := range bases {
			senses = append(senses, s.sets[base]...)
		}
	} else {
		senses = append(senses, s.sets[s.base(word)]...)
	}
	slices.Sort(senses)
	return slices.Compact(senses)
}

// endings are WordNet's rules of detachment: of nouns, verbs and adjectives, in the order in which they are
// tried.
var endings = [][2]string{
	{"s", ""}, {"ses", "s"}, {"xes", "x"}, {"zes", "z"}, {"ches", "ch"}, {"shes", "sh"}, {"men", "man"}, {"ies", "y"},
	{"s", ""}, {"ies", "y"}, {"es", "e"}, {"es", ""}, {"ed", "e"}, {"ed", ""}, {"ing", "e"}, {"ing", ""},
	{"er", ""}, {"est", ""}, {"er", "e"}, {"est", "e"},
}

// base returns the base form of a regular word form, or "" if none is known.
func (s *synonyms) base(word string) string {
	if strings.HasSuffix(word, "ss") || len(word) <= 2 {
		return word
	}
	for _, e := range endings {
		if stem, ok := strings.CutSuffix(word, e[0]); ok {
			if _, known := s.sets[stem+e[1]]; known {
				return stem + e[1]
			}
		}
	}
	return ""
}

// paraphrases are the phrases that each phrase may be said by, as words.
type paraphrases struct {
	of      map[string][][]string
	longest int // words of a key
}

// loadParaphrases reads a table of three lines for each pair: a probability and two phrases.
func (m *Meteor) loadParaphrases(dir string) error {
	p := paraphrases{of: map[string][][]string{}}
	number, first := 0, ""
	found, err := readLines(dir, "paraphrase-en", func(line string) error {
		switch number++; number % 3 {
		case 1:
			if _, err := strconv.ParseFloat(strings.TrimSpace(line), 64); err != nil {
				return fmt.Errorf("a probability is %.40q: every pair has three lines, its probability and two "+
					"phrases: %w", line, ErrInput)
			}
		case 2:
			first = line
		case 0:
			words := strings.Fields(first)
			key := strings.Join(words, " ")
			p.of[key] = append(p.of[key], strings.Fields(line))
			p.longest = max(p.longest, len(words))
		}
		return nil
	})
	if err != nil || !found {
		return err
	}
	if number%3 != 0 {
		return fmt.Errorf("paraphrase-en ends within a pair, at line %d: %w", number, ErrInput)
	}
	m.paraphrases = p
	if m.synonyms == nil {
		return fmt.Errorf("there is paraphrase-en but no english.synsets: METEOR matches synonyms before "+
			"paraphrases: %w", ErrInput)
	}
	m.last = paraphrase
	return nil
}

// matchPhrases adds the matches of paraphrases on either side.
func (a *aligner) matchPhrases() {
	for side := range 2 {
		of, in := a.words[1-side], a.words[side] // paraphrases in this side of phrases in the other
		for at := range of {
			for size := 1; size <= a.meteor.paraphrases.longest && at+size <= len(of); size++ {
				for _, words := range a.meteor.paraphrases.of[strings.Join(of[at:at+size], " ")] {
					for from := 0; from+len(words) <= len(in); from++ {
						if !slices.Equal(in[from:from+len(words)], words) {
							continue
						}
						m := match{by: paraphrase, at: at, length: size, from: from, fromSize: len(words)}
						if side == 1 {
							m = match{by: paraphrase, at: from, length: len(words), from: at, fromSize: size}
						}
						a.add(m)
					}
				}
			}
		}
	}
}

// folders are the places of METEOR's files, below its resources and next to them.
var folders = []string{"", "function", "synonym", "nonbreaking", "data"}

// openResource opens a file, plain or compressed. It returns nil if the file does not exist.
func openResource(dir, name string) (io.ReadCloser, string, error) {
	for _, folder := range folders {
		for _, ending := range []string{"", ".gz"} {
			path := filepath.Join(dir, folder, name+ending)
			f, err := os.Open(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil || ending == "" {
				return f, path, err
			}
			z, err := gzip.NewReader(bufio.NewReader(f))
			if err != nil {
				return nil, path, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
			}
			return struct {
				io.Reader
				io.Closer
			}{z, f}, path, nil
		}
	}
	return nil, "", nil
}

// readLines calls f for every line of a file; it reports whether there is one.
func readLines(dir, name string, f func(line string) error) (found bool, err error) {
	r, path, err := openResource(dir, name)
	if err != nil || r == nil {
		return false, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	number := 0
	for lines.Scan() {
		number++
		if err := f(lines.Text()); err != nil {
			return true, fmt.Errorf("%s, line %d: %w", path, number, err)
		}
	}
	if err := lines.Err(); err != nil {
		return true, fmt.Errorf("%s, after line %d: %w: %w", path, number, ErrInput, err)
	}
	return true, nil
}

// readPairs is readLines for a file whose entries have two lines each.
func readPairs(dir, name string, f func(first, second string) error) (found bool, err error) {
	first, odd := "", false
	found, err = readLines(dir, name, func(line string) error {
		if odd = !odd; odd {
			first = line
			return nil
		}
		return f(first, line)
	})
	if err == nil && odd {
		err = fmt.Errorf("%s ends within an entry, after %.40q: %w", name, first, ErrInput)
	}
	return found, err
}
