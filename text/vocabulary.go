package text

import (
	"fmt"
	"slices"
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

// Len returns the number of classes K.
func (v *Vocabulary) Len() int { return len(v.words) }

// Word returns class k.
func (v *Vocabulary) Word(k int) Word { return v.words[k] }

// Index returns the class of a word and whether it is in the vocabulary.
func (v *Vocabulary) Index(word string) (int, bool) {
	k, ok := v.index[word]
	return k, ok
}

// HasPOS reports whether the words have parts of speech: labels by name have none, and all belong to the
// group Others.
func (v *Vocabulary) HasPOS() bool {
	return slices.ContainsFunc(v.words, func(w Word) bool { return w.POS != Others })
}
