package table

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"
)

// Labels that are bytes or bools keep their type, in any layout, and are joined like labels of other types.
func TestReadLabels_OfBytes(t *testing.T) {
	for name, file := range map[string][]byte{
		"bytes":   npyBytes("|u1", "(3, 2)", false, []uint8{0, 1, 1, 0, 1, 1}),
		"bools":   npyBytes("|b1", "(3, 2)", false, []uint8{0, 1, 1, 0, 1, 1}),
		"columns": npyBytes("|u1", "(3, 2)", true, []uint8{0, 1, 1, 1, 0, 1}),
		"numbers": npyBytes("<i8", "(3, 2)", false, []int64{0, 1, 1, 0, 1, 1}),
		"signed":  npyBytes("|i1", "(3, 2)", false, []int8{0, 1, 1, 0, 1, 1}),
	} {
		m, err := ReadLabels(writeFile(t, "z.npy", string(file)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		scores := matrix("s", []string{"b", "a"}, nil, 2, .1, .2, .3, .4, .5, .6)
		joined, err := Join(scores, m, nil)
		if want := []uint8{0, 1, 1, 0, 1, 1}; err != nil || !slices.Equal(joined.Counts, want) {
			t.Errorf("%s: joined as %v, %v", name, joined, err)
		}
		m.Words = []string{"a", "b"} // as if it had a header
		joined, err = Join(scores, m, nil)
		if want := []uint8{1, 0, 0, 1, 1, 1}; err != nil || !slices.Equal(joined.Counts, want) {
			t.Errorf("%s, columns in another order: joined as %v, %v", name, joined, err)
		}
	}
}

func TestReadLabels_OfBytesThatAreNone(t *testing.T) {
	many := make([]uint8, 3*readTogether)
	many[2*readTogether+7] = 2
	_, err := ReadLabels(writeFile(t, "z.npy", string(npyBytes("|u1", "(65536, 3)", false, many))))
	wantError(t, "in rows", err, ErrValue, "z.npy: row 43694, column 1: label 2, want 0 or 1")
	_, err = ReadLabels(writeFile(t, "z.npy", string(npyBytes("|u1", "(3, 65536)", true, many))))
	wantError(t, "in columns", err, ErrValue, "row 1, column 43694")
	short := npyBytes("|u1", "(65536, 3)", false, many[:2*readTogether])
	rule := cellRule{limit: 1, fault: func(float64) error { return ErrValue }}
	_, err = readNPY(bytes.NewReader(short), "z.npy", -1, rule)
	wantError(t, "short", err, ErrShape, "file ends at row 43691, column 3 of 65536×3")
}

func TestReadKnownLabels_EveryForm(t *testing.T) {
	nan := float32(math.NaN())
	for name, text := range map[string]string{
		"bytes.npy":   string(npyBytes("|i1", "(2, 3)", false, []int8{1, -1, 0, 0, 1, -1})),
		"columns.npy": string(npyBytes("|i1", "(2, 3)", true, []int8{1, 0, -1, 1, 0, -1})),
		"floats.npy":  string(npyBytes("<f4", "(2, 3)", false, []float32{1, nan, 0, 0, 1, -1})),
		"words.csv":   "id,a,b,c\nx,1,,0\ny,0,1,NaN\n",
	} {
		path := writeFile(t, name, text)
		m, err := ReadKnownLabels(path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		joined, err := Join(matrix("s", nil, nil, 3, .1, .2, .3, .4, .5, .6), m, nil)
		if want := []uint8{1, Unknown, 0, 0, 1, Unknown}; err != nil || !slices.Equal(joined.Counts, want) {
			t.Errorf("%s: %v, %v", name, joined, err)
		}
		if _, err := ReadLabels(path); err == nil {
			t.Errorf("%s: unknown labels are accepted although they must be known", name)
		}
	}
	for name, text := range map[string]string{
		"label 255, want":  string(npyBytes("|u1", "(1, 2)", false, []uint8{1, 255})),
		"label -2, want 0": string(npyBytes("|i1", "(1, 2)", false, []int8{1, -2})),
		"label 0.5, want":  string(npyBytes("<f4", "(1, 2)", false, []float32{1, .5})),
	} {
		_, err := ReadKnownLabels(writeFile(t, "z.npy", text))
		wantError(t, name, err, ErrValue, name)
	}
}

// A wrong score is found anywhere in the values that are read together.
func TestReadScores_FindsTheFirstThatIsWrong(t *testing.T) {
	nan := float32(0)
	nan /= nan
	for _, at := range []int{0, readTogether - 1, readTogether, 2*readTogether + 5} {
		values := make([]float32, 3*readTogether)
		values[at] = nan
		_, err := ReadScores(writeFile(t, "s.npy", string(npyBytes("<f4", "(196608, 1)", false, values))), false)
		wantError(t, fmt.Sprint("at ", at), err, ErrValue, "NaN")
	}
}
