package text

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"nmn/internal/durable"
	"nmn/internal/input"
)

// POS is the part-of-speech group that the paper's tables report separately.
type POS uint8

// The groups, in the order of the columns of Tables 1 to 3.
const (
	NN POS = iota
	VB
	JJ
	DT
	PRP
	IN
	Others
	POSCount = int(Others) + 1
)

var posNames = [POSCount]string{"NN", "VB", "JJ", "DT", "PRP", "IN", "Others"}

// String returns the column heading of the group.
func (p POS) String() string {
	if int(p) < POSCount {
		return posNames[p]
	}
	return fmt.Sprintf("POS(%d)", uint8(p))
}

// Word is one concept: a class of the classifier.
type Word struct {
	Text  string
	POS   POS
	Count int // occurrences in the text that the vocabulary was built from; 0 when unknown
}

// Vocabulary is an ordered list of distinct words; the position of a word is its class index.
// It is immutable once made and safe for concurrent use.
type Vocabulary struct {
	words []Word
	index map[string]int
}

// NewVocabulary takes the words in class order. An empty or repeated word is an error that
// names its position, counted from 1.
func NewVocabulary(words []Word) (*Vocabulary, error) {
	v := &Vocabulary{words: append([]Word(nil), words...), index: make(map[string]int, len(words))}
	for i, w := range words {
		if w.Text == "" {
			return nil, fmt.Errorf("vocabulary: word %d is empty", i+1)
		}
		if first, ok := v.index[w.Text]; ok {
			return nil, fmt.Errorf("vocabulary: word %d repeats %q, first given as word %d", i+1, w.Text, first+1)
		}
		v.index[w.Text] = i
	}
	return v, nil
}

// MostFrequent makes a vocabulary of the most frequent words, at most size of them unless it is 0. Ties are in
// alphabetical order.
func MostFrequent(words []Word, size int) (*Vocabulary, error) {
	slices.SortFunc(words, func(a, b Word) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Text, b.Text))
	})
	if size > 0 && len(words) > size {
		words = words[:size]
	}
	return NewVocabulary(words)
}

// Len returns the number of classes K.
func (v *Vocabulary) Len() int { return len(v.words) }

// Word returns class k.
func (v *Vocabulary) Word(k int) Word { return v.words[k] }

// Index returns the class of a word and whether it is in the vocabulary.
func (v *Vocabulary) Index(word string) (int, bool) {
	k, ok := v.index[word]
	return k, ok
}

// HasPOS reports whether the words have parts of speech: labels by name have none, and all belong to the group Others.
func (v *Vocabulary) HasPOS() bool {
	return slices.ContainsFunc(v.words, func(w Word) bool { return w.POS != Others })
}

// ErrFormat is wrapped by the errors about a vocabulary file that does not follow its format.
var ErrFormat = errors.New("malformed vocabulary file")

// maxLine bounds a line of a vocabulary file, and maxWord a word, in bytes. A line holds the longest word with its
// group and any count.
const (
	maxLine = 4096
	maxWord = 4000
)

// ReadVocabulary reads a vocabulary file, see parseVocabulary.
func ReadVocabulary(path string) (*Vocabulary, error) {
	f, err := input.OpenFile(path)
	if err != nil {
		return nil, fmt.Errorf("vocabulary: %w", err)
	}
	defer f.Close()
	return parseVocabulary(path, f)
}

// parseVocabulary reads one class per line in class order: names alone, or the format of Fang et al. (2015), as the
// first line is:
//
//	word, POS, count
//
// A name alone has no part of speech, which is Others, and the count 0; it may hold commas. POS is a group of the
// paper's tables (NN VB JJ DT PRP IN, other or Others, in either case), count the occurrences in the text that the
// vocabulary was built from. A word may hold commas ("1,000") and inner blanks. A byte order mark, CR LF, blank lines
// and a missing last line break are fine. Errors wrap ErrFormat and name file, line and column (in bytes, from 1); a
// repeated word names both lines.
func parseVocabulary(name string, r io.Reader) (*Vocabulary, error) {
	var words []Word
	first := map[string]int{}
	parse := parseWord
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		line := lines.Bytes()
		offset := 0
		if n == 1 && bytes.HasPrefix(line, []byte("\ufeff")) {
			line, offset = line[3:], 3
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if len(words) == 0 && !isFang(string(line)) {
			parse = parseName
		}
		word, column, err := parse(string(line))
		if err != nil {
			return nil, fmt.Errorf("vocabulary %q, line %d, column %d: %w: %w", name, n, column+offset, err, ErrFormat)
		}
		if at, ok := first[word.Text]; ok {
			return nil, fmt.Errorf("vocabulary %q, line %d, column 1: %q repeats line %d; keep one of them: %w",
				name, n, word.Text, at, ErrFormat)
		}
		first[word.Text] = n
		words = append(words, word)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("vocabulary %q, line %d: longer than %d bytes: %w", name, n+1, maxLine, ErrFormat)
	} else if err != nil {
		return nil, fmt.Errorf("vocabulary %q, line %d: %w", name, n+1, err)
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("vocabulary %q: no words; want lines such as \"dog\" or \"dog, NN, 120\": %w", name, ErrFormat)
	}
	return NewVocabulary(words)
}

