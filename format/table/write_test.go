package table

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestWriter_ReadsBackEqual(t *testing.T) {
	scores := []float32{1. / 3, -1e-30, 0, 1}
	for _, ids := range [][]string{{"a,b", "c"}, nil} {
		var b strings.Builder
		w := NewWriter[float32](&b, []string{"cat", "hot,dog"}, ids != nil)
		for i := range 2 {
			id := ""
			if ids != nil {
				id = ids[i]
			}
			if err := w.Write(id, scores[2*i:2*i+2]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		m, err := readCSV(strings.NewReader(b.String()), "s.csv", cellRule{fault: anyNumber})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(m.Values, scores) || !slices.Equal(m.IDs, ids) ||
			!slices.Equal(m.Words, []string{"cat", "hot,dog"}) {
			t.Errorf("read back %+v", m)
		}
	}
}

func TestWriter_LabelsAreWholeNumbers(t *testing.T) {
	var b strings.Builder
	w := NewWriter[uint8](&b, []string{"cat", "dog", "fog"}, true)
	if err := errors.Join(w.Write("x", []uint8{0, 1, 255}), w.Flush()); err != nil ||
		b.String() != "id,cat,dog,fog\nx,0,1,255\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}

// failing refuses every byte.
type failing struct{}

var errFull = errors.New("full")

func (failing) Write([]byte) (int, error) { return 0, errFull }

func TestWriter_FlushReturnsTheErrorOfWriting(t *testing.T) {
	if err := NewWriter[uint8](failing{}, []string{"cat"}, true).Flush(); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
}
