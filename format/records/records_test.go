package records_test

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	_ "nmn/format/parquet"
	"nmn/format/records"
)

type pair struct {
	Name  string `json:"name" parquet:"name"`
	Value int64  `json:"value" parquet:"value"`
}

// pairs yields n rows. If last is set, it is the error of the last one.
func pairs(n int, last error) iter.Seq2[pair, error] {
	return func(yield func(pair, error) bool) {
		for i := range n {
			if !yield(pair{"<" + strconv.Itoa(i) + ">", int64(i)}, nil) {
				return
			}
		}
		if last != nil {
			yield(pair{}, last)
		}
	}
}

func writer(n int, last error) records.Writer {
	return records.Writer{
		CSV: func(out io.Writer) error {
			return records.CSV(out, []string{"name", "value"}, func(yield func([]string, error) bool) {
				for p, err := range pairs(n, last) {
					if !yield([]string{p.Name, strconv.FormatInt(p.Value, 10)}, err) {
						return
					}
				}
			})
		},
		Lines:   func(out io.Writer) error { return records.Lines(out, pairs(n, last)) },
		Parquet: func(out io.Writer) error { return records.Parquet(out, pairs(n, last)) },
	}
}

func TestWriteFile_EachFormat(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.csv", "a.JSONL", "a.parquet"} {
		if err := writer(2, nil).WriteFile(filepath.Join(dir, name), "pairs"); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"a.csv":   "name,value\n<0>,0\n<1>,1\n",
		"a.JSONL": "{\"name\":\"<0>\",\"value\":0}\n{\"name\":\"<1>\",\"value\":1}\n",
	} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v, want %q", name, got, err, want)
		}
	}
	rows, err := parquet.ReadFile[pair](filepath.Join(dir, "a.parquet"))
	if err != nil || len(rows) != 2 || rows[1] != (pair{"<1>", 1}) {
		t.Errorf("a.parquet is %v, %v", rows, err)
	}
}

// Batches of rows are complete, whether or not their number is a multiple of the batch size.
func TestParquet_AllRows(t *testing.T) {
	for _, n := range []int{0, 1, 1023, 1024, 1025, 3000} {
		var b bytes.Buffer
		if err := records.Parquet(&b, pairs(n, nil)); err != nil {
			t.Fatal(err)
		}
		rows, err := parquet.Read[pair](bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil || len(rows) != n || n > 0 && rows[n-1].Value != int64(n-1) {
			t.Errorf("%d rows became %d, %v", n, len(rows), err)
		}
	}
}

// An error among the rows leaves no new file, and the old one stays.
func TestWriteFile_AnErrorLeavesNothing(t *testing.T) {
	broken := errors.New("broken")
	for _, ending := range records.Formats() {
		path := filepath.Join(t.TempDir(), "a"+ending)
		if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := writer(1, broken).WriteFile(path, "pairs"); !errors.Is(err, broken) {
			t.Errorf("%s: %v", ending, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != "old" {
			t.Errorf("%s is %q, %v", ending, got, err)
		}
	}
}

func TestWriteFile_UnknownEnding(t *testing.T) {
	err := writer(1, nil).WriteFile("a.xlsx", "pairs")
	if err == nil || !strings.Contains(err.Error(),
		`cannot write pairs to "a.xlsx": its name ends in none of .csv, .jsonl, .parquet`) {
		t.Error(err)
	}
}

func TestCheckText(t *testing.T) {
	if err := records.CheckText("row", 3, "a", "é"); err != nil {
		t.Error(err)
	}
	if err := records.CheckText("row", 3, "a", "\xff"); err == nil || !strings.Contains(err.Error(),
		`row 3: the name "\xff"`) {
		t.Error(err)
	}
}