// parseWord reads one line; with an error it returns the column, from 1, of the field at fault.
func parseWord(line string) (Word, int, error) {
	second := strings.LastIndexByte(line, ',')
	first := strings.LastIndexByte(line[:max(second, 0)], ',')
	if first < 0 {
		return Word{}, 1, fmt.Errorf("%q is not \"word, POS, count\"", clip(line))
	}
	text := strings.TrimSpace(line[:first])
	if err := checkWord(text); err != nil {
		return Word{}, 1, err
	}
	pos, err := ParsePOS(strings.TrimSpace(line[first+1 : second]))
	if err != nil {
		return Word{}, column(line, first+1), err
	}
	number := strings.TrimSpace(line[second+1:])
	count, err := strconv.Atoi(number)
	if err != nil || count < 0 {
		return Word{}, column(line, second+1), fmt.Errorf("count %q is not a whole number of at least 0", clip(number))
	}
	return Word{Text: text, POS: pos, Count: count}, 0, nil
}

// isFang reports whether a line is meant as word, POS, count: it has three fields, and at least one of the
// last two is valid.
func isFang(line string) bool {
	second := strings.LastIndexByte(line, ',')
	first := strings.LastIndexByte(line[:max(second, 0)], ',')
	if first < 0 {
		return false
	}
	_, noPOS := ParsePOS(strings.TrimSpace(line[first+1 : second]))
	_, noCount := strconv.Atoi(strings.TrimSpace(line[second+1:]))
	return noPOS == nil || noCount == nil
}

// parseName reads one line of a file of names, as parseWord does.
func parseName(line string) (Word, int, error) {
	name := strings.TrimSpace(line)
	if err := checkWord(name); err != nil {
		return Word{}, 1, err
	}
	_, after, two := strings.Cut(name, ",")
	_, noCount := strconv.Atoi(strings.TrimSpace(after))
	_, noPOS := ParsePOS(strings.TrimSpace(after))
	if two && (noCount == nil || noPOS == nil) || isFang(name) {
		return Word{}, 1, fmt.Errorf("%q is neither a name like the other lines, nor \"word, POS, count\" "+
			"in a file of such lines; write all lines alike", clip(name))
	}
	return Word{Text: name, POS: Others}, 0, nil
}

// column returns the column, from 1, of the first character of the field that starts at offset.
func column(line string, offset int) int {
	return len(line) - len(strings.TrimLeft(line[offset:], " \t")) + 1
}

// checkWord refuses words that a line of the file could not hold and give back.
func checkWord(w string) error {
	if w == "" {
		return errors.New("the word is empty")
	}
	if len(w) > maxWord {
		return fmt.Errorf("the word %q is longer than %d bytes", clip(w), maxWord)
	}
	if !utf8.ValidString(w) {
		return fmt.Errorf("the word %q is not UTF-8", clip(w))
	}
	if strings.ContainsFunc(w, unicode.IsControl) || strings.HasPrefix(w, "\ufeff") || strings.TrimSpace(w) != w {
		return fmt.Errorf("the word %q holds a control character or starts or ends with a blank", clip(w))
	}
	return nil
}

// clip shortens foreign text for an error message.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}

// ParsePOS returns the group of a name as the vocabulary file has it: "NN", "vb", "other".
func ParsePOS(name string) (POS, error) {
	for p, s := range posNames {
		if strings.EqualFold(name, s) {
			return POS(p), nil
		}
	}
	if strings.EqualFold(name, "other") {
		return Others, nil
	}
	return 0, fmt.Errorf("part of speech %q is not one of NN, VB, JJ, DT, PRP, IN, other", clip(name))
}

// WriteTo writes the vocabulary in the format of parseVocabulary.
func (v *Vocabulary) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	for i, word := range v.words {
		err := checkWord(word.Text)
		if err == nil && (word.Count < 0 || int(word.POS) >= POSCount) {
			err = fmt.Errorf("%q has count %d and part of speech %v", word.Text, word.Count, word.POS)
		}
		if err != nil {
			return 0, fmt.Errorf("vocabulary: cannot write word %d: %w", i+1, err)
		}
		pos := word.POS.String()
		if word.POS == Others {
			pos = "other" // as Fang et al. write it
		}
		fmt.Fprintf(&b, "%s, %s, %d\n", word.Text, pos, word.Count)
	}
	return b.WriteTo(w)
}

// WriteFile writes the vocabulary to a file, which appears whole or not at all.
func (v *Vocabulary) WriteFile(path string) error {
	return durable.SaveFrom(path, "the vocabulary", v)
}

// Words returns a copy of the words in class order.
func (v *Vocabulary) Words() []Word { return append([]Word(nil), v.words...) }

// Texts are the words alone, in class order.
func (v *Vocabulary) Texts() []string {
	texts := make([]string, len(v.words))
	for k, w := range v.words {
		texts[k] = w.Text
	}
	return texts
}

// POSCounts returns the number of words of each group, the first line of Tables 1 to 3.
func (v *Vocabulary) POSCounts() [POSCount]int {
	var counts [POSCount]int
	for _, w := range v.words {
		if int(w.POS) < POSCount {
			counts[w.POS]++
		}
	}
	return counts
}
