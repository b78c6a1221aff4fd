package audit

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	_ "nmn/format/parquet"

	"nmn/internal/expect"
)

// The types of the columns are what other programs rely on.
func TestWriteSuspectsFile_TypesOfParquet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.parquet")
	expect.OK(t, WriteSuspectsFile(path, small(), nil))
	f := expect.Value(os.Open(path))(t)
	defer f.Close()
	info := expect.Value(f.Stat())(t)
	p := expect.Value(parquet.OpenFile(f, info.Size()))(t)
	if p.NumRows() != 0 {
		t.Errorf("%d rows of no suspects", p.NumRows())
	}
	var columns []string
	for _, c := range p.Schema().Fields() {
		if !c.Required() {
			t.Errorf("column %s may be null", c.Name())
		}
		columns = append(columns, c.Name()+" "+c.Type().String())
	}
	want := "id STRING, class STRING, kind STRING, given INT(8,false), p_wrong DOUBLE, p DOUBLE, q01 DOUBLE, q10 " +
		"DOUBLE, rank INT(64,true), rates STRING"
	if got := strings.Join(columns, ", "); got != want {
		t.Errorf("columns %s, want %s", got, want)
	}
}

// An array holds what the table does, in its order, with the places of bags and classes in the scores.
func TestWriteSuspectsFile_AsAnArray(t *testing.T) {
	_, in := fixture(t)
	r, err := Run(in, .3)
	if err != nil || len(r.Suspects) < 3 {
		t.Fatal(len(r.Suspects), err)
	}
	in.Pooled = make([]bool, in.Classes)
	in.Pooled[r.Suspects[1].Class] = true
	path := filepath.Join(t.TempDir(), "suspects.npy")
	expect.OK(t, WriteSuspectsFile(path, in, r.Suspects))
	data := expect.Value(os.ReadFile(path))(t)
	data = data[bytes.IndexByte(data, '\n')+1:]
	const width = 26
	if len(data) != width*len(r.Suspects) {
		t.Fatalf("%d bytes of %d suspects", len(data), len(r.Suspects))
	}
	number := func(data []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(data)) }
	for i, s := range r.Suspects {
		row := data[i*width:]
		pooled := byte(0)
		if in.IsPooled(int(s.Class)) {
			pooled = 1
		}
		if binary.LittleEndian.Uint32(row) != uint32(s.Bag) || binary.LittleEndian.Uint32(row[4:]) != uint32(s.Class) ||
			number(row[8:]) != s.Error() || number(row[16:]) != s.P || row[24] != s.Given || row[25] != pooled {
			t.Fatalf("suspect %d is % x, want %+v", i, row[:width], s)
		}
	}
}
