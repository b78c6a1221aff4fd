package loader

import (
	"bytes"
	"fmt"
	"slices"

	"nmn/format/table"
	"nmn/internal/parallel"
	"nmn/text"

	dense "gorgonia.org/tensor"
)

// MaxCaptions bounds the captions of a bag: their number must fit a count of 8 bits.
const MaxCaptions = 255

// NewCaptionSet labels bags by their captions: a word of the vocabulary that any caption of a bag
// holds as a token (text.Tokenizer, exact match) is a label, and the number of captions that hold it
// is kept in Counts. captions[i] are the texts of bag i in their order, at most perBag of them. The
// Set has no Truth, and no Source yet.
func NewCaptionSet(name string, ids []string, captions [][]string, perBag int,
	vocabulary *text.Vocabulary) (*Set, error) {
	if vocabulary == nil || vocabulary.Len() == 0 {
		return nil, fmt.Errorf("%s: labels need a vocabulary of at least one word", name)
	}
	if len(ids) == 0 || len(ids) != len(captions) {
		return nil, fmt.Errorf("%s: %d samples with the captions of %d; want the same number, at least 1",
			name, len(ids), len(captions))
	}
	if perBag < 1 || perBag > MaxCaptions {
		return nil, fmt.Errorf("%s: %d captions per sample, allowed are 1 to %d", name, perBag, MaxCaptions)
	}
	for i := range captions {
		if len(captions[i]) > perBag {
			return nil, fmt.Errorf("%s: sample %d (%s) has %d captions, want at most %d",
				name, i, ids[i], len(captions[i]), perBag)
		}
	}
	if _, err := indexIDs(name, ids); err != nil {
		return nil, err
	}
	s := &Set{
		Name:              name,
		Vocabulary:        vocabulary,
		IDs:               ids,
		CaptionsPerSample: perBag,
		Captions:          make([][][]int32, len(ids)),
	}
	parallel.Each(len(ids), func(i int) { s.Captions[i] = mentions(vocabulary, captions[i]) })
	s.CaptionsInUse = s.Captions
	s.Labels, s.Counts = CaptionMatrices(s.Captions, vocabulary.Len())
	return s, nil
}

// mentions returns for each caption the sorted classes of the words in it.
func mentions(vocabulary *text.Vocabulary, captions []string) [][]int32 {
	var tokens []string
	classes := make([][]int32, len(captions))
	for c, caption := range captions {
		tokens = text.Tokenizer{}.Append(tokens[:0], caption)
		classes[c] = slices.Clip(appendClasses(make([]int32, 0, len(tokens)), vocabulary, tokens))
	}
	return classes
}

// CaptionMatrices returns two N×classes matrices of the captions of N bags, each caption a list of the
// classes that it mentions. labels is 1 if any caption of the bag mentions the class, and counts is the
// number of captions that do.
func CaptionMatrices(captions [][][]int32, classes int) (labels, counts *dense.Dense) {
	z, c := make([]uint8, len(captions)*classes), make([]uint8, len(captions)*classes)
	parallel.Each(len(captions), func(i int) {
		row := i * classes
		for _, words := range captions[i] {
			for _, k := range words {
				z[row+int(k)] = 1
				c[row+int(k)]++
			}
		}
	})
	return Matrix(z, classes), Matrix(c, classes)
}

// Matrix makes a matrix of values row by row, with the given number of columns; it shares their memory.
func Matrix(values []uint8, columns int) *dense.Dense {
	return dense.New(dense.WithShape(len(values)/columns, columns), dense.WithBacking(values))
}

// indexIDs returns the position of each id; an empty or repeated one is an error.
func indexIDs(name string, ids []string) (map[string]int, error) {
	index := make(map[string]int, len(ids))
	for i, id := range ids {
		if id == "" {
			return nil, fmt.Errorf("%s: sample %d has an empty id", name, i)
		}
		if first, ok := index[id]; ok {
			return nil, fmt.Errorf("%s: sample %d repeats the id %q of sample %d", name, i, id, first)
		}
		index[id] = i
	}
	return index, nil
}

// UnknownLabel is the value of an unknown label. It is not learned, and counts in no metric and no noise
// rate.
const UnknownLabel = table.Unknown

// HasUnknown reports whether labels in memory include unknown ones.
func (s *Set) HasUnknown() bool {
	return s.Labels != nil && bytes.IndexByte(s.Labels.Uint8s(), UnknownLabel) >= 0
}

// CheckLabels returns an error unless m is a matrix of 0 and 1 with a row for each bag of the set and a
// column for each word; what names it in the error, for example "labels".
func CheckLabels(s *Set, what string, m *dense.Dense) error { return checkMatrix(s, what, m, false) }

func checkMatrix(s *Set, what string, m *dense.Dense, gaps bool) error {
	if s.Vocabulary == nil || s.Vocabulary.Len() == 0 {
		return fmt.Errorf("%s: the set has no vocabulary", s.Name)
	}
	n, k := s.Len(), s.Vocabulary.Len()
	if m == nil {
		return fmt.Errorf("%s: the set has no %s", s.Name, what)
	}
	if m.Dtype() != dense.Uint8 || m.Dims() != 2 || m.Shape()[0] != n || m.Shape()[1] != k {
		return fmt.Errorf("%s: %s are %v %v, want uint8 (%d, %d), samples by words", s.Name, what, m.Dtype(), m.Shape(), n, k)
	}
	for i, v := range m.Uint8s() {
		switch {
		case v <= 1 || v == UnknownLabel && gaps:
		case v == UnknownLabel:
			return fmt.Errorf("%s: %s of sample %d, class %d is unknown, want 0 or 1", s.Name, what, i/k, i%k)
		default:
			return fmt.Errorf("%s: %s of sample %d, class %d is %d, want 0 or 1", s.Name, what, i/k, i%k, v)
		}
	}
	return nil
}
