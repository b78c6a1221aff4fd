package audit

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	_ "nmn/format/parquet"
	"nmn/labels"
)

// ranking is a list of more rows than are written at once, with names that need quotes.
func ranking(t *testing.T) (Input, []Suspect, []Finding) {
	t.Helper()
	in := noisy(900, 3)
	in.Words = []string{"cat", `dog, "big"`, "Füchse"}
	r, err := Run(in, 0)
	must(t, err)
	want := make([]Finding, len(r.Suspects))
	for at, s := range r.Suspects {
		want[at] = in.Finding(at, s)
	}
	if len(want) != 2700 || want[0].Rank != 1 || want[2699].Rank != 2700 || want[0].Wrong < want[2699].Wrong {
		t.Fatalf("%d findings, from %+v to %+v", len(want), want[0], want[len(want)-1])
	}
	return in, r.Suspects, want
}

// Every format holds the same rows in the same order; numbers lose nothing but in CSV.
func TestWriteSuspectsFile_HoldsTheRankedList(t *testing.T) {
	in, suspects, want := ranking(t)
	dir := t.TempDir()
	file := func(ending string) string {
		path := filepath.Join(dir, "suspects"+ending)
		must(t, WriteSuspectsFile(path, in, suspects))
		return path
	}
	got, err := parquet.ReadFile[Finding](file(".PARQUET"))
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("Parquet: %d rows, %v", len(got), err)
	}
	lines, err := os.Open(file(".jsonl"))
	must(t, err)
	defer lines.Close()
	got = nil
	for s := bufio.NewScanner(lines); s.Scan(); {
		var f Finding
		must(t, json.Unmarshal(s.Bytes(), &f))
		got = append(got, f)
	}
	if !slices.Equal(got, want) {
		t.Errorf("JSON lines: %d rows", len(got))
	}
	table, err := os.Open(file(".csv"))
	must(t, err)
	defer table.Close()
	records, err := csv.NewReader(table).ReadAll()
	if err != nil || len(records) != len(want)+1 {
		t.Fatalf("CSV: %d lines, %v", len(records), err)
	}
	for i, f := range want {
		r := records[i+1]
		if r[0] != f.ID || r[1] != f.Word || r[4] != labels.Digits(f.Wrong) || r[8] != strconv.Itoa(i+1) {
			t.Fatalf("CSV: line %d is %q, want %+v", i+2, r, f)
		}
	}
}

// The types of the columns are what other programs rely on.
func TestWriteSuspectsFile_TypesOfParquet(t *testing.T) {
	in, _, _ := ranking(t)
	path := filepath.Join(t.TempDir(), "none.parquet")
	must(t, WriteSuspectsFile(path, in, nil))
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	info, err := f.Stat()
	must(t, err)
	p, err := parquet.OpenFile(f, info.Size())
	must(t, err)
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
	must(t, WriteSuspectsFile(path, in, r.Suspects))
	data, err := os.ReadFile(path)
	must(t, err)
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
