package table

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/format/npy"
	"nmn/internal/expect"
)

func integers(values ...byte) string {
	b := npy.Int64Header(len(values))
	for _, v := range values {
		b = append(b, v, 0, 0, 0, 0, 0, 0, 0)
	}
	return string(b)
}

func TestReadClasses_EveryForm(t *testing.T) {
	words := []string{"cat", "dog", "cow"}
	for _, c := range []struct {
		name, text, column string
		ids                []string
		named              bool
	}{
		{"z.npy", integers(2, 0, 1), "", nil, false},
		{"z.csv", "label\n2\n0\n1\n", "label", nil, false},
		{"z.csv", "\xef\xbb\xbfid,animal\na,cow\nb,cat\nc, dog\n", "animal", []string{"a", "b", "c"}, true},
	} {
		got, err := ReadClasses(writeFile(t, c.name, c.text), words, 3, false)
		if err != nil || !slices.Equal(got.Values, []int32{2, 0, 1}) || got.Column != c.column || got.Named != c.named ||
			!slices.Equal(got.IDs, c.ids) {
			t.Errorf("%q: %v, %+v", c.text, err, got)
		}
	}
}

func TestReadClasses_Refuses(t *testing.T) {
	words := []string{"cat", "dog"}
	for _, c := range []struct {
		name, text, says string
		want             error
	}{
		{"z.npy", integers(0, 2), "row 2, column 1: label 2, want a class of the scores or its number, 0 to 1", ErrValue},
		{"z.npy", integers(0, 1)[:140], "cut short", ErrShape},
		{"z.npy", "no array", "z.npy", ErrFormat},
		{"z.csv", "", "z.csv", ErrFormat},
		{"z.csv", "label\n", "no rows", ErrFormat},
		{"z.csv", "1\n0\n", "want a header", ErrFormat},
		{"z.csv", "id,a,b\nx,0,1\n", "3 columns", ErrFormat},
		{"z.csv", "label\n0\n-1\n", ":3: column 1 (label): label -1", ErrValue},
		{"z.csv", "label\ncat\n1\n", ":3: column 1 (label): label \"1\": some labels are classes", ErrValue},
		{"z.csv", "label\n1\ncat\n", ":3: column 1 (label): label \"cat\": some labels are classes", ErrValue},
		{"z.csv", "label\nfox\n", ":2: column 1 (label): label \"fox\"", ErrValue},
		{"z.csv", "id,label\na\n", ":2: 1 fields", ErrShape},
		{"z.parquet", "", ".parquet", ErrFormat},
	} {
		_, err := ReadClasses(writeFile(t, c.name, c.text), words, 2, false)
		wantError(t, c.text, err, c.want, c.says)
	}
}

func TestReadClasses_WithGaps(t *testing.T) {
	words := []string{"cat", "dog"}
	for _, c := range []struct{ name, text string }{
		{"z.npy", string(npyBytes("<i8", "(4,)", false, []int64{1, -1, 0, -1}))},
		{"z.npy", string(npyBytes("<f4", "(4,)", false, []float32{1, float32(math.NaN()), 0, -1}))},
		{"z.csv", "id,label\na,1\nb,\nc,0\nd,-1\n"},
		{"z.csv", "id,label\na,dog\nb, \nc,cat\nd,NaN\n"},
	} {
		path := writeFile(t, c.name, c.text)
		got, err := ReadClasses(path, words, 2, true)
		if err != nil || !slices.Equal(got.Values, []int32{1, UnknownClass, 0, UnknownClass}) {
			t.Errorf("%q: %v, %+v", c.text, err, got)
		}
		if _, err := ReadClasses(path, words, 2, false); !errors.Is(err, ErrValue) {
			t.Errorf("%q although labels must be known: %v", c.text, err)
		}
	}
	_, err := ReadClasses(writeFile(t, "z.csv", "label\ncat\n\"\"\n1\n"), words, 2, true)
	wantError(t, "words and a number, with a gap between them", err, ErrValue, "some labels are classes")
}

// Labels are brought into the order of the scores by their names.
func TestClasses_ForScores(t *testing.T) {
	c := &Classes{Name: "z", IDs: []string{"b", "a"}, Values: []int32{1, 0}}
	got, err := c.For(&Matrix{Name: "p", IDs: []string{"a", "b"}, Rows: 2})
	if err != nil || !slices.Equal(got, []int32{0, 1}) {
		t.Errorf("%v, %v", err, got)
	}
	if got, err := c.For(&Matrix{Name: "p", Rows: 2}); err != nil || !slices.Equal(got, []int32{1, 0}) {
		t.Errorf("scores without names: %v, %v", err, got)
	}
	if _, err := c.For(&Matrix{Name: "p", IDs: []string{"a", "x"}, Rows: 2}); !errors.Is(err, ErrNames) {
		t.Errorf("another name: %v", err)
	}
	if _, err := c.For(&Matrix{Name: "p", Rows: 3}); !errors.Is(err, ErrShape) {
		t.Errorf("another number: %v", err)
	}
}

func FuzzReadClasses(f *testing.F) {
	for _, text := range []string{"label\n0\n1\n", "id,label\na,cat\n", integers(0, 1), "id,label\n\"a\n",
		"\xef\xbb\xbflabel\r\n1\r\n"} {
		f.Add([]byte(text), true, false)
		f.Add([]byte(text), false, true)
	}
	f.Fuzz(func(t *testing.T, data []byte, array, gaps bool) {
		name := filepath.Join(t.TempDir(), "z.csv")
		if array {
			name = strings.TrimSuffix(name, "csv") + "npy"
		}
		expect.OK(t, os.WriteFile(name, data, 0o666))
		Columns(name)
		c, err := ReadClasses(name, []string{"cat", "dog"}, 2, gaps)
		if err != nil {
			return
		}
		for _, v := range c.Values {
			if v > 1 || v < 0 && !(gaps && v == UnknownClass) {
				t.Fatalf("class %d", v)
			}
		}
		if c.IDs != nil && len(c.IDs) != len(c.Values) {
			t.Fatalf("%d names of %d rows", len(c.IDs), len(c.Values))
		}
	})
}
