package captioner

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"nmn/captioner/s2vt"
)

// Ids that follow the reserved ids of s2vt.
const (
	Unknown   int32 = s2vt.Reserved // a word that is not in the vocabulary
	firstWord       = Unknown + 1
)

// specials are how the ids that are no words are written; no token of a caption is.
var specials = [firstWord]string{"<pad>", "<bos>", "<eos>", "<unk>"}

// ErrOtherWords means that a vocabulary belongs to another run.
var ErrOtherWords = errors.New("the vocabulary belongs to another run")

// maxWordBytes bounds a word. A longer one is a typing error.
const maxWordBytes = 100

// maxWords bounds a vocabulary, and with it the last layer of a captioner.
const maxWords = 1_000_000

// Words is a caption vocabulary. Id 0 is padding, 1 and 2 are the begin and the end of a caption, 3 is an
// unknown word, and the words follow, the most frequent first. It is immutable and safe for concurrent use.
type Words struct {
	words  []string // the special ones too
	counts []int    // occurrences in the captions that it was built from, 0 of the special ones
	ids    map[string]int32
}

// NewWords takes words in the order of their ids, and their counts, which may be nil. A word that is
// empty, repeated or no token of a caption is an error that names its position, from 1.
func NewWords(words []string, counts []int) (*Words, error) {
	if counts != nil && len(counts) != len(words) {
		return nil, fmt.Errorf("caption vocabulary: %d counts for %d words", len(counts), len(words))
	}
	if len(words) == 0 || len(words) > maxWords {
		return nil, fmt.Errorf("caption vocabulary: %d words, want 1 to %d", len(words), maxWords)
	}
	w := &Words{words: append(slices.Clone(specials[:]), words...), counts: make([]int, len(words)+int(firstWord)),
		ids: make(map[string]int32, len(words))}
	copy(w.counts[firstWord:], counts)
	for i, word := range words {
		if err := checkWord(word); err != nil {
			return nil, fmt.Errorf("caption vocabulary: word %d: %w", i+1, err)
		}
		if first, repeated := w.ids[word]; repeated {
			return nil, fmt.Errorf("caption vocabulary: word %d repeats %q, word %d", i+1, word, first-firstWord+1)
		}
		w.ids[word] = firstWord + int32(i)
	}
	return w, nil
}

// checkWord refuses a text that is not a token of a caption.
func checkWord(word string) error {
	switch {
	case word == "":
		return errors.New("it is empty")
	case len(word) > maxWordBytes:
		return fmt.Errorf("%.20q... has %d bytes, at most %d are a word", word, len(word), maxWordBytes)
	case !utf8.ValidString(word):
		return fmt.Errorf("%q is not UTF-8", word)
	case strings.ContainsFunc(word, func(r rune) bool {
		return unicode.IsControl(r) || r != '\u00a0' && unicode.IsSpace(r)
	}):
		return fmt.Errorf("%q has a blank or a control character", word)
	case slices.Contains(specials[:], word):
		return fmt.Errorf("%q stands for something else", word)
	}
	return nil
}

// Len is the number of ids: of all words and the four special ones.
func (w *Words) Len() int { return len(w.words) }

// AtLeast is the number of words, without the special ones, that occur at least n times.
func (w *Words) AtLeast(n int) int {
	words := 0
	for _, count := range w.counts[firstWord:] {
		if count >= n {
			words++
		}
	}
	return words
}

// Append appends the ids of tokens, as Tokens makes them.
func (w *Words) Append(ids []int32, tokens []string) []int32 {
	for _, token := range tokens {
		id, known := w.ids[token]
		if !known {
			id = Unknown
		}
		ids = append(ids, id)
	}
	return ids
}

// Caption writes ids as a caption: words with blanks between them, up to the first EOS.
func (w *Words) Caption(ids []int32) string {
	var b strings.Builder
	for _, id := range ids {
		if id == s2vt.EOS {
			break
		}
		if id == s2vt.PAD || id == s2vt.BOS {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.words[id])
	}
	return b.String()
}

// Fingerprint is a SHA-256 over the words in the order of their ids.
func (w *Words) Fingerprint() string {
	h := sha256.New()
	for _, word := range w.words {
		h.Write([]byte(word))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Same returns nil if another vocabulary has equal ids, otherwise an error that wraps ErrOtherWords and names
// the first difference.
func (w *Words) Same(other *Words) error {
	for id := range min(w.Len(), other.Len()) {
		if a, b := w.words[id], other.words[id]; a != b {
			return fmt.Errorf("word %d is %q in one of %d words and %q in the other of %d: %w",
				id-int(firstWord)+1, a, w.Len()-int(firstWord), b, other.Len()-int(firstWord), ErrOtherWords)
		}
	}
	if w.Len() != other.Len() {
		return fmt.Errorf("one has %d words and the other %d: %w",
			w.Len()-int(firstWord), other.Len()-int(firstWord), ErrOtherWords)
	}
	return nil
}

// MarshalJSON writes the words proper, for the metadata of a checkpoint.
func (w *Words) MarshalJSON() ([]byte, error) { return json.Marshal(w.words[firstWord:]) }

// UnmarshalJSON reads them with the checks of NewWords.
func (w *Words) UnmarshalJSON(data []byte) error {
	var words []string
	if err := json.Unmarshal(data, &words); err != nil {
		return fmt.Errorf("caption vocabulary: %w", err)
	}
	read, err := NewWords(words, nil)
	if err == nil {
		*w = *read
	}
	return err
}
