package rows

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/expect"
)

// An array has its rows in the order of the scores. Values that other formats leave out are NaN, -1 or 0.
func TestTable_WritesAnArray(t *testing.T) {
	table := example(t)
	const width, fields = 32, 6
	path := filepath.Join(t.TempDir(), "rows.npy")
	expect.OK(t, table.WriteFile(path))
	data, err := os.ReadFile(path)
	expect.OK(t, err)
	end := bytes.IndexByte(data, '\n') + 1
	if header := string(data[:end]); strings.Count(header, "', '") != fields || !strings.Contains(header, "(6,)") {
		t.Errorf("header %q", header)
	}
	if data = data[end:]; len(data) != 6*width {
		t.Fatalf("%d bytes of 6 rows", len(data))
	}
	float := func(row, at int) float64 {
		return math.Float64frombits(binary.LittleEndian.Uint64(data[row*width+at:]))
	}
	number := func(row, at int) int32 { return int32(binary.LittleEndian.Uint32(data[row*width+at:])) }
	for i, s := range table.Scores {
		quality, wrong := float(i, 0), float(i, 8)
		if s.Worst < 0 {
			if !math.IsNaN(quality) || !math.IsNaN(wrong) {
				t.Errorf("row %d, which is not audited, has quality %v, %v", i, quality, wrong)
			}
		} else if quality != s.Quality || wrong != s.Wrong {
			t.Errorf("row %d has quality %v, %v of %+v", i, quality, wrong, s)
		}
		if number(i, 16) != s.Worst || number(i, 20) != s.Suggested || number(i, 24) != s.Suspects {
			t.Errorf("row %d is another than %+v", i, s)
		}
		if r := table.Row(int(number(i, 28)) - 1); r.ID != table.IDs[i] {
			t.Errorf("row %d has the rank of row %s", i, r.ID)
		}
	}
}
