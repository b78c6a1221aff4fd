package loader

import (
	"context"
	"slices"

	dense "gorgonia.org/tensor"
)

// HeldBytes is the memory that the labels of a set would take once they are held: two or three matrices of
// bags by classes, captions aside.
func (s *Set) HeldBytes() int64 { return 3 * int64(s.Len()) * int64(s.Vocabulary.Len()) }

// Hold reads the labels of a set with Rows into memory. Its epochs equal the epochs of the set with Rows:
// training does not depend on where the labels are. A set with its labels in memory is returned as it is.
func Hold(ctx context.Context, s *Set) (*Set, error) {
	if s.Rows == nil {
		return s, nil
	}
	n, k := s.Len(), s.Vocabulary.Len()
	blank := func() *dense.Dense { return Matrix(make([]uint8, n*k), k) }
	held := *s
	held.Rows, held.survey = nil, nil
	held.IDs, held.Labels = make([]string, n), blank()
	captions, mentioned := make([][][]int32, n), s.CaptionsPerSample > 0
	if s.KnowsTruth() {
		held.Truth = blank()
	}
	if s.CaptionsPerSample > 0 {
		held.Counts = blank()
	}
	err := s.EachRow(ctx, func(bag int, row *Row) error {
		held.IDs[bag] = row.ID
		labels := matrixRow(held.Labels, bag)
		for _, class := range row.Labels {
			labels[class] = 1
		}
		for _, of := range row.Counts {
			matrixRow(held.Counts, bag)[of.Class] = of.Captions
		}
		for _, class := range row.Truth {
			matrixRow(held.Truth, bag)[class] = 1
		}
		mentioned = mentioned && (row.Captions != nil || len(row.Counts) == 0)
		captions[bag] = slices.Clone(row.Captions)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if mentioned {
		held.Captions = captions
	}
	return &held, nil
}
