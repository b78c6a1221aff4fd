package rows

import (
	"encoding/binary"
	"io"
	"math"

	"nmn/format/npy"
)

// Fields are the fields of an array of rows: the quality; the probability that the worst label is wrong (both
// NaN if no class is audited); the class of that label and the class suggested, -1 for none; the number of
// suspects; and the rank from 1. Classes and rows are counted from 0, groups of near-duplicates from 1, with
// 0 for none. With features, the fields of the neighbours follow.
func (t *Table) Fields() []npy.Field {
	fields := []npy.Field{{Name: "quality", Type: "<f8"}, {Name: "p_wrong", Type: "<f8"}, {Name: "class", Type: "<i4"},
		{Name: "suggested", Type: "<i4"}, {Name: "suspects", Type: "<i4"}, {Name: "rank", Type: "<i4"}}
	if t.Neighbours == nil {
		return fields
	}
	return append(fields, npy.Field{Name: "outlier_score", Type: "<f8"}, npy.Field{Name: "mean_distance", Type: "<f8"},
		npy.Field{Name: "nearest_distance", Type: "<f8"}, npy.Field{Name: "nearest", Type: "<i4"},
		npy.Field{Name: "duplicates", Type: "<i4"}, npy.Field{Name: "outlier", Type: "|b1"},
		npy.Field{Name: "exact", Type: "|b1"}, npy.Field{Name: "conflict", Type: "|b1"})
}

// writeArray writes the rows in the order of the scores, as a structured array.
func (t *Table) writeArray(out io.Writer) error {
	ranks := make([]int32, t.Len())
	for at, i := range t.order {
		ranks[i] = int32(at) + 1
	}
	return npy.WriteTable(out, t.Fields(), t.Len(), func(data []byte, i int) []byte {
		s := &t.Scores[i]
		quality, wrong := s.Quality, s.Wrong
		if s.Worst < 0 {
			quality, wrong = math.NaN(), math.NaN()
		}
		data = appendFloats(data, quality, wrong)
		data = appendInts(data, s.Worst, s.Suggested, s.Suspects, ranks[i])
		if t.Neighbours == nil {
			return data
		}
		n := &t.Neighbours.Rows[i]
		data = appendFloats(data, n.Score, n.Mean, n.Distance)
		data = appendInts(data, int32(n.Nearest), int32(n.Group)+1)
		return appendBools(data, n.Outlier, n.Exact, n.Group >= 0 && t.conflict[n.Group])
	})
}

func appendFloats(data []byte, values ...float64) []byte {
	for _, v := range values {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
	}
	return data
}

func appendInts(data []byte, values ...int32) []byte {
	for _, v := range values {
		data = binary.LittleEndian.AppendUint32(data, uint32(v))
	}
	return data
}

func appendBools(data []byte, values ...bool) []byte {
	for _, v := range values {
		if v {
			data = append(data, 1)
		} else {
			data = append(data, 0)
		}
	}
	return data
}
