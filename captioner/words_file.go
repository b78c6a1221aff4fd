package captioner

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"nmn/internal/durable"
	"nmn/internal/input"
)

// ErrFormat is wrapped by all errors about the form of a file.
var ErrFormat = errors.New("malformed file")

// The first line of a file of words has the name and the version of the format and the fingerprint.
const (
	wordsFormat  = "nmn-caption-words"
	wordsVersion = "1"
)

// maxWordLine bounds a line: a word, a tab and a count.
const maxWordLine = maxWordBytes + 64

// WriteTo writes a header line, "nmn-caption-words 1 FINGERPRINT", and then a line for each word: the word,
// a tab, its count.
func (w *Words) WriteTo(to io.Writer) (int64, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s %s\n", wordsFormat, wordsVersion, w.Fingerprint())
	for id := int(firstWord); id < w.Len(); id++ {
		fmt.Fprintf(&b, "%s\t%d\n", w.words[id], w.counts[id])
	}
	return b.WriteTo(to)
}

// WriteFile writes the words to a file, which appears whole or not at all.
func (w *Words) WriteFile(path string) error {
	return durable.SaveFrom(path, "the caption vocabulary", w)
}

// ReadWords reads a file that WriteFile has written, see parseWords.
func ReadWords(path string) (*Words, error) {
	f, err := input.OpenFile(path)
	if err != nil {
		return nil, fmt.Errorf("caption vocabulary: %w", err)
	}
	defer f.Close()
	return parseWords(path, f)
}

// parseWords reads the format of WriteTo, strictly: words that do not match the fingerprint were
// changed by hand or cut short, and the ids of a captioner would mean other words. Errors wrap ErrFormat
// and name file and line.
func parseWords(name string, r io.Reader) (*Words, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxWordLine)
	n := 0
	fail := func(err error) (*Words, error) {
		return nil, fmt.Errorf("caption vocabulary %q, line %d: %w: %w", name, n, err, ErrFormat)
	}
	var fingerprint string
	var words []string
	var counts []int
	for lines.Scan() {
		n++
		if n == 1 {
			var err error
			if fingerprint, err = parseWordsHeader(lines.Text()); err != nil {
				return fail(err)
			}
			continue
		}
		word, count, err := parseWordLine(lines.Text())
		if err != nil {
			return fail(err)
		}
		if len(words) == maxWords {
			return fail(fmt.Errorf("more than %d words", maxWords))
		}
		words, counts = append(words, word), append(counts, count)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		n++
		return fail(fmt.Errorf("longer than %d bytes", maxWordLine))
	case err != nil:
		return nil, fmt.Errorf("caption vocabulary %q, line %d: %w", name, n+1, err)
	case n == 0:
		n = 1
		return fail(errors.New("the file is empty"))
	}
	w, err := NewWords(words, counts)
	if err == nil && w.Fingerprint() != fingerprint {
		err = fmt.Errorf("its %d words do not match its first line (fingerprints %.12s and %.12s): it was "+
			"changed or cut short",
			len(words), w.Fingerprint(), fingerprint)
	}
	if err != nil {
		return nil, fmt.Errorf("caption vocabulary %q: %w: %w", name, err, ErrFormat)
	}
	return w, nil
}

func parseWordsHeader(line string) (fingerprint string, err error) {
	fields := strings.Split(line, " ")
	switch {
	case fields[0] != wordsFormat || len(fields) < 2:
		return "", fmt.Errorf("not the header of a caption vocabulary (%s %s ...); nmn vocab `vocab.captioner` writes one",
			wordsFormat, wordsVersion)
	case fields[1] != wordsVersion:
		return "", fmt.Errorf("version %.20q, this program reads %s", fields[1], wordsVersion)
	case len(fields) != 3 || len(fields[2]) != 64:
		return "", errors.New("the header lacks its fingerprint of 64 digits")
	}
	return fields[2], nil
}

func parseWordLine(line string) (word string, count int, err error) {
	word, number, found := strings.Cut(line, "\t")
	if !found {
		return "", 0, fmt.Errorf("%.40q is not a word, a tab and a count", line)
	}
	if err := checkWord(word); err != nil {
		return "", 0, err
	}
	count, err = strconv.Atoi(number)
	if err != nil || count < 0 || strconv.Itoa(count) != number {
		return "", 0, fmt.Errorf("count %.40q is not a whole number of at least 0", number)
	}
	return word, count, nil
}
