package loader

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync"
)

// Census is what one pass over a set finds out about all its bags.
type Census struct {
	Bags     int
	Frames   int   // frames of all bags
	Longest  int   // frames of the bag that has most
	Positive []int // K: bags whose observed label is 1
	Unknown  []int // K: bags whose label is unknown; nil if all are known
	// Confusion counts the bags of each class by their observed label (first index) and their true one; nil
	// if the truth is unknown.
	Confusion Confusion
	// Digest is a SHA-256 over the words and, bag by bag, identifiers and observed labels, and over the weights, if
	// there are any. It does not depend on whether labels are in memory.
	Digest [sha256.Size]byte
}

// Labels is the number of labels that are 1.
func (c *Census) Labels() int {
	sum := 0
	for _, n := range c.Positive {
		sum += n
	}
	return sum
}

// survey keeps the census of a set whose labels are in a file, so that they are read once for all callers.
type survey struct {
	mutex  sync.Mutex
	census *Census
}

// Census counts the labels of the set. For a set with Rows it is computed once, and the first caller waits
// for the files.
func (s *Set) Census(ctx context.Context) (*Census, error) {
	if s.survey == nil {
		return takeCensus(ctx, s)
	}
	s.survey.mutex.Lock()
	defer s.survey.mutex.Unlock()
	if s.survey.census != nil {
		return s.survey.census, nil
	}
	census, err := takeCensus(ctx, s)
	if err == nil {
		s.survey.census = census
	}
	return census, err
}

func takeCensus(ctx context.Context, s *Set) (*Census, error) {
	c := &Census{Bags: s.Len(), Positive: make([]int, s.Vocabulary.Len())}
	if s.KnowsTruth() {
		c.Confusion = make(Confusion, s.Vocabulary.Len())
	}
	h := sha256.New()
	var piece []byte
	text := func(s string) {
		piece = binary.LittleEndian.AppendUint64(piece, uint64(len(s))) // keeps "ab","c" apart from "a","bc"
		piece = append(piece, s...)
	}
	count := func(bags []int, classes []int32) {
		for _, class := range classes {
			bags[class]++
			piece = binary.LittleEndian.AppendUint32(piece, uint32(class))
		}
	}
	for k := range s.Vocabulary.Len() {
		text(s.Vocabulary.Word(k).Text)
	}
	err := s.EachRow(ctx, func(bag int, row *Row) error {
		frames := s.frames(bag)
		c.Frames, c.Longest = c.Frames+frames, max(c.Longest, frames)
		text(row.ID)
		piece = binary.LittleEndian.AppendUint32(piece, uint32(len(row.Labels)))
		count(c.Positive, row.Labels)
		if len(row.Unknown) > 0 { // labels that are all known have the digest that they had before any could be unknown
			if c.Unknown == nil {
				c.Unknown = make([]int, len(c.Positive))
			}
			piece = append(piece, "unknown"...)
			count(c.Unknown, row.Unknown)
		}
		h.Write(piece)
		piece = piece[:0]
		if c.Confusion != nil {
			c.Confusion.Add(row.Labels, row.Truth, row.Unknown)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.Confusion.Complete(s.Len(), c.Unknown)
	h.Write(piece) // for a set without bags
	if s.Weights != nil {
		_, _ = h.Write([]byte("weights"))
		_ = binary.Write(h, binary.LittleEndian, s.Weights) // a hash cannot fail
	}
	h.Sum(c.Digest[:0])
	return c, nil
}

// Known is the number of bags whose observed label of a class is known.
func (c *Census) Known(class int) int {
	if c.Unknown == nil {
		return c.Bags
	}
	return c.Bags - c.Unknown[class]
}

// Confusion counts, for each class, the bags by their label z (first index) and a reference y (second index).
type Confusion [][2][2]int

// Add counts a bag whose labels z and y are ascending lists of classes. unknown lists the classes whose label
// z is unknown, ascending; they are left out. Classes in no list are not counted before Complete.
func (counts Confusion) Add(z, y, unknown []int32) {
	for _, class := range z {
		if _, holds := slices.BinarySearch(y, class); holds {
			counts[class][1][1]++
		} else {
			counts[class][1][0]++
		}
	}
	for _, class := range y {
		_, given := slices.BinarySearch(z, class)
		_, left := slices.BinarySearch(unknown, class)
		if !given && !left {
			counts[class][0][1]++
		}
	}
}

// Complete fills in, once all bags are added, how many of them have a class in neither list. unknown are, for each
// class, the bags whose label is unknown; nil for none.
func (counts Confusion) Complete(bags int, unknown []int) {
	for class := range counts {
		n := &counts[class]
		n[0][0] = bags - n[0][1] - n[1][0] - n[1][1]
		if unknown != nil {
			n[0][0] -= unknown[class]
		}
	}
}
