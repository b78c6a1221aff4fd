package table

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
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
			expect.OK(t, w.Write(id, scores[2*i:2*i+2]))
		}
		expect.OK(t, w.Flush())
		m, err := readCSV(strings.NewReader(b.String()), "s.csv", cellRule{fault: anyNumber})
		expect.OK(t, err)
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

func TestWriteFile_AppearsWholeOrNotAtAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "y.csv")
	failed := errors.New("no more rows")
	row := make([]uint8, 2) // written again for each row
	rows := func(i int) ([]uint8, error) {
		if i == 2 {
			return nil, failed
		}
		row[i], row[1-i] = 1, 0
		return row, nil
	}
	if err := WriteFile(path, []string{"cat", "dog"}, nil, 3, rows); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file of two rows out of three is there: %v", err)
	}
	for _, c := range []struct {
		ids  []string
		want string
	}{{[]string{"x", "y"}, "id,cat,dog\nx,1,0\ny,0,1\n"}, {nil, "cat,dog\n1,0\n0,1\n"}} {
		expect.OK(t, WriteFile(path, []string{"cat", "dog"}, c.ids, 2, rows))
		if got, err := os.ReadFile(path); err != nil || string(got) != c.want {
			t.Errorf("got %q, want %q (%v)", got, c.want, err)
		}
	}
}
