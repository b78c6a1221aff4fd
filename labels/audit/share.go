package audit

import (
	"encoding/binary"
	"errors"
	"math"

	"nmn/group"
	"nmn/labels/rows"
)

// sumsOfClass is how many numbers of a class are sums over bags.
const sumsOfClass = 5

// classSums are those of all classes.
func classSums(classes []Class) []float64 {
	out := make([]float64, 0, len(classes)*sumsOfClass)
	for i := range classes {
		c := &classes[i]
		out = append(out, float64(c.Positives), c.ExpectedIncorrect, c.ExpectedMissing, float64(c.Incorrect),
			float64(c.Missing))
	}
	return out
}

func (c *Class) setSums(of []float64) {
	c.Positives, c.ExpectedIncorrect, c.ExpectedMissing, c.Incorrect, c.Missing = int(of[0]), of[1], of[2], int(of[3]),
		int(of[4])
}

// Bytes of what ranks tell each other: a suspect, a row, and how many of either make a piece.
const (
	suspectBytes = 25
	rowBytes     = 28
	pieceOf      = 1 << 15
)

// gather gives every rank the suspects and rows of all; its own rows are those from one up to another.
func (r *Result) gather(ranks group.Group, from, to int) error {
	if ranks.Size() == 1 {
		return nil
	}
	own := r.Suspects
	r.Suspects = nil
	err := group.Stream(ranks, func() ([]byte, error) {
		n := min(pieceOf, len(own))
		data := make([]byte, 0, n*suspectBytes)
		for i := range own[:n] {
			data = own[i].append(data)
		}
		own = own[n:]
		return data, nil
	}, func(_ int, data []byte) error {
		for ; len(data) >= suspectBytes; data = data[suspectBytes:] {
			r.Suspects = append(r.Suspects, suspectOf(data))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return group.Stream(ranks, func() ([]byte, error) {
		n := min(pieceOf, to-from)
		if n <= 0 {
			return nil, nil
		}
		data := binary.LittleEndian.AppendUint64(nil, uint64(from))
		for i := range n {
			data = appendRow(data, &r.Rows[from+i])
		}
		from += n
		return data, nil
	}, func(_ int, data []byte) error {
		at := int(binary.LittleEndian.Uint64(data))
		for data = data[8:]; len(data) >= rowBytes; data = data[rowBytes:] {
			if at < 0 || at >= len(r.Rows) {
				return errors.New("audit: a rank has more bags than there are")
			}
			r.Rows[at] = rowOf(data)
			at++
		}
		return nil
	})
}

func (s *Suspect) append(data []byte) []byte {
	data = binary.LittleEndian.AppendUint32(data, uint32(s.Bag))
	data = binary.LittleEndian.AppendUint32(data, uint32(s.Class))
	return group.AppendFloat64s(append(data, s.Given), s.Margin, s.P)
}

func suspectOf(data []byte) Suspect {
	return Suspect{Bag: int32(binary.LittleEndian.Uint32(data)), Class: int32(binary.LittleEndian.Uint32(data[4:])),
		Given: data[8], Margin: float64At(data[9:]), P: float64At(data[17:])}
}

func float64At(data []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(data)) }

func appendRow(data []byte, s *rows.Score) []byte {
	for _, v := range []int32{s.Worst, s.Suggested, s.Suspects} {
		data = binary.LittleEndian.AppendUint32(data, uint32(v))
	}
	return group.AppendFloat64s(data, s.Quality, s.Wrong)
}

func rowOf(data []byte) rows.Score {
	number := func(at int) int32 { return int32(binary.LittleEndian.Uint32(data[at:])) }
	return rows.Score{Worst: number(0), Suggested: number(4), Suspects: number(8), Quality: float64At(data[12:]),
		Wrong: float64At(data[20:])}
}
